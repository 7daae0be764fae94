/* options.h - the options of a tool as a table, for commands and for other languages.
 *
 * Every option struct of a public header is printed from a list in <quern/options/...>, and so is
 * the table of its rows: name, type, place, default and help. A binding that reads the table at run
 * time needs no declaration of its own and follows the library it is loaded with.
 *
 * An option struct begins with its size. Fill it with defaults first, then set members:
 *
 *     qn_les_options options;
 *
 *     qn_les_options_init(&options, sizeof options);
 *     options.steps = 100;
 *
 * A program that was built with an older, shorter struct keeps working: the members it does not
 * know have their defaults.
 */
#ifndef QUERN_OPTIONS_H
#define QUERN_OPTIONS_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qn_option_kind {
    QN_OPTION_CHOICE, /* int: position in the list `value`; -1 where "" is the default: not chosen */
    QN_OPTION_PRESET, /* int: a choice that changes the defaults of other options */
    QN_OPTION_INT,    /* int */
    QN_OPTION_INT64,  /* qn_i64 */
    QN_OPTION_FLAG,   /* int: 0 or 1; its default is "" */
    QN_OPTION_REAL,  /* double; as text also "pi" or "2*pi". NaN where "" is the default: not set */
    QN_OPTION_SEED,  /* uint64_t, at most 2^63 - 1 */
    QN_OPTION_BYTES, /* size_t; as text also "512M" */
    QN_OPTION_TEXT,  /* const char *; NULL or "": none */
    QN_OPTION_FILE,  /* const char *: a file to be read */
    QN_OPTION_TEXTS, /* const char *const *, and the count in n_<name> */
    QN_OPTION_ARRAY  /* const <element> *, and the count in n_<name>; no text sets it */
} qn_option_kind;

typedef struct qn_option {
    const char *name; /* of the member; also the key in JSON and the keyword in Python */
    const char *flag; /* on the command line, without its dashes; NULL: the row is for calls only */
    int kind;         /* a qn_option_kind */
    size_t offset, size;
    size_t count_offset; /* of n_<name>, a size_t; 0: the kind has none */
    const char *element; /* of an ARRAY: "double"; else NULL */
    const char *value;   /* the choices, "flux|advective"; else a word for the value, or NULL */
    double min, max;     /* of INT, INT64, REAL and BYTES; both 0: any */
    const char *fallback;
    const char *help;
} qn_option;

typedef struct qn_option_table {
    const char *type; /* "qn_les_options" */
    size_t size;
    const qn_option *rows; /* in the order of the members; ended by a NULL name */
    /* Fills in the defaults that belong to choice `choice` of the PRESET row, and that choice.
     * NULL: there is no such row. */
    void (*preset)(void *options, int choice);
} qn_option_table;

/* For public headers: OPTION and MEMBER of a list as members of its struct. */
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
