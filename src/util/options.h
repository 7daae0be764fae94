/* options.h - generates a tool's options from one list: struct, table, command line, JSON, Python.
 *
 * To add options of a tool `foo`, write:
 *
 *   1. include/quern/options/foo.def: the list, one row per option. OPTION is an option of the
 *      command. MEMBER is not: without a flag it is for calls only; with one it is a global option,
 *      or the command has its own row for it.
 *
 *        #ifndef MEMBER
 *        #define MEMBER OPTION
 *        #endif
 *        OPTION(INT, steps, "steps", "N", 1, 1000, "10", "time steps")
 *        OPTION(CHOICE, form, "form", "flux|advective", 0, 0, "flux", "form of advection")
 *        MEMBER(ARRAY(double), field, NULL, NULL, 0, 0, "", "initial field, in memory")
 *        #undef OPTION
 *        #undef MEMBER
 *
 *   2. <quern/foo.h>: the struct, and a call that fills in its defaults.
 *
 *        typedef struct qn_foo_options {
 *            size_t size;
 *        #define OPTION QN_OPTION_MEMBER
 *        #include <quern/options/foo.def>
 *        } qn_foo_options;
 *
 *        QN_API void qn_foo_options_init(qn_foo_options *options, size_t size);
 *        QN_API const qn_option_table *qn_foo_option_table(void);
 *
 *   3. a file of domain/foo: the table, and calls that take options.
 *
 *        #define OPTIONS qn_foo_options
 *        static const qn_option rows[] = {
 *        #define OPTION QN_OPTION_ROW
 *        #include <quern/options/foo.def>
 *            QN_OPTION_END
 *        };
 *        static const qn_option_table table = { "qn_foo_options", sizeof(OPTIONS), rows, NULL };
 *
 *        qn_options_init(&table, options, size);                  in qn_foo_options_init
 *        QN_TRY(qn_options_take(&table, options, &taken, err));   in every call with options
 *
 *   4. the command: rows of its option table, and the struct they fill (cli/options.h).
 *   5. Python: `OptionTable("qn_foo").make(keywords)` (quern/_options.py).
 */
#ifndef QN_UTIL_OPTIONS_H
#define QN_UTIL_OPTIONS_H

#include "util/status.h"

#include <quern/options.h>

#include <jansson.h>
#include <stddef.h>

enum { QN_OPTION_TEXT_BYTES = 4096 }; /* of a TEXT or FILE, including the NUL: the longest path */

/* A row of a table, for the struct that the macro OPTIONS names. */
#define QN_OPTION_ROW(kind_, member, flag_, value_, min_, max_, fallback_, help_)                  \
    { .name = #member,                                                                             \
      .flag = flag_,                                                                               \
      .offset = offsetof(OPTIONS, member),                                                         \
      .size = sizeof(((OPTIONS *)0)->member),                                                      \
      .value = value_,                                                                             \
      .min = min_,                                                                                 \
      .max = max_,                                                                                 \
      .fallback = fallback_,                                                                       \
      .help = help_,                                                                               \
      QN_OPTION_KIND_##kind_(member) },
#define QN_OPTION_END                                                                              \
    {                                                                                              \
        .name = NULL                                                                               \
    }

#define QN_OPTION_KIND_CHOICE(m)   .kind = QN_OPTION_CHOICE
#define QN_OPTION_KIND_PRESET(m)   .kind = QN_OPTION_PRESET
#define QN_OPTION_KIND_INT(m)      .kind = QN_OPTION_INT
#define QN_OPTION_KIND_INT64(m)    .kind = QN_OPTION_INT64
#define QN_OPTION_KIND_FLAG(m)     .kind = QN_OPTION_FLAG
#define QN_OPTION_KIND_REAL(m)     .kind = QN_OPTION_REAL
#define QN_OPTION_KIND_SEED(m)     .kind = QN_OPTION_SEED
#define QN_OPTION_KIND_BYTES(m)    .kind = QN_OPTION_BYTES
#define QN_OPTION_KIND_TEXT(m)     .kind = QN_OPTION_TEXT
#define QN_OPTION_KIND_FILE(m)     .kind = QN_OPTION_FILE
#define QN_OPTION_KIND_TEXTS(m)    .kind = QN_OPTION_TEXTS, QN_OPTION_COUNTED(m)
#define QN_OPTION_KIND_ARRAY(type) .kind = QN_OPTION_ARRAY, .element = #type, QN_OPTION_COUNTED
#define QN_OPTION_COUNTED(m)       .count_offset = offsetof(OPTIONS, n_##m)

/* A member of an option struct, and the number of items if the row is a list. */
static inline void *qn_option_member(const void *options, const qn_option *row)
{
    return (char *)(uintptr_t)options + row->offset;
}

static inline size_t *qn_option_count(const void *options, const qn_option *row)
{
    return (size_t *)((uintptr_t)options + row->count_offset);
}

/* Owns the texts and lists that options point to; starts as all zero. */
typedef struct qn_option_store {
    void **blocks;
    size_t n, room;
} qn_option_store;

void qn_option_store_free(qn_option_store *store);

/* The row with that name or flag, ignoring case, with - and _ alike; or NULL. */
const qn_option *qn_option_find(const qn_option_table *table, const char *name);

/* Fills the first `size` bytes of a struct with defaults. If no version of the struct has that
 * size, options->size becomes 0, which calls refuse. */
void qn_options_init(const qn_option_table *table, void *options, size_t size);

/* Copies the options given to a call to `out`, a whole struct. A NULL `given` means the defaults;
 * members that a shorter struct lacks get their defaults; a NULL text becomes "". Values outside
 * their limits are QN_ERR_USAGE. Texts and arrays still belong to the caller. */
qn_status qn_options_take(const qn_option_table *table, const void *given, void *out, qn_err *err);

/* Where text values come from, for messages ("--" for flags, "FILE: " for a file, else ""), and the
 * status for a wrong value. */
typedef struct qn_option_source {
    const char *where;
    qn_status wrong;
} qn_option_source;

/* Sets one option of a whole struct; rows without a flag are for calls only, and unknown here. The
 * message for a wrong value names option, value and limit; the message for an unknown name suggests
 * the closest one. A text is copied into `store`, which must then live as long as the options;
 * without a store it is borrowed. TEXTS need a store, and the text is appended. */
qn_status qn_option_set(const qn_option_table *table, const char *name, const char *text,
                        qn_option_source source, void *options, qn_option_store *store,
                        qn_err *err);

/* Sets, in this order: the defaults, those of a preset named in `pairs` or `root`, the members of
 * `root`, and `pairs` (name, value, ..., NULL). `root` is a JSON object from the file that `where`
 * names ("FILE: "). `root` and `pairs` may be NULL. Mistakes are QN_ERR_INPUT in the file,
 * QN_ERR_USAGE in pairs. */
qn_status qn_options_make(const qn_option_table *table, const json_t *root, const char *where,
                          const char *const *pairs, void *options, qn_option_store *store,
                          qn_err *err);

/* The options as a JSON object that qn_options_make can read; NULL if out of memory. Unset options
 * and rows without a flag are left out. */
json_t *qn_options_json(const qn_option_table *table, const void *options);

#endif
