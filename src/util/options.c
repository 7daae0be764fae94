/* options.c - sets and checks the members of an option struct, using the table of its rows.
 *
 * Defaults, members of a JSON file and flags all become text that goes through set(), so every
 * value is checked in one place. qn_options_take applies the same limits to a struct that a program
 * filled in.
 */
#include "util/options.h"

#include "util/closest.h"
#include "util/list.h"
#include "util/str.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const qn_option_source by_call = { "", QN_ERR_USAGE };

/* The store. */

void qn_option_store_free(qn_option_store *store)
{
    for (size_t i = 0; i < store->n; i++)
        free(store->blocks[i]);
    free(store->blocks);
    *store = (qn_option_store){ 0 };
}

/* Zeroed memory that lives as long as the store, or NULL. */
static void *stored(qn_option_store *store, size_t bytes)
{
    void *block = NULL;
    void **blocks = qn_grown(store->blocks, store->n, &store->room, sizeof *blocks);

    if (!blocks)
        return NULL;
    store->blocks = blocks;
    if ((block = calloc(1, bytes)))
        blocks[store->n++] = block;
    return block;
}

static const char *stored_text(qn_option_store *store, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = stored(store, bytes);

    return copy ? memcpy(copy, text, bytes) : NULL;
}

/* Finding. */

/* Equal except for case, with - and _ alike. */
static int is_same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        const int x = *a == '-' ? '_' : tolower((unsigned char)*a);
        const int y = *b == '-' ? '_' : tolower((unsigned char)*b);

        if (x != y)
            return 0;
    }
    return *a == *b;
}

const qn_option *qn_option_find(const qn_option_table *table, const char *name)
{
    for (const qn_option *row = table->rows; row->name; row++)
        if (is_same_name(name, row->name) || (row->flag && is_same_name(name, row->flag)))
            return row;
    return NULL;
}

/* The row with that name or flag, if text may set it: rows without a flag are for calls only. */
static const qn_option *find_by_text(const qn_option_table *table, const char *name)
{
    const qn_option *row = qn_option_find(table, name);

    return row && row->flag ? row : NULL;
}

/* How messages name an option: "--k-cut" of the command line, "FILE: k_cut" of a file. */
static const char *name_in(qn_option_source source, const qn_option *row)
{
    return strcmp(source.where, "--") == 0 ? row->flag : row->name;
}

static qn_status fail_unknown(const qn_option_table *table, const char *name,
                              qn_option_source source, qn_err *err)
{
    const char *again = strcmp(source.where, "--") == 0 ? "--" : "";
    const char **names;
    const char *close = NULL;
    size_t n = 0;

    for (const qn_option *row = table->rows; row->name; row++)
        n++;
    if ((names = calloc(n + 1, sizeof *names))) {
        n = 0;
        for (const qn_option *row = table->rows; row->name; row++)
            if (row->flag)
                names[n++] = name_in(source, row);
        close = qn_closest(name, names);
    }
    free(names);
    if (close)
        return qn_fail(err, source.wrong, "%s%.80s is unknown; did you mean %s%s?", source.where,
                       name, again, close);
    return qn_fail(err, source.wrong, "%s%.80s is unknown", source.where, name);
}

/* Values as text. */

/* A text value to be stored in a struct. */
typedef struct {
    const qn_option *row;
    qn_option_source source;
    const char *text;
    void *options;
    qn_option_store *store;
    qn_err *err;
} setting;

static qn_status fail_not(const setting *s, const char *what)
{
    return qn_fail(s->err, s->source.wrong, "%s%s: '%.80s' is not %s", s->source.where,
                   name_in(s->source, s->row), s->text, what);
}

/* Whether the value is "" and the option may be unset. */
static int is_unset(const setting *s)
{
    return !s->text[0] && !s->row->fallback[0];
}

static qn_status set_choice(const setting *s, int *to)
{
    const size_t len = strlen(s->text);
    qn_str what = { 0 };
    int i = 0;

    if (is_unset(s)) {
        *to = -1;
        return QN_OK;
    }
    qn_str_add(&what, "one of ");
    for (const char *at = s->row->value; *at; i++) {
        const size_t n = strcspn(at, "|");

        if (n == len && memcmp(at, s->text, n) == 0) {
            qn_str_free(&what);
            *to = i;
            return QN_OK;
        }
        qn_str_addf(&what, "%s%.*s", i ? ", " : "", (int)n, at);
        at += n + (at[n] == '|');
    }

    const qn_status st = fail_not(s, qn_str_get(&what));
    qn_str_free(&what);
    return st;
}

static qn_status check_range(const setting *s, double value)
{
    const qn_option *row = s->row;
    const double max = row->kind == QN_OPTION_FLAG ? 1 : row->max;

    if (row->min == max)
        return QN_OK;
    if (value < row->min)
        return qn_fail(s->err, s->source.wrong, "%s%s: %.80s is below the least value, %.10g",
                       s->source.where, name_in(s->source, row), s->text, row->min);
    if (value > max)
        return qn_fail(s->err, s->source.wrong, "%s%s: %.80s is above the largest value, %.10g",
                       s->source.where, name_in(s->source, row), s->text, max);
    return QN_OK;
}

static int parse_whole(const char *text, long long *out)
{
    char *end;

    if (text[0] != '-' && !isdigit((unsigned char)text[0]))
        return 0;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && !*end && !errno;
}

static qn_status set_int64(const setting *s, qn_i64 *to)
{
    long long value;
    qn_status st;

    if (!parse_whole(s->text, &value))
        return fail_not(s, "a whole number");
    if ((st = check_range(s, (double)value)) == QN_OK)
        *to = value;
    return st;
}

static qn_status set_int(const setting *s, int *to)
{
    qn_i64 value = 0;
    const qn_status st = set_int64(s, &value);

    if (st != QN_OK)
        return st;
    if (value < INT32_MIN || value > INT32_MAX)
        return fail_not(s, "a number of 32 bits");
    *to = (int)value;
    return QN_OK;
}

/* "" means the flag was not given. */
static qn_status set_flag(const setting *s, int *to)
{
    if (s->text[0])
        return set_int(s, to);
    *to = 0;
    return QN_OK;
}

static qn_status set_seed(const setting *s, uint64_t *to)
{
    long long value;

    if (!parse_whole(s->text, &value) || value < 0)
        return fail_not(s, "a whole number from 0 to 9223372036854775807");
    *to = (uint64_t)value;
    return QN_OK;
}

static qn_status set_bytes(const setting *s, size_t *to)
{
    size_t value;
    qn_status st;

    if (qn_parse_bytes(s->text, &value))
        return fail_not(s, "a size such as 512M");
    if ((st = check_range(s, (double)value)) == QN_OK)
        *to = value;
    return st;
}

/* A number, "pi", or a number times pi: "2*pi". */
static int parse_real(const char *text, double *out)
{
    const char *rest = text;
    double value = 1;

    if (strcmp(text, "pi") != 0) {
        char *end;

        if (!text[0] || !strchr("-.0123456789", text[0]))
            return 0;
        value = strtod(text, &end);
        if (end == text)
            return 0;
        rest = *end == '*' ? end + 1 : end;
        if (!*rest && *end)
            return 0;
    }
    if (*rest && strcmp(rest, "pi") != 0)
        return 0;
    *out = *rest ? value * M_PI : value;
    return isfinite(*out);
}

static qn_status set_real(const setting *s, double *to)
{
    double value;
    qn_status st;

    if (is_unset(s)) {
        *to = NAN;
        return QN_OK;
    }
    if (!parse_real(s->text, &value))
        return fail_not(s, "a number");
    if ((st = check_range(s, value)) == QN_OK)
        *to = value;
    return st;
}

static qn_status check_length(const setting *s)
{
    if (strlen(s->text) >= QN_OPTION_TEXT_BYTES)
        return qn_fail(s->err, s->source.wrong, "%s%s: %zu bytes exceed the limit of %d",
                       s->source.where, name_in(s->source, s->row), strlen(s->text),
                       QN_OPTION_TEXT_BYTES - 1);
    return QN_OK;
}

static qn_status set_text(const setting *s, const char **to)
{
    qn_status st = check_length(s);

    if (st != QN_OK)
        return st;
    const char *text = s->store && s->text[0] ? stored_text(s->store, s->text) : s->text;

    if (!text)
        return qn_fail(s->err, QN_ERR_NOMEM, "%s: no memory for a text", s->row->name);
    *to = text;
    return QN_OK;
}

/* Appends a text to a list; "" empties the list. */
static qn_status set_texts(const setting *s, const char *const **to)
{
    size_t *count = qn_option_count(s->options, s->row);
    const char **list;
    qn_status st;

    if (!s->text[0]) {
        *to = NULL;
        *count = 0;
        return QN_OK;
    }
    assert(s->store);
    if (!(list = stored(s->store, (*count + 2) * sizeof *list)))
        return qn_fail(s->err, QN_ERR_NOMEM, "%s: no memory for a list", s->row->name);
    for (size_t i = 0; i < *count; i++)
        list[i] = (*to)[i];
    if ((st = set_text(s, &list[*count])) != QN_OK)
        return st;
    *to = list;
    *count += 1;
    return QN_OK;
}

static qn_status set(const setting *s)
{
    void *to = qn_option_member(s->options, s->row);

    switch ((qn_option_kind)s->row->kind) {
    case QN_OPTION_CHOICE:
    case QN_OPTION_PRESET:
        return set_choice(s, to);
    case QN_OPTION_INT:
        return set_int(s, to);
    case QN_OPTION_FLAG:
        return set_flag(s, to);
    case QN_OPTION_INT64:
        return set_int64(s, to);
    case QN_OPTION_REAL:
        return set_real(s, to);
    case QN_OPTION_SEED:
        return set_seed(s, to);
    case QN_OPTION_BYTES:
        return set_bytes(s, to);
    case QN_OPTION_TEXT:
    case QN_OPTION_FILE:
        return set_text(s, to);
    case QN_OPTION_TEXTS:
        return set_texts(s, to);
    case QN_OPTION_ARRAY:
        break;
    }
    *(const void **)to = NULL; /* only as a default */
    *qn_option_count(s->options, s->row) = 0;
    return QN_OK;
}

qn_status qn_option_set(const qn_option_table *table, const char *name, const char *text,
                        qn_option_source source, void *options, qn_option_store *store, qn_err *err)
{
    const setting s = { .row = find_by_text(table, name),
                        .source = source,
                        .text = text,
                        .options = options,
                        .store = store,
                        .err = err };

    return s.row ? set(&s) : fail_unknown(table, name, source, err);
}

/* Structs that a program fills in. */

/* The bytes of a struct up to the end of this member. */
static size_t end_of(const qn_option *row)
{
    return row->count_offset ? row->count_offset + sizeof(size_t) : row->offset + row->size;
}

static void set_default(const qn_option *row, void *options)
{
    const setting s = { .row = row, .source = by_call, .text = row->fallback, .options = options };
    const qn_status st = set(&s);

    assert(st == QN_OK); /* fails if a row refuses its own default */
    (void)st;
}

void qn_options_init(const qn_option_table *table, void *options, size_t size)
{
    const int is_known = size >= sizeof(size_t) && size <= table->size;

    if (size < sizeof(size_t))
        return;
    memset(options, 0, size);
    *(size_t *)options = is_known ? size : 0;
    for (const qn_option *row = table->rows; row->name; row++)
        if (end_of(row) <= size)
            set_default(row, options);
}

static double number_of(const qn_option *row, const void *from)
{
    switch ((qn_option_kind)row->kind) {
    case QN_OPTION_INT64:
        return (double)*(const qn_i64 *)from;
    case QN_OPTION_REAL:
        return *(const double *)from;
    case QN_OPTION_SEED:
        return (double)*(const uint64_t *)from;
    case QN_OPTION_BYTES:
        return (double)*(const size_t *)from;
    default:
        return *(const int *)from;
    }
}

static int n_choices(const char *list)
{
    int n = 1;

    for (; *list; list++)
        n += *list == '|';
    return n;
}

/* Checks the limits of a member; a program may have filled in anything. */
static qn_status check_member(const qn_option *row, const void *options, qn_err *err)
{
    const void *from = qn_option_member(options, row);
    char text[40];
    setting s = { .row = row, .source = by_call, .text = text, .err = err };

    if (row->kind == QN_OPTION_TEXT || row->kind == QN_OPTION_FILE) {
        s.text = *(const char *const *)from;
        return check_length(&s);
    }
    if (row->kind == QN_OPTION_TEXTS || row->kind == QN_OPTION_ARRAY)
        return QN_OK;

    const double value = number_of(row, from);
    snprintf(text, sizeof text, "%.10g", value);
    switch ((qn_option_kind)row->kind) {
    case QN_OPTION_CHOICE:
    case QN_OPTION_PRESET:
        if (value < (row->fallback[0] ? 0 : -1) || value >= n_choices(row->value))
            return qn_fail(err, QN_ERR_USAGE, "%s: %s is not the number of a choice: %s", row->name,
                           text, row->value);
        return QN_OK;
    case QN_OPTION_SEED:
        return *(const uint64_t *)from > INT64_MAX
                   ? fail_not(&s, "a whole number from 0 to 9223372036854775807")
                   : QN_OK;
    case QN_OPTION_REAL:
        if (isnan(value) && !row->fallback[0])
            return QN_OK;
        if (!isfinite(value))
            return fail_not(&s, "a number");
        return check_range(&s, value);
    default:
        return check_range(&s, value);
    }
}

qn_status qn_options_take(const qn_option_table *table, const void *given, void *out, qn_err *err)
{
    const size_t size = given ? *(const size_t *)given : 0;
    qn_status st = QN_OK;

    qn_options_init(table, out, table->size);
    if (!given)
        return QN_OK;
    if (size < sizeof(size_t) || size > table->size)
        return qn_fail(err, QN_ERR_USAGE,
                       "%s: a struct of %zu bytes is unknown, this version has %zu; its _init "
                       "call sets the size",
                       table->type, size, table->size);
    for (const qn_option *row = table->rows; row->name; row++) {
        void *to = qn_option_member(out, row);

        if (end_of(row) > size)
            continue;
        memcpy(to, qn_option_member(given, row), row->size);
        if (row->count_offset)
            memcpy(qn_option_count(out, row), (const char *)given + row->count_offset,
                   sizeof(size_t));
        if ((row->kind == QN_OPTION_TEXT || row->kind == QN_OPTION_FILE) &&
            !*(const char *const *)to)
            *(const char **)to = "";
        QN_TRY(check_member(row, out, err));
    }
out:
    return st;
}
