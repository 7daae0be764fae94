/* closest.h - suggestions for misspelt words. */
#ifndef QN_UTIL_CLOSEST_H
#define QN_UTIL_CLOSEST_H

/* The name in `names` (which ends with NULL) that `word` was probably meant to be, or NULL. */
const char *qn_closest(const char *word, const char *const *names);

#endif
