//  SPDX-License-Identifier: Apache-2.0
#include "common/near.h"

#include <string.h>

enum { LONGEST = 40 };

static size_t
least (size_t a, size_t b)
{
    return a < b ? a : b;
}

//  Optimal string alignment: three rows of the table are enough to see a swap.
static size_t
distance (struct ag_str a, struct ag_str b)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b.n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t cost = a.p[i - 1] != b.p[j - 1];
            now[j] = least (least (last[j] + 1, now[j - 1] + 1), last[j - 1] + cost);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
                now[j] = least (now[j], before[j - 2] + 1);
        }
    }
    return rows[a.n % 3][b.n];
}

const char *
ag_near (struct ag_str word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t bound = (word.n + 2) / 3 + 1; //  a name must be nearer than this
    if (word.n == 0 || word.n > LONGEST)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!names[i] || strlen (names[i]) > LONGEST)
            continue;
        size_t d = distance (word, ag_str (names[i]));
        if (d < bound) {
            bound = d;
            best = names[i];
        }
    }
    return best;
}
