/* status.h - how functions fail: one status, one message, one label.
 *
 * A function that can fail returns qn_status and puts a message into its qn_err. qn_fail is called
 * once, where the error is detected; callers may add a prefix but must not replace the message.
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

/* Calls qn_fail and goes to `out`. */
#define QN_FAIL(...)                                                                               \
    do {                                                                                           \
        st = qn_fail(__VA_ARGS__);                                                                 \
        goto out;                                                                                  \
    } while (0)

/* Fills `err` (may be NULL) and returns `status`. Newlines in the text become spaces. */
__attribute__((format(printf, 3, 4))) qn_status qn_fail(qn_err *err, qn_status status,
                                                        const char *format, ...);

/* Puts "text: " in front of the message in `err`. Returns its status. */
__attribute__((format(printf, 2, 3))) qn_status qn_prefix(qn_err *err, const char *format, ...);

/* Appends advice to the message in `err`. Returns its status. */
__attribute__((format(printf, 2, 3))) qn_status qn_suffix(qn_err *err, const char *format, ...);

/* For functions that check their own error: returns `err`, or `own` if it is NULL, and clears
 * it. */
static inline qn_err *qn_err_begin(qn_err *err, qn_err *own)
{
    err = err ? err : own;
    err->status = QN_OK;
    err->text[0] = '\0';
    return err;
}

/* Copies an option struct, which begins with its size, into `out` of `size` bytes. Members missing
 * in an older, shorter struct become zero. NULL gives zeros. */
qn_status qn_struct_take(const char *type, const void *given, void *out, size_t size, qn_err *err);

/* Stores a * b, or a + b, in *out; overflow is QN_ERR_LIMIT and names `what`. */
qn_status qn_size_mul(size_t a, size_t b, const char *what, size_t *out, qn_err *err);
qn_status qn_size_add(size_t a, size_t b, const char *what, size_t *out, qn_err *err);

#endif
