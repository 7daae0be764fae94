/* dialect.h - the words that make kernel text portable.
 *
 * The same kernel text is C (compiled into the library, or by the system compiler at run time),
 * OpenCL C 1.2 and CUDA C++. This prelude precedes it in all three. On devices it has no includes,
 * and it has no variadic macros, since NVIDIA's OpenCL refuses them. For the same reason the heads
 * MAP(...), GROUP(...), TEAM(...) are not macros: expand.c expands them as text and prints the
 * words below that begin with QN_.
 *
 * A kernel is a head and a body:
 *
 *     MAP(name, args)    GROUP(name, args)    TEAM(name, args)    MAP(name, UNROLL(4), args)
 *
 * in the first column, with arguments VAL(T, n), IN(T, n), OUT(T, n), INOUT(T, n). UNROLL gives
 * each work item of a device several points, which helps if a body is a few loads and a store. A
 * file may say `#define LANES 64` for its GROUPs, and `PRECISIONS` on a line of its own to be built
 * with real as float and as double (kernels name_f32 and name_f64). GROUPS_AT_ONCE, if defined, is
 * the number of groups per unit that CUDA's compiler reserves registers for.
 *
 * Words of a kernel file:
 *   all     i8 u8 i16 u16 i32 u32 i64 u64 float double real R(c) FN FN_NOINLINE GLOBAL RESTRICT
 *           CONST_TABLE ATOMIC_ADD/MIN/MAX/OR MIN MAX IABS clamp_i32 ROTR32 POPCOUNT32 CLZ32
 *           f32_bits bits_f32 f64_bits bits_f64, and the plain names of <math.h>
 *   MAP     gx gy gz GI
 *   GROUP   LANES LANE EACH_LANE EACH_LANE_BELOW(n) ANY_LANE(any) PRIV(T, v) P(v)
 *           LOCAL(T, v, n) SYNC GROUP_X GROUP_Y GROUP_Z
 *   TEAM    LANES LANE SYNC TEAM_X TEAM_Y TEAM_Z TEAM_ADD/MIN/MAX/ANY/ALL/FIRST/SCAN (i32), the
 *           same with 64 at the end (i64), TEAM_PARAM and TEAM_PASS for helper functions,
 *           TEAM_UNIT: the unit of the device that runs this team, if known;
 *           teams of one group: TEAM_IN_GROUP, GROUP_MEET, GROUP_FIRST (u32)
 *
 * A helper's name must not be one of OpenCL's built-in functions (clamp, mix, step, dot, min).
 */
#ifndef QN_DIALECT_H
#define QN_DIALECT_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define QN_OPENCL 1
#elif defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define QN_CUDA 1
#else
#define QN_CPU 1
#endif

/* Types. */

#ifdef QN_OPENCL
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
typedef char i8;
typedef uchar u8;
typedef short i16;
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;
#define QN_PAR_SIZE(T, bytes) typedef char qn_size_of_##T[sizeof(T) == (bytes) ? 1 : -1]
#endif

#ifdef QN_CUDA
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
#define QN_PAR_SIZE(T, bytes) static_assert(sizeof(T) == (bytes), #T " is not " #bytes " bytes")
#endif

#ifdef QN_CPU
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
#ifndef QUERN_KERNEL_H
typedef struct qn_span {
    int32_t x0, x1, y0, y1, z0, z1;
} qn_span;
#endif
#define QN_PAR_SIZE(T, bytes) _Static_assert(sizeof(T) == (bytes), #T " is not " #bytes " bytes")
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that cannot be SIMD is not an error */
#endif
#endif

/* Kernels built in two precisions write real and R(0.5); REAL is defined by their module. */
#ifndef REAL
#define REAL float
#endif
typedef REAL real;
#define R(c) ((REAL)(c))

/* Largest number of items in a MAP's group; exactly this many along x if the head has UNROLL. Also
 * the largest number of items of all teams in one group. */
#define QN_MAP_GROUP 256

/* Lanes of a GROUP: one value on every backend, so that fixed trees give equal bits. */
#ifdef QN_TEAM
#ifdef QN_CPU
#undef LANES
#define LANES 1
#endif
#ifndef LANES
#define LANES 32
#endif
#else
#ifndef LANES
#define LANES 256
#endif
#endif

/* Functions, memory, hidden arguments. */

#define QN_SPAN                                                                                    \
    const i32 qn_x0, const i32 qn_x1, const i32 qn_y0, const i32 qn_y1, const i32 qn_z0,           \
        const i32 qn_z1
#define GI ((i64)gy * 1073741824 + gx) /* rows of 2^30 */

#ifdef QN_OPENCL
#define GLOBAL                  __global
#define RESTRICT                restrict
#define FN                      static inline
#define FN_NOINLINE             static __attribute__((noinline))
#define CONST_TABLE(T, name, n) __constant T name[n]
#define QN_POINT                const i32 gx, const i32 gy, const i32 gz
#define QN_AT(T, name)          ((GLOBAL T *)((GLOBAL const uchar *)qn_p_##name + qn_o_##name))
#define QN_ITEMS(n)             __attribute__((reqd_work_group_size(n, 1, 1)))
#define QN_KERNEL_MAP           __kernel void
#define QN_KERNEL_UNROLLED      __kernel QN_ITEMS(QN_MAP_GROUP) void
#define QN_KERNEL_GROUP         __kernel QN_ITEMS(LANES) void
#define QN_KERNEL_TEAM          QN_KERNEL_GROUP
#define QN_BLOCK(d)             ((i32)get_group_id(d))
#define QN_ITEM                 ((i32)get_local_id(0))
#define QN_MAP_BEGIN                                                                               \
    const i32 gx = qn_x0 + (i32)(get_group_id(0) * get_local_size(0) + get_local_id(0));           \
    const i32 gy = qn_y0 + (i32)(get_group_id(1) * get_local_size(1) + get_local_id(1));           \
    const i32 gz = qn_z0 + (i32)(get_group_id(2) * get_local_size(2) + get_local_id(2));
#endif

#ifdef QN_CUDA
#define GLOBAL
#define RESTRICT                __restrict__
#define FN                      static __device__ __forceinline__
#define FN_NOINLINE             static __device__ __noinline__
#define CONST_TABLE(T, name, n) static __constant__ const T name[n]
#define QN_POINT                const i32 gx, const i32 gy, const i32 gz
#define QN_KERNEL_MAP           extern "C" __global__ void __launch_bounds__(QN_MAP_GROUP)
#define QN_KERNEL_UNROLLED      QN_KERNEL_MAP
#ifdef GROUPS_AT_ONCE
#define QN_KERNEL_GROUP extern "C" __global__ void __launch_bounds__(LANES, GROUPS_AT_ONCE)
#else
#define QN_KERNEL_GROUP extern "C" __global__ void __launch_bounds__(LANES)
#endif
/* A team runs a long program: it may use the registers that two groups per unit allow. */
#ifndef GROUPS_AT_ONCE
#define GROUPS_AT_ONCE 2
#endif
#define QN_KERNEL_TEAM extern "C" __global__ void __launch_bounds__(QN_MAP_GROUP, GROUPS_AT_ONCE)
#define QN_BLOCK_0     ((i32)blockIdx.x)
#define QN_BLOCK_1     ((i32)blockIdx.y)
#define QN_BLOCK_2     ((i32)blockIdx.z)
#define QN_BLOCK(d)    QN_BLOCK_##d
#define QN_ITEM        ((i32)threadIdx.x)
#define QN_MAP_BEGIN                                                                               \
    const i32 gx = qn_x0 + (i32)(blockIdx.x * blockDim.x + threadIdx.x);                           \
    const i32 gy = qn_y0 + (i32)(blockIdx.y * blockDim.y + threadIdx.y);                           \
    const i32 gz = qn_z0 + (i32)(blockIdx.z * blockDim.z + threadIdx.z);
#endif

#ifdef QN_CPU
/* Each clone of an entry takes its bodies along. A long program that has no clones is built with
 * -DQN_INLINE=, which leaves the choice to the compiler. */
#ifndef QN_INLINE
#define QN_INLINE always_inline,
#endif
#define GLOBAL
#define RESTRICT                restrict
#define QN_ID(name)             const i32 name __attribute__((unused))
#define FN                      static inline __attribute__((QN_INLINE unused))
#define FN_NOINLINE             static __attribute__((noinline, unused))
#define CONST_TABLE(T, name, n) static const T name[n]
#define QN_POINT                QN_ID(gx), QN_ID(gy), QN_ID(gz)
#define QN_CELL                 QN_ID(qn_gx), QN_ID(qn_gy), QN_ID(qn_gz)
#ifndef QN_CLONE_TARGETS
#define QN_CLONES
#elif QN_CLONE_TARGETS == 34
#define QN_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#elif QN_CLONE_TARGETS == 4
#define QN_CLONES __attribute__((target_clones("default", "arch=x86-64-v4")))
#else
#define QN_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#endif
/* The span is copied; otherwise the compiler must assume that a store in the body changes the end
 * of the loop. */
#define QN_EACH_POINT                                                                              \
    const qn_span qn_r = *qn_s;                                                                    \
    for (i32 gz = qn_r.z0; gz < qn_r.z1; gz++)                                                     \
        for (i32 gy = qn_r.y0; gy < qn_r.y1; gy++)                                                 \
    _Pragma("omp simd") for (i32 gx = qn_r.x0; gx < qn_r.x1; gx++)
#define QN_EACH_CELL                                                                               \
    const qn_span qn_r = *qn_s;                                                                    \
    for (i32 qn_gz = qn_r.z0; qn_gz < qn_r.z1; qn_gz++)                                            \
        for (i32 qn_gy = qn_r.y0; qn_gy < qn_r.y1; qn_gy++)                                        \
            for (i32 qn_gx = qn_r.x0; qn_gx < qn_r.x1; qn_gx++)
#else
#define QN_INSIDE (gx < qn_x1 && gy < qn_y1 && gz < qn_z1)
/* UNROLL(k): an item takes k points, one group width apart, so that its loads are independent and
 * coalesced. Only the last group along x needs a test per point. */
#define QN_UNROLLED_BEGIN(k)                                                                       \
    const i32 gx = qn_x0 + QN_BLOCK(0) * (QN_MAP_GROUP * (k)) + QN_ITEM;                           \
    const i32 gy = qn_y0 + QN_BLOCK(1);                                                            \
    const i32 gz = qn_z0 + QN_BLOCK(2);                                                            \
    if (gy >= qn_y1 || gz >= qn_z1)                                                                \
        return;
#define QN_WHOLE_BLOCK(k) (qn_x0 + (QN_BLOCK(0) + 1) * (QN_MAP_GROUP * (k)) <= qn_x1)
#define QN_NTH(j)         (gx + QN_MAP_GROUP * (j))
#endif

/* GROUP: lane blocks. */

#ifndef QN_TEAM
#ifdef QN_CPU
/* A lane block is a SIMD loop, which ends before the next one begins, so no barrier is needed. */
#define GROUP_X            qn_gx
#define GROUP_Y            qn_gy
#define GROUP_Z            qn_gz
#define LANE               qn_l
#define PRIV(T, v)         T v[LANES] __attribute__((aligned(64)))
#define P(v)               v[qn_l]
#define LOCAL(T, v, len)   T v[len] __attribute__((aligned(64)))
#define SYNC               ((void)0)
#define QN_PRAGMA(x)       _Pragma(#x)
#define EACH_LANE          _Pragma("omp simd") for (i32 qn_l = 0; qn_l < LANES; qn_l++)
#define EACH_LANE_BELOW(n) _Pragma("omp simd") for (i32 qn_l = 0; qn_l < (n); qn_l++)
#define ANY_LANE(any)                                                                              \
    any = 0;                                                                                       \
    QN_PRAGMA(omp simd reduction(| : any)) for (i32 qn_l = 0; qn_l < LANES; qn_l++)
#else
/* A lane is a work item: there is no lane loop, and a private value is a scalar. */
#define GROUP_X    (qn_x0 + QN_BLOCK(0))
#define GROUP_Y    (qn_y0 + QN_BLOCK(1))
#define GROUP_Z    (qn_z0 + QN_BLOCK(2))
#define LANE       QN_ITEM
#define PRIV(T, v) T v
#define P(v)       v
#define EACH_LANE
#define EACH_LANE_BELOW(n) if (LANE < (n))
#define ANY_LANE(any)      any = 0;
#ifdef QN_OPENCL
#define LOCAL(T, v, len) __local T v[len]
#define SYNC             barrier(CLK_LOCAL_MEM_FENCE)
#else
#define LOCAL(T, v, len) __shared__ T v[len]
#define SYNC             __syncthreads()
#endif
#endif
#endif

/* Integers and atomics. */

/* MIN, MAX and IABS evaluate an argument twice. */
#define MIN(a, b)    ((a) < (b) ? (a) : (b))
#define MAX(a, b)    ((a) > (b) ? (a) : (b))
#define IABS(a)      ((a) < 0 ? -(a) : (a))
#define ROTR32(x, n) (((u32)(x) >> (n)) | ((u32)(x) << (32 - (n)))) /* 1 <= n <= 31 */
#define I32_MAX      2147483647
#define I32_MIN      (-2147483647 - 1)

/* With a minimum and a maximum the index of a load needs no branch and gcc vectorises; with x < lo
 * ? lo : x < hi ? x : hi it makes three loads and does not. */
FN i32 clamp_i32(i32 x, i32 lo, i32 hi)
{
    const i32 most = MIN(x, hi);
    return MAX(most, lo);
}

/* Relaxed, on i32 or u32 in global memory; they return the old value. */
#ifdef QN_OPENCL
#define POPCOUNT32(x) ((i32)popcount((u32)(x)))
#define CLZ32(x)      ((i32)clz((u32)(x)))
#define f32_bits(x)   as_uint((float)(x))
#define bits_f32(u)   as_float((u32)(u))
#define f64_bits(x)   as_ulong((double)(x))
#define bits_f64(u)   as_double((u64)(u))
/* The conditional gives v the type of *p without reading it, since the overloads need equal
 * types. */
#define QN_LIKE(p, v)    (1 ? (v) : *(p))
#define ATOMIC_ADD(p, v) atomic_add((p), QN_LIKE(p, v))
#define ATOMIC_MIN(p, v) atomic_min((p), QN_LIKE(p, v))
#define ATOMIC_MAX(p, v) atomic_max((p), QN_LIKE(p, v))
#define ATOMIC_OR(p, v)  atomic_or((p), QN_LIKE(p, v))
#endif

#ifdef QN_CUDA
#define POPCOUNT32(x)    __popc((u32)(x))
#define CLZ32(x)         __clz((i32)(x))
#define f32_bits(x)      __float_as_uint((float)(x))
#define bits_f32(u)      __uint_as_float((u32)(u))
#define f64_bits(x)      ((u64)__double_as_longlong((double)(x)))
#define bits_f64(u)      __longlong_as_double((i64)(u))
#define ATOMIC_ADD(p, v) atomicAdd((p), (v))
#define ATOMIC_MIN(p, v) atomicMin((p), (v))
#define ATOMIC_MAX(p, v) atomicMax((p), (v))
#define ATOMIC_OR(p, v)  atomicOr((p), (v))
#endif

#ifdef QN_CPU
#define POPCOUNT32(x) __builtin_popcount((u32)(x))
#define CLZ32(x)      ((u32)(x) ? __builtin_clz((u32)(x)) : 32)

FN u32 f32_bits(float x)
{
    u32 u;
    memcpy(&u, &x, sizeof u);
    return u;
}

FN float bits_f32(u32 u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

FN u64 f64_bits(double x)
{
    u64 u;
    memcpy(&u, &x, sizeof u);
    return u;
}

FN double bits_f64(u64 u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

#define QN_ATOMIC_PICK(name, T, OP)                                                                \
    FN T name(T *p, T v)                                                                           \
    {                                                                                              \
        T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                              \
        while (v OP old &&                                                                         \
               !__atomic_compare_exchange_n(p, &old, v, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {  \
        }                                                                                          \
        return old;                                                                                \
    }
QN_ATOMIC_PICK(qn_atomic_min_i32, i32, <)
QN_ATOMIC_PICK(qn_atomic_min_u32, u32, <)
QN_ATOMIC_PICK(qn_atomic_max_i32, i32, >)
QN_ATOMIC_PICK(qn_atomic_max_u32, u32, >)

#define ATOMIC_ADD(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define ATOMIC_OR(p, v)  __atomic_fetch_or((p), (v), __ATOMIC_RELAXED)
#define ATOMIC_MIN(p, v) _Generic((p), i32 * : qn_atomic_min_i32, u32 * : qn_atomic_min_u32)(p, v)
#define ATOMIC_MAX(p, v) _Generic((p), i32 * : qn_atomic_max_i32, u32 * : qn_atomic_max_u32)(p, v)
#endif

/* Maths: plain names; float arguments give float results. */

#ifdef QN_CUDA
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38f
#endif
#endif

#ifdef QN_CPU
#define QN_OF1(fn, x)    _Generic((x), float : fn##f, default : fn)(x)
#define QN_OF2(fn, x, y) _Generic((x) + (y), float : fn##f, default : fn)(x, y)
#define sqrt(x)          QN_OF1(sqrt, x)
#define cbrt(x)          QN_OF1(cbrt, x)
#define exp(x)           QN_OF1(exp, x)
#define exp2(x)          QN_OF1(exp2, x)
#define expm1(x)         QN_OF1(expm1, x)
#define log(x)           QN_OF1(log, x)
#define log2(x)          QN_OF1(log2, x)
#define log10(x)         QN_OF1(log10, x)
#define log1p(x)         QN_OF1(log1p, x)
#define sin(x)           QN_OF1(sin, x)
#define cos(x)           QN_OF1(cos, x)
#define tan(x)           QN_OF1(tan, x)
#define asin(x)          QN_OF1(asin, x)
#define acos(x)          QN_OF1(acos, x)
#define atan(x)          QN_OF1(atan, x)
#define sinh(x)          QN_OF1(sinh, x)
#define cosh(x)          QN_OF1(cosh, x)
#define tanh(x)          QN_OF1(tanh, x)
#define erf(x)           QN_OF1(erf, x)
#define erfc(x)          QN_OF1(erfc, x)
#define floor(x)         QN_OF1(floor, x)
#define ceil(x)          QN_OF1(ceil, x)
#define trunc(x)         QN_OF1(trunc, x)
#define round(x)         QN_OF1(round, x)
#define rint(x)          QN_OF1(rint, x)
#define fabs(x)          QN_OF1(fabs, x)
#define pow(x, y)        QN_OF2(pow, x, y)
#define atan2(x, y)      QN_OF2(atan2, x, y)
#define fmod(x, y)       QN_OF2(fmod, x, y)
#define hypot(x, y)      QN_OF2(hypot, x, y)
#define copysign(x, y)   QN_OF2(copysign, x, y)
#define fma(x, y, z)     _Generic((x) + (y) + (z), float : fmaf, default : fma)(x, y, z)

/* The library's fmin and fmax prevent vectorisation; these treat NaN the same way. */
#define QN_PICK(name, T, OP)                                                                       \
    FN T name(T a, T b)                                                                            \
    {                                                                                              \
        return a OP b || b != b ? a : b;                                                           \
    }
QN_PICK(qn_fminf, float, <)
QN_PICK(qn_fmin, double, <)
QN_PICK(qn_fmaxf, float, >)
QN_PICK(qn_fmax, double, >)
#define fmin(x, y) QN_OF2(qn_fmin, x, y)
#define fmax(x, y) QN_OF2(qn_fmax, x, y)
#endif

/* TEAM: lanes that cooperate. */

#ifdef QN_TEAM

#define TEAM_PASS qn_team

#ifdef QN_CPU
/* A team of one lane: every reduction is the value itself. */
#define LANE            0
#define SYNC            ((void)0)
#define TEAM_PARAM      QN_ID(qn_team)
#define TEAM_X          qn_gx
#define TEAM_Y          qn_gy
#define TEAM_Z          qn_gz
#define QN_TEAM_BEGIN   QN_ID(qn_team) = 0;
#define TEAM_UNIT       0
#define TEAM_IN_GROUP   0
#define GROUP_MEET      ((void)0)
#define GROUP_FIRST(v)  ((u32)(v))
#define TEAM_ADD(v)     ((i32)(v))
#define TEAM_MIN(v)     ((i32)(v))
#define TEAM_MAX(v)     ((i32)(v))
#define TEAM_FIRST(v)   ((i32)(v))
#define TEAM_SCAN(v)    ((void)(v), (i32)0)
#define TEAM_ADD64(v)   ((i64)(v))
#define TEAM_MIN64(v)   ((i64)(v))
#define TEAM_MAX64(v)   ((i64)(v))
#define TEAM_FIRST64(v) ((i64)(v))
#define TEAM_SCAN64(v)  ((void)(v), (i64)0)
#define TEAM_ANY(v)     ((i32)((v) != 0))
#define TEAM_ALL(v)     ((i32)((v) != 0))
#else

#ifdef QN_OPENCL
/* One work-group is one team. OpenCL C 1.2 has no shuffles: values go through local memory, which
 * the expander declares in the kernel and TEAM_PARAM passes to helpers. */
#define LANE           QN_ITEM
#define SYNC           barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define TEAM_PARAM     __local i64 *qn_team
#define TEAM_X         (qn_x0 + QN_BLOCK(0))
#define TEAM_Y         (qn_y0 + QN_BLOCK(1))
#define TEAM_Z         (qn_z0 + QN_BLOCK(2))
#define TEAM_UNIT      QN_BLOCK(0)
#define TEAM_IN_GROUP  0
#define GROUP_MEET     ((void)0)
#define GROUP_FIRST(v) ((u32)(v))
#define QN_TEAM_BEGIN  __local i64 qn_team[LANES];

/* Every lane combines all values itself, which takes two barriers; a tree needs one per level. */
#define QN_TEAM_WORD(name, T, FROM, TO, FIRST, STEP)                                               \
    FN T name(TEAM_PARAM, T v)                                                                     \
    {                                                                                              \
        T r = FIRST;                                                                               \
        qn_team[LANE] = v;                                                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        for (i32 k = FROM; k < TO; k++) {                                                          \
            const T o = (T)qn_team[k];                                                             \
            r = STEP;                                                                              \
        }                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        return r;                                                                                  \
    }
#define QN_TEAM_WORDS(T, add, least, most, first, scan)                                            \
    QN_TEAM_WORD(add, T, 0, LANES, 0, r + o)                                                       \
    QN_TEAM_WORD(least, T, 0, LANES, v, o < r ? o : r)                                             \
    QN_TEAM_WORD(most, T, 0, LANES, v, o > r ? o : r)                                              \
    QN_TEAM_WORD(first, T, 0, 1, v, o)                                                             \
    QN_TEAM_WORD(scan, T, 0, LANE, 0, r + o)
#define TEAM_ANY(v) qn_team_max(qn_team, (v) != 0)
#define TEAM_ALL(v) qn_team_min(qn_team, (v) != 0)
#endif

#ifdef QN_CUDA
/* Several teams share a block {LANES, teams, 1}; a team is always within one warp. qn_team is the
 * mask of its lanes. */
#if LANES > 32
#error "a team has at most 32 lanes"
#endif
#define LANE       QN_ITEM
#define SYNC       __syncwarp(qn_team)
#define TEAM_PARAM const u32 qn_team
#define TEAM_X     (qn_x0 + (i32)(blockIdx.x * blockDim.y + threadIdx.y))
#define TEAM_Y     (qn_y0 + QN_BLOCK(1))
#define TEAM_Z     (qn_z0 + QN_BLOCK(2))
#define QN_TEAM_BEGIN                                                                              \
    const u32 qn_team = (0xffffffffu >> (32 - LANES)) << (threadIdx.y * LANES & 31);               \
    if (TEAM_X >= qn_x1)                                                                           \
        return;

FN i32 qn_unit(void)
{
    u32 unit;

    asm("mov.u32 %0, %%smid;" : "=r"(unit));
    return (i32)unit;
}
#define TEAM_UNIT      qn_unit()
#define TEAM_IN_GROUP  ((i32)threadIdx.y)
#define GROUP_MEET     __syncthreads()

/* The value of the first lane of the first team of a group, for all its teams. */
FN u32 qn_group_first(u32 v)
{
    __shared__ u32 word;

    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0)
        word = v;
    __syncthreads();
    return word;
}
#define GROUP_FIRST(v) qn_group_first(v)

#define QN_TEAM_FOLD(name, T, STEP)                                                                \
    FN T name(TEAM_PARAM, T r)                                                                     \
    {                                                                                              \
        for (i32 w = LANES / 2; w > 0; w /= 2) {                                                   \
            const T o = __shfl_xor_sync(qn_team, r, w, LANES);                                     \
            r = STEP;                                                                              \
        }                                                                                          \
        return r;                                                                                  \
    }
#define QN_TEAM_WORDS(T, add, least, most, first, scan)                                            \
    QN_TEAM_FOLD(add, T, r + o)                                                                    \
    QN_TEAM_FOLD(least, T, o < r ? o : r)                                                          \
    QN_TEAM_FOLD(most, T, o > r ? o : r)                                                           \
    FN T first(TEAM_PARAM, T v)                                                                    \
    {                                                                                              \
        return __shfl_sync(qn_team, v, 0, LANES);                                                  \
    }                                                                                              \
    FN T scan(TEAM_PARAM, T v)                                                                     \
    {                                                                                              \
        T r = v;                                                                                   \
        for (i32 w = 1; w < LANES; w *= 2) {                                                       \
            const T o = __shfl_up_sync(qn_team, r, w, LANES);                                      \
            r += LANE >= w ? o : 0;                                                                \
        }                                                                                          \
        return r - v;                                                                              \
    }
#define TEAM_ANY(v) ((i32)(__any_sync(qn_team, (v) != 0) != 0))
#define TEAM_ALL(v) ((i32)(__all_sync(qn_team, (v) != 0) != 0))
#endif

QN_TEAM_WORDS(i32, qn_team_add, qn_team_min, qn_team_max, qn_team_first, qn_team_scan)
QN_TEAM_WORDS(i64, qn_team_add64, qn_team_min64, qn_team_max64, qn_team_first64, qn_team_scan64)

#define TEAM_ADD(v)     qn_team_add(qn_team, (v))
#define TEAM_MIN(v)     qn_team_min(qn_team, (v))
#define TEAM_MAX(v)     qn_team_max(qn_team, (v))
#define TEAM_FIRST(v)   qn_team_first(qn_team, (v))
#define TEAM_SCAN(v)    qn_team_scan(qn_team, (v))
#define TEAM_ADD64(v)   qn_team_add64(qn_team, (v))
#define TEAM_MIN64(v)   qn_team_min64(qn_team, (v))
#define TEAM_MAX64(v)   qn_team_max64(qn_team, (v))
#define TEAM_FIRST64(v) qn_team_first64(qn_team, (v))
#define TEAM_SCAN64(v)  qn_team_scan64(qn_team, (v))
#endif

#endif

#endif
