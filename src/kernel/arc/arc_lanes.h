/* arc_lanes.h - how the lanes of a team share the work of a primitive.
 *
 * All control flow is uniform: every lane runs the same statements on the same slots. Work over
 * elements is written as blocks, in which each lane takes some elements; lanes meet before and
 * after:
 *
 *     EACH(k, n) out[k] = in[n - 1 - k];
 *     SUM_OVER(total, k, n, row[k] != 0);
 *     FIRST_OVER(at, k, n, key[k] == wanted);              n when there is none
 *     PACK(count, at, k, n, key[k] != wanted, out[at] = key[k]);   keeps the order
 *
 * Rules: no block inside a block. Within a block, no lane reads what another writes. Uniform code
 * may store (every lane stores the same), but must not read an address and then store to it without
 * a block or MEET between: a slow lane would read what a quick one has stored. Serial code that
 * changes memory step by step is a ONE_LANE block.
 *
 * A lane can also be alone, processing elements of a loop by itself (arc_solo.h): helpers then get
 * no team, blocks are plain loops of that lane, and lanes do not meet.
 *
 * With LANES 1, as on every CPU, blocks are plain loops. WIDTH then makes them imitate a team of
 * that width, lane after lane, and with LANES_BACKWARDS from the last lane to the first: results
 * must not change, which is how tests find a block that breaks the rules.
 */
#ifndef ARC_LANES_H
#define ARC_LANES_H

#ifndef WIDTH
#define WIDTH 1
#endif

/* A single lane, in C: some code has a shorter path for it. */
#if defined(QN_CPU) && LANES == 1 && WIDTH == 1
#define ARC_ON_CPU
#endif

/* Where a run can see the host's clock: see arc_time.h. */
#if defined(QN_CPU) && LANES == 1
#define ARC_CLOCK
#endif

/* Where a program's calls can be calls of C: see arc_recurse.h. */
#if defined(ARC_ON_CPU) && !defined(ARC_WIDE)
#define ARC_RECURSES
#endif

/* Loops here run a few times over a few elements, and there are hundreds of them: unrolling
 * makes the machine's code half as large again, needs twice the registers, and takes compilers
 * minutes. */
#ifndef QN_CPU
#define for _Pragma("unroll 1") for
#endif

/* Short helpers that are used everywhere: a call costs a CPU more than it saves, and a device
 * fetches code more slowly than it runs it. */
#ifdef QN_CPU
#define FN_SHORT FN
#else
#define FN_SHORT FN_NOINLINE
#endif

#if LANES > 1

#define IS_TEAM        (qn_team != 0)
#define MEET           (IS_TEAM ? (SYNC) : (void)0)
#define MY_LANE        (IS_TEAM ? LANE : 0)
#define N_LANES        (IS_TEAM ? LANES : 1)
#define QN_TOGETHER    for (i32 qn_once = (MEET, 1); qn_once; MEET, qn_once = 0)
#define EACH(k, n)     QN_TOGETHER QN_SHARE(k, n)
#define ONE_LANE       QN_TOGETHER if (MY_LANE == 0)
#define QN_SHARE(k, n) for (i32 k = MY_LANE, qn_lanes = N_LANES; k < (n); k += qn_lanes)

#define JOIN_ADD(v)   (IS_TEAM ? TEAM_ADD(v) : (i32)(v))
#define JOIN_MIN(v)   (IS_TEAM ? TEAM_MIN(v) : (i32)(v))
#define JOIN_MAX(v)   (IS_TEAM ? TEAM_MAX(v) : (i32)(v))
#define JOIN_ANY(v)   (IS_TEAM ? TEAM_ANY(v) : (i32)((v) != 0))
#define JOIN_SCAN(v)  (IS_TEAM ? TEAM_SCAN(v) : 0)
#define JOIN_ADD64(v) (IS_TEAM ? TEAM_ADD64(v) : (i64)(v))

#define FIRST_OVER(r, k, n, cond)                                                                  \
    {                                                                                              \
        const i32 qn_n = (n);                                                                      \
        r = qn_n;                                                                                  \
        for (i32 qn_b = 0; qn_b < qn_n && r == qn_n; qn_b += N_LANES) {                            \
            const i32 k = qn_b + MY_LANE;                                                          \
            const i32 qn_hit = k < qn_n && (cond) ? k : qn_n;                                      \
            r = JOIN_MIN(qn_hit);                                                                  \
        }                                                                                          \
    }
#define PACK(count, at, k, n, cond, store)                                                         \
    {                                                                                              \
        const i32 qn_n = (n);                                                                      \
        count = 0;                                                                                 \
        MEET;                                                                                      \
        for (i32 qn_b = 0; qn_b < qn_n; qn_b += N_LANES) {                                         \
            const i32 k = qn_b + MY_LANE;                                                          \
            const i32 qn_hit = k < qn_n && (cond);                                                 \
            const i32 at = count + JOIN_SCAN(qn_hit);                                              \
            if (qn_hit) {                                                                          \
                store;                                                                             \
            }                                                                                      \
            count += JOIN_ADD(qn_hit);                                                             \
        }                                                                                          \
        MEET;                                                                                      \
    }

#else

#define MEET
#define JOIN_ADD(v)   ((i32)(v))
#define JOIN_MIN(v)   ((i32)(v))
#define JOIN_MAX(v)   ((i32)(v))
#define JOIN_ANY(v)   ((i32)((v) != 0))
#define JOIN_SCAN(v)  0
#define JOIN_ADD64(v) ((i64)(v))
#if WIDTH == 1
#define EACH(k, n) for (i32 k = 0; k < (n); k++)
#elif defined(LANES_BACKWARDS)
#define EACH(k, n)                                                                                 \
    for (i32 qn_lane = WIDTH - 1; qn_lane >= 0; qn_lane--)                                         \
        for (i32 k = qn_lane; k < (n); k += WIDTH)
#else
#define EACH(k, n)                                                                                 \
    for (i32 qn_lane = 0; qn_lane < WIDTH; qn_lane++)                                              \
        for (i32 k = qn_lane; k < (n); k += WIDTH)
#endif
#define ONE_LANE
#define QN_SHARE(k, n) EACH(k, n)

#define FIRST_OVER(r, k, n, cond)                                                                  \
    {                                                                                              \
        const i32 qn_n = (n);                                                                      \
        r = qn_n;                                                                                  \
        for (i32 k = 0; k < qn_n; k++)                                                             \
            if (cond) {                                                                            \
                r = k;                                                                             \
                break;                                                                             \
            }                                                                                      \
    }
#define PACK(count, at, k, n, cond, store)                                                         \
    {                                                                                              \
        const i32 qn_n = (n);                                                                      \
        count = 0;                                                                                 \
        for (i32 k = 0; k < qn_n; k++)                                                             \
            if (cond) {                                                                            \
                const i32 at = count++;                                                            \
                store;                                                                             \
            }                                                                                      \
    }
#endif

#define SUM_OVER(r, k, n, e)                                                                       \
    {                                                                                              \
        i32 qn_s = 0;                                                                              \
        QN_SHARE(k, n) qn_s += (e);                                                                \
        r = JOIN_ADD(qn_s);                                                                        \
    }
/* `none` is the result without elements, and must not win against any element. */
#define MIN_OVER(r, k, n, none, e)                                                                 \
    {                                                                                              \
        i32 qn_s = (none);                                                                         \
        QN_SHARE(k, n)                                                                             \
        {                                                                                          \
            const i32 qn_e = (e);                                                                  \
            qn_s = MIN(qn_s, qn_e);                                                                \
        }                                                                                          \
        r = JOIN_MIN(qn_s);                                                                        \
    }
#define MAX_OVER(r, k, n, none, e)                                                                 \
    {                                                                                              \
        i32 qn_s = (none);                                                                         \
        QN_SHARE(k, n)                                                                             \
        {                                                                                          \
            const i32 qn_e = (e);                                                                  \
            qn_s = MAX(qn_s, qn_e);                                                                \
        }                                                                                          \
        r = JOIN_MAX(qn_s);                                                                        \
    }
#define ALL_OVER(r, k, n, cond)                                                                    \
    {                                                                                              \
        i32 qn_at;                                                                                 \
        FIRST_OVER(qn_at, k, n, !(cond))                                                           \
        r = qn_at == (n);                                                                          \
    }
#define ANY_OVER(r, k, n, cond)                                                                    \
    {                                                                                              \
        i32 qn_at;                                                                                 \
        FIRST_OVER(qn_at, k, n, cond)                                                              \
        r = qn_at < (n);                                                                           \
    }

#endif
