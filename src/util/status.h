/* status.h - how functions fail: one status, one sentence, one label.
 *
 * A function that can fail returns qn_status and leaves its sentence in the qn_err it was
 * given. qn_fail is called once, where the fault is known; callers may prefix, never replace.
 */
#ifndef QN_UTIL_STATUS_H
#define QN_UTIL_STATUS_H

#include <quern/quern.h>

#include <stdarg.h>

/* In front of a parameter that a signature has and this function does not need. */
#define QN_UNUSED __attribute__((unused))

/* The only control-flow macro: leaves by the function's `out:` label. */
#define QN_TRY(call)                                                                               \
    do {                                                                                           \
        if ((st = (call)) != QN_OK)                                                                \
            goto out;                                                                              \
    } while (0)

/* Fails as qn_fail does, and goes to `out`. */
#define QN_FAIL(...)                                                                               \
    do {                                                                                           \
        st = qn_fail(__VA_ARGS__);                                                                 \
        goto out;                                                                                  \
    } while (0)

/* Fills `err` (may be NULL) and returns `status`. Newlines in the text become spaces. */
__attribute__((format(printf, 3, 4))) qn_status qn_fail(qn_err *err, qn_status status,
                                                        const char *format, ...);

/* Puts "text: " in front of what `err` says already. Returns its status. */
__attribute__((format(printf, 2, 3))) qn_status qn_prefix(qn_err *err, const char *format, ...);

/* Adds text behind what `err` says already: what the reader can do about it. Returns its status. */
__attribute__((format(printf, 2, 3))) qn_status qn_suffix(qn_err *err, const char *format, ...);

/* For calls that look at their own error: the caller's place for it, or `own` where there is none,
 * without a failure so far. */
static inline qn_err *qn_err_begin(qn_err *err, qn_err *own)
{
    err = err ? err : own;
    err->status = QN_OK;
    err->text[0] = '\0';
    return err;
}

/* Copies an option struct of `size` bytes, which begins with its size, into `out`: what a caller
 * with an older, shorter struct does not have becomes zero. NULL gives zeros. */
qn_status qn_struct_take(const char *type, const void *given, void *out, size_t size, qn_err *err);

/* a * b, or a + b, into *out; fails with QN_ERR_LIMIT naming `what` on overflow. */
qn_status qn_size_mul(size_t a, size_t b, const char *what, size_t *out, qn_err *err);
qn_status qn_size_add(size_t a, size_t b, const char *what, size_t *out, qn_err *err);

#endif
