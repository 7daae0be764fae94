/* closest.h - what a misspelt word was probably meant to be. */
#ifndef QN_UTIL_CLOSEST_H
#define QN_UTIL_CLOSEST_H

/* The name in `names` (ended by NULL) that `word` was probably meant to be, or NULL. */
const char *qn_closest(const char *word, const char *const *names);

#endif
