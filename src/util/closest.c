/* closest.c - suggestions for misspelt words. */
#include "util/closest.h"

#include <string.h>

enum { MAX_WORD = 40 };

/* Number of letters to add, drop, change or swap with a neighbour to turn one word into the
 * other. */
static int distance(const char *a, const char *b)
{
    int d[MAX_WORD + 1][MAX_WORD + 1];
    const int n = (int)strlen(a), m = (int)strlen(b);

    if (n > MAX_WORD || m > MAX_WORD)
        return MAX_WORD;
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = d[i - 2][j - 2] + 1 < best ? d[i - 2][j - 2] + 1 : best;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

const char *qn_closest(const char *word, const char *const *names)
{
    const char *best = NULL;
    const size_t len = strlen(word);
    int best_distance = len < 4 ? 2 : len < 9 ? 3 : 4; /* below this it is a misspelling */

    for (int i = 0; names[i]; i++) {
        /* "--mem" is close to "--mem-budget", whatever the distance. */
        const int starts = len >= 3 && strncmp(names[i], word, len) == 0;
        const int dist = starts ? 1 : distance(word, names[i]);

        if (dist < best_distance) {
            best_distance = dist;
            best = names[i];
        }
    }
    return best;
}
