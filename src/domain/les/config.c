/* config.c - from text to a configuration, by the table of options.
 *
 * Defaults, members of a JSON file and flags all become text that goes through put(), so a value
 * is checked in one place, whatever it came from.
 */
#include "config.h"

#include "domain/les/flow/settle.h"
#include "util/closest.h"
#include "util/json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OPTION(kind_, member, flag_, value_, min_, max_, quern, origin, help_)                     \
    { .key = #member,                                                                              \
      .flag = flag_,                                                                               \
      .kind = QN_LES_##kind_,                                                                      \
      .offset = offsetof(qn_les_config, member),                                                   \
      .value = value_,                                                                             \
      .min = min_,                                                                                 \
      .max = max_,                                                                                 \
      .defaults = { quern, origin },                                                               \
      .help = help_ },
#define GLOBAL_OPTION OPTION

const qn_les_option qn_les_options[] = {
#include "options.def"
    { .key = NULL }
};

enum { N_OPTIONS = sizeof qn_les_options / sizeof qn_les_options[0] - 1 };

/* Finding. */

/* Equal but for case, and for - and _. */
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

const qn_les_option *qn_les_option_find(const char *name)
{
    for (const qn_les_option *option = qn_les_options; option->key; option++)
        if (is_same_name(name, option->key))
            return option;
    return NULL;
}

/* How messages name an option: "--k-cut" of the command line, "FILE: k_cut" of a file. */
static const char *name_in(const char *where, const qn_les_option *option)
{
    return strcmp(where, "--") == 0 ? option->flag : option->key;
}

static qn_status fail_unknown(const char *where, const char *name, qn_status status, qn_err *err)
{
    const char *names[N_OPTIONS + 1] = { NULL };
    const char *again = strcmp(where, "--") == 0 ? where : "";

    for (int i = 0; i < N_OPTIONS; i++)
        names[i] = name_in(where, &qn_les_options[i]);

    const char *close = qn_closest(name, names);
    if (close)
        return qn_fail(err, status, "%s%.80s is unknown; did you mean %s%s?", where, name, again,
                       close);
    return qn_fail(err, status, "%s%.80s is unknown", where, name);
}

/* Values. */

/* A value on its way into a configuration. */
typedef struct {
    const qn_les_option *option;
    const char *where; /* "FILE: " or "--", in front of its name */
    const char *text;  /* the value */
    qn_status status;  /* that a wrong value gives */
    qn_les_config *to;
    qn_err *err;
} setting;

static qn_status fail_not(const setting *s, const char *what)
{
    return qn_fail(s->err, s->status, "%s%s: '%.80s' is not %s", s->where,
                   name_in(s->where, s->option), s->text, what);
}

static qn_status put_choice(const setting *s, int *to)
{
    const size_t len = strlen(s->text);
    char list[160], *end = list;
    int i = 0;

    for (const char *at = s->option->value; *at; i++) {
        const size_t n = strcspn(at, "|");

        if (n == len && memcmp(at, s->text, n) == 0) {
            *to = i;
            return QN_OK;
        }
        end +=
            snprintf(end, sizeof list - (size_t)(end - list), "%s%.*s", i ? ", " : "", (int)n, at);
        at += n + (at[n] == '|');
    }
    char what[200];
    snprintf(what, sizeof what, "one of %s", list);
    return fail_not(s, what);
}

static qn_status check_range(const setting *s, double value)
{
    const qn_les_option *option = s->option;

    if (value < option->min)
        return qn_fail(s->err, s->status, "%s%s: %.80s is below the least value, %.10g", s->where,
                       name_in(s->where, option), s->text, option->min);
    if (value > option->max)
        return qn_fail(s->err, s->status, "%s%s: %.80s is above the largest value, %.10g", s->where,
                       name_in(s->where, option), s->text, option->max);
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

static qn_status put_int(const setting *s, int *to)
{
    long long value;
    qn_status st;

    if (!parse_whole(s->text, &value))
        return fail_not(s, "a whole number");
    if ((st = check_range(s, (double)value)) == QN_OK)
        *to = (int)value;
    return st;
}

static qn_status put_seed(const setting *s, uint64_t *to)
{
    long long value;

    if (!parse_whole(s->text, &value) || value < 0)
        return fail_not(s, "a whole number from 0 to 9223372036854775807");
    *to = (uint64_t)value;
    return QN_OK;
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

static qn_status put_real(const setting *s, double *to)
{
    double value;
    qn_status st;

    if (!parse_real(s->text, &value))
        return fail_not(s, "a number");
    if ((st = check_range(s, value)) == QN_OK)
        *to = value;
    return st;
}

static qn_status put(const setting *s)
{
    void *to = (char *)s->to + s->option->offset;

    switch (s->option->kind) {
    case QN_LES_CHOICE:
        return put_choice(s, to);
    case QN_LES_INT:
    case QN_LES_FLAG:
        return put_int(s, to);
    case QN_LES_REAL:
        return put_real(s, to);
    case QN_LES_SEED:
        return put_seed(s, to);
    case QN_LES_TEXT:
        break;
    }
    if (strlen(s->text) >= QN_LES_TEXT_BYTES)
        return qn_fail(s->err, s->status, "%s%s: %zu bytes exceed the limit of %d", s->where,
                       name_in(s->where, s->option), strlen(s->text), QN_LES_TEXT_BYTES - 1);
    strcpy(to, s->text);
    return QN_OK;
}

/* JSON. */

/* A scalar as the text that a flag would have; NULL when it is none. */
static const char *text_of(const json_t *value, char *room, size_t size)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return json_string_value(value);
    case JSON_INTEGER:
        snprintf(room, size, "%lld", (long long)json_integer_value(value));
        return room;
    case JSON_REAL:
        snprintf(room, size, "%.17g", json_real_value(value));
        return room;
    case JSON_TRUE:
        return "1";
    case JSON_FALSE:
        return "0";
    default:
        return NULL;
    }
}

/* "2*pi" for the multiples of pi, which no decimal number says exactly. */
static json_t *real_json(double value)
{
    const double times = value / M_PI;
    char text[32];

    if (times >= 1 && times <= 64 && times == rint(times) && times * M_PI == value) {
        snprintf(text, sizeof text, "%.0f*pi", times);
        return json_string(text);
    }
    return json_real(value);
}

static json_t *option_json(const qn_les_option *option, const void *from)
{
    switch (option->kind) {
    case QN_LES_CHOICE: {
        const char *at = option->value;

        for (int i = *(const int *)from; i > 0; i--)
            at += strcspn(at, "|") + 1;
        return json_stringn(at, strcspn(at, "|"));
    }
    case QN_LES_INT:
        return json_integer(*(const int *)from);
    case QN_LES_FLAG:
        return json_boolean(*(const int *)from);
    case QN_LES_REAL:
        return real_json(*(const double *)from);
    case QN_LES_SEED:
        return json_integer((json_int_t) * (const uint64_t *)from);
    case QN_LES_TEXT:
        break;
    }
    return qn_json_text(from);
}

/* Left out: an empty text, and the time step of a run that has no fixed one. */
static int is_silent(const qn_les_config *config, const qn_les_option *option)
{
    const char *from = (const char *)config + option->offset;

    if (option->kind == QN_LES_TEXT)
        return !from[0];
    return from == (const char *)&config->dt && config->dt_mode == QN_LES_DT_CFL;
}

json_t *qn_les_config_json(const qn_les_config *config)
{
    json_t *root = json_object();

    for (const qn_les_option *option = qn_les_options; root && option->key; option++) {
        if (is_silent(config, option))
            continue;
        /* Takes the value over; NULL in it is an error. */
        if (json_object_set_new(root, option->key,
                                option_json(option, (const char *)config + option->offset)) != 0) {
            json_decref(root);
            root = NULL;
        }
    }
    return root;
}

/* Making. */

/* The defaults of the profile that the pairs name, else the file, else of quern. */
static qn_status put_defaults(const json_t *root, const char *where, const char *const *pairs,
                              qn_les_config *config, qn_err *err)
{
    const char *in_file = json_string_value(json_object_get(root, "profile"));
    setting s = { .option = qn_les_options,
                  .where = "--",
                  .text = "quern",
                  .to = config,
                  .status = QN_ERR_USAGE,
                  .err = err };
    qn_status st = QN_OK;

    if (in_file) {
        s.where = where;
        s.text = in_file;
        s.status = QN_ERR_INPUT;
    }
    for (; pairs && pairs[0]; pairs += 2) {
        if (!is_same_name(pairs[0], "profile"))
            continue;
        s.where = "--";
        s.text = pairs[1];
        s.status = QN_ERR_USAGE;
    }
    QN_TRY(put(&s));

    const int profile = config->profile;
    for (; s.option->key; s.option++) {
        s.text = s.option->defaults[profile];
        QN_TRY(put(&s));
    }
out:
    return st;
}

static qn_status put_file(const char *where, json_t *root, qn_les_config *config,
                          unsigned char *given, qn_err *err)
{
    char room[40];
    const char *key;
    json_t *value;

    json_object_foreach(root, key, value)
    {
        setting s = { .option = qn_les_option_find(key),
                      .where = where,
                      .status = QN_ERR_INPUT,
                      .to = config,
                      .err = err };

        if (!s.option)
            return fail_unknown(where, key, QN_ERR_INPUT, err);
        if (!(s.text = text_of(value, room, sizeof room)))
            return qn_fail(err, QN_ERR_INPUT, "%s%s: the value is neither a number nor a text",
                           where, s.option->key);
        const qn_status st = put(&s);
        if (st != QN_OK)
            return st;
        given[s.option - qn_les_options] = 1;
    }
    return QN_OK;
}

static qn_status put_pairs(const char *const *pairs, qn_les_config *config, unsigned char *given,
                           qn_err *err)
{
    for (; pairs && pairs[0]; pairs += 2) {
        const setting s = { .option = qn_les_option_find(pairs[0]),
                            .where = "--",
                            .text = pairs[1],
                            .status = QN_ERR_USAGE,
                            .to = config,
                            .err = err };

        if (!s.option)
            return fail_unknown("--", pairs[0], QN_ERR_USAGE, err);
        const qn_status st = put(&s);
        if (st != QN_OK)
            return st;
        given[s.option - qn_les_options] = 1;
    }
    return QN_OK;
}

qn_status qn_les_config_make(const char *file, const char *const *pairs, qn_les_config *out,
                             qn_err *err)
{
    qn_les_config config = { 0 };
    unsigned char given[N_OPTIONS] = { 0 };
    char where[300];
    json_t *root = NULL;
    qn_status st = QN_OK;

    snprintf(where, sizeof where, "%.280s: ", file ? file : "");
    if (file)
        QN_TRY(qn_json_read(file, &root, err));
    QN_TRY(put_defaults(root, where, pairs, &config, err));
    if (file)
        QN_TRY(put_file(where, root, &config, given, err));
    QN_TRY(put_pairs(pairs, &config, given, err));

#define GIVEN(member) given[qn_les_option_find(#member) - qn_les_options]
    const qn_les_given said = {
        .dt = GIVEN(dt), .dt_mode = GIVEN(dt_mode), .ic = GIVEN(ic), .forcing = GIVEN(forcing)
    };
#undef GIVEN
    QN_TRY(qn_les_settle(&config, &said, err));
    *out = config;
out:
    json_decref(root);
    return st;
}
