/* list.h - lists that grow by one. */
#ifndef QN_UTIL_LIST_H
#define QN_UTIL_LIST_H

#include <stddef.h>

/* `list` with room for one more after its first `n` of `size` bytes each, moved where it had to
 * be; *room says for how many there is room. NULL without memory: `list` is then as it was. Room
 * doubles, so that adding one by one stays linear. */
void *qn_grown(void *list, size_t n, size_t *room, size_t size);

#endif
