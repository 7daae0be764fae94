/* options.h - the options of a tool as a table, for commands and for other languages.
 *
 * A list in <quern/options/...> generates each option struct of the public headers and the table of
 * its rows: name, type, offset, default and help. A binding that reads the table at run time needs
 * no declarations of its own and matches the library it has loaded.
 *
 * An option struct begins with its size. Fill it with defaults first, then set members:
 *
 *     qn_les_options options;
 *
 *     qn_les_options_init(&options, sizeof options);
 *     options.steps = 100;
 *
 * A program built with an older, shorter struct keeps working: members it does not know have their
 * defaults.
 */
#ifndef QUERN_OPTIONS_H
#define QUERN_OPTIONS_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qn_option_kind {
    QN_OPTION_CHOICE, /* int: position in `value`; with the default "", -1 means not chosen */
    QN_OPTION_PRESET, /* int: a choice that changes the defaults of other options */
    QN_OPTION_INT,    /* int */
    QN_OPTION_INT64,  /* qn_i64 */
    QN_OPTION_FLAG,   /* int: 0 or 1; its default is "" */
    QN_OPTION_REAL,   /* double; as text also "2*pi"; with the default "", NaN means not set */
    QN_OPTION_SEED,   /* uint64_t, at most 2^63 - 1 */
    QN_OPTION_BYTES,  /* size_t; as text also "512M" */
    QN_OPTION_TEXT,   /* const char *; NULL or "": none */
    QN_OPTION_FILE,   /* const char *: a file to be read */
    QN_OPTION_TEXTS,  /* const char *const *, and the count in n_<name> */
    QN_OPTION_ARRAY   /* const <element> *, and the count in n_<name>; no text sets it */
} qn_option_kind;

typedef struct qn_option {
    const char *name; /* of the member; also the key in JSON and the keyword in Python */
    const char *flag; /* on the command line, without dashes; NULL: for calls only */
    int kind;         /* a qn_option_kind */
    size_t offset, size;
    size_t count_offset; /* of n_<name>, a size_t; 0: the kind has none */
    const char *element; /* of an ARRAY: "double"; else NULL */
    const char *value;   /* the choices, "flux|advective"; else a word for help, or NULL */
    double min, max;     /* of INT, INT64, REAL and BYTES; both 0: any */
    const char *fallback;
    const char *help;
} qn_option;

typedef struct qn_option_table {
    const char *type; /* "qn_les_options" */
    size_t size;
    const qn_option *rows; /* in the order of the members; a NULL name ends them */
    /* Sets the PRESET row to choice `choice` and fills in the defaults of that choice. NULL: there
     * is no PRESET row. */
    void (*preset)(void *options, int choice);
} qn_option_table;

/* For public headers: turns OPTION and MEMBER of a list into members of its struct. */
#define QN_OPTION_MEMBER(kind, member, flag, value, min, max, fallback, help)                      \
    QN_OPTION_MEMBER_##kind(member)
#define QN_OPTION_MEMBER_CHOICE(m) int m;
#define QN_OPTION_MEMBER_PRESET(m) int m;
#define QN_OPTION_MEMBER_INT(m)    int m;
#define QN_OPTION_MEMBER_INT64(m)  qn_i64 m;
#define QN_OPTION_MEMBER_FLAG(m)   int m;
#define QN_OPTION_MEMBER_REAL(m)   double m;
#define QN_OPTION_MEMBER_SEED(m)   uint64_t m;
#define QN_OPTION_MEMBER_BYTES(m)  size_t m;
#define QN_OPTION_MEMBER_TEXT(m)   const char *m;
#define QN_OPTION_MEMBER_FILE(m)   const char *m;
#define QN_OPTION_MEMBER_TEXTS(m)                                                                  \
    const char *const *m;                                                                          \
    size_t n_##m;
#define QN_OPTION_MEMBER_ARRAY(type) const type *QN_OPTION_MEMBER_COUNTED
#define QN_OPTION_MEMBER_COUNTED(m)                                                                \
    m;                                                                                             \
    size_t n_##m;

#ifdef __cplusplus
}
#endif
#endif
