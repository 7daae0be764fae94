/* args.c - parses and checks argv, using the option tables of the commands.
 *
 * getopt_long does not fit: options may come before and after the command, two tables are searched
 * at once, and every message names the option, the value and what is allowed.
 */
#include "cli/cli.h"
#include "util/list.h"

#include "util/env.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Finding options. */

/* "--json", or "-o" for an option with only a letter. */
static const char *shown(const qn_opt *opt, char *out, size_t size)
{
    if (opt->name)
        snprintf(out, size, "--%s", opt->name);
    else
        snprintf(out, size, "-%c", opt->letter);
    return out;
}

static int is_word(const char *word, const char *text, size_t len)
{
    return word && strlen(word) == len && memcmp(word, text, len) == 0;
}

static int is_named(const qn_opt *opt, const char *name, size_t len)
{
    if (opt->name)
        return is_word(opt->name, name, len) || is_word(opt->was, name, len);
    return len == 1 && opt->letter == name[0];
}

/* An index into one of the two tables of a command line. */
typedef struct {
    const qn_opt *opt;
    const char **value;
} slot;

static const qn_opt *own_options(const qn_args *args)
{
    static const qn_opt none[] = { { 0 } };

    return args->command && args->command->options ? args->command->options : none;
}

/* The option called `name` (or with `letter` if name is NULL); the command's own options come
 * first. */
static slot find_slot(qn_args *args, const char *name, size_t len, char letter)
{
    const qn_opt *tables[2] = { own_options(args), qn_global_options };
    const char **values[2] = { args->values, args->global_values };

    for (int t = 0; t < 2; t++) {
        for (int i = 0; !qn_opt_is_end(&tables[t][i]); i++) {
            const qn_opt *opt = &tables[t][i];

            assert(i < QN_MAX_OPTS);
            if (name ? is_named(opt, name, len) : opt->letter == letter)
                return (slot){ opt, &values[t][i] };
        }
    }
    return (slot){ NULL, NULL };
}

/* One value of an option that may be given several times. */
typedef struct qn_listed {
    const qn_opt *opt;
    const char *value;
} qn_listed;

/* The last value of an option counts; a list also stores the others. */
static void keep_value(qn_args *args, const slot *s, const char *value)
{
    *s->value = value;
    if (s->opt->is_list)
        args->listed[args->n_listed++] = (qn_listed){ s->opt, value };
}

/* Suggestions. */

enum { MAX_WORD = 40 }; /* longest name shown */

static qn_status fail_unknown_option(const qn_args *args, const char *name, size_t len, qn_err *err)
{
    const char *names[2 * QN_MAX_OPTS + 1];
    const qn_opt *tables[2] = { own_options(args), qn_global_options };
    char word[MAX_WORD + 1];
    int n = 0;

    for (int t = 0; t < 2; t++)
        for (const qn_opt *opt = tables[t]; !qn_opt_is_end(opt); opt++)
            if (opt->name)
                names[n++] = opt->name;
    names[n] = NULL;

    snprintf(word, sizeof word, "%.*s", (int)len, name);
    const char *close = qn_closest(word, names);
    if (close)
        return qn_fail(err, QN_ERR_USAGE, "unknown option --%.*s; did you mean --%s?", (int)len,
                       name, close);
    return qn_fail(err, QN_ERR_USAGE, "unknown option --%.*s", (int)len, name);
}

/* Values. */

/* Whether `value` is one of "auto|on|off". */
static int is_choice(const char *choices, const char *value)
{
    const size_t len = strlen(value);

    for (const char *at = choices; *at;) {
        const size_t n = strcspn(at, "|");

        if (n == len && memcmp(at, value, n) == 0)
            return 1;
        at += n + (at[n] == '|');
    }
    return 0;
}

static qn_status fail_choice(const char *name, const qn_opt *opt, const char *value, qn_err *err)
{
    char list[200];
    size_t n = 0;

    for (const char *c = opt->value; *c && n + 3 < sizeof list; c++) {
        if (*c == '|')
            list[n++] = ',';
        list[n++] = *c == '|' ? ' ' : *c;
    }
    list[n] = 0;
    return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not one of %s", name, value, list);
}

static int in_bounds(const qn_opt *opt, double value)
{
    if (!opt->min && !opt->max)
        return 1;
    return value >= (double)opt->min && value <= (double)opt->max;
}

static int parse_int(const qn_opt *opt, const char *text, qn_i64 *out)
{
    char *end;

    if (text[0] != '-' && (text[0] < '0' || text[0] > '9'))
        return 0;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno || *end || end == text)
        return 0;
    *out = value;
    return (!opt->min && !opt->max) || (value >= opt->min && value <= opt->max);
}

static int parse_real(const qn_opt *opt, const char *text, double *out)
{
    char *end;

    if (!strchr("-.0123456789", text[0]))
        return 0;
    *out = strtod(text, &end);
    return !*end && end != text && in_bounds(opt, *out);
}

/* `name` is the option or variable that the user set. */
static qn_status check_value(const qn_opt *opt, const char *name, const char *value, qn_err *err)
{
    qn_i64 whole;
    double real;
    const int is_number = opt->kind == QN_OPT_INT || opt->kind == QN_OPT_REAL;

    if (opt->kind == QN_OPT_CHOICE && !is_choice(opt->value, value))
        return fail_choice(name, opt, value, err);
    if ((opt->kind == QN_OPT_INT && !parse_int(opt, value, &whole)) ||
        (opt->kind == QN_OPT_REAL && !parse_real(opt, value, &real))) {
        if (opt->min || opt->max)
            return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not a number between %lld and %lld",
                           name, value, (long long)opt->min, (long long)opt->max);
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not a %snumber", name, value,
                       opt->kind == QN_OPT_INT ? "whole " : "");
    }
    if (!is_number && !*value && opt->kind != QN_OPT_FLAG)
        return qn_fail(err, QN_ERR_USAGE, "%s: the value is empty", name);

    const char *wrong = opt->check ? opt->check(value) : NULL;
    if (wrong)
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' %s", name, value, wrong);
    return QN_OK;
}

typedef struct {
    const qn_command *const *commands;
    char **argv;
    int argc, i; /* argv[i] is being parsed */
    qn_args *args;
} parser;

/* Old spellings work for one version. */

static void note_old(qn_args *args, const char *was, const char *is)
{
    qn_str_addf(&args->notices, "quern %s: --%s is now %s; the old spelling will be removed\n",
                args->title, was, is);
}

/* Takes the next word as the value of an option. */
static qn_status next_word(parser *p, const char *name, const char **out, qn_err *err)
{
    const char *next = p->i + 1 < p->argc ? p->argv[p->i + 1] : NULL;

    if (!next || strncmp(next, "--", 2) == 0)
        return qn_fail(err, QN_ERR_USAGE, "%s needs a value", name);
    p->i++;
    *out = next;
    return QN_OK;
}

static qn_status take_long(parser *p, qn_err *err)
{
    qn_status st = QN_OK;
    const char *name = p->argv[p->i] + 2;
    const size_t len = strcspn(name, "=");
    const slot s = find_slot(p->args, name, len, 0);
    const char *value = name[len] ? name + len + 1 : NULL;
    char label[MAX_WORD + 3];

    if (!s.opt || !s.opt->name)
        return fail_unknown_option(p->args, name, len, err);
    shown(s.opt, label, sizeof label);
    if (is_word(s.opt->was, name, len))
        note_old(p->args, s.opt->was, label);
    if (s.opt->kind == QN_OPT_FLAG) {
        if (value)
            return qn_fail(err, QN_ERR_USAGE, "%s takes no value", label);
        *s.value = "1";
        return QN_OK;
    }
    if (!value)
        QN_TRY(next_word(p, label, &value, err));
    QN_TRY(check_value(s.opt, label, value, err));
    keep_value(p->args, &s, value);
out:
    return st;
}

/* "-v", "-o FILE", "-oFILE"; flags may share one dash. */
static qn_status take_letters(parser *p, qn_err *err)
{
    qn_status st = QN_OK;
    const char *word = p->argv[p->i];

    for (const char *c = word + 1; *c; c++) {
        const slot s = find_slot(p->args, NULL, 0, *c);
        const char *value = c[1] ? c + 1 : NULL;
        const char label[] = { '-', *c, 0 };

        if (!s.opt)
            return qn_fail(err, QN_ERR_USAGE, "unknown option %s in '%s'", label, word);
        if (s.opt->kind == QN_OPT_FLAG) {
            *s.value = "1";
            continue;
        }
        if (!value)
            QN_TRY(next_word(p, label, &value, err));
        QN_TRY(check_value(s.opt, label, value, err));
        keep_value(p->args, &s, value);
        break;
    }
out:
    return st;
}

/* Lists the names in a table of commands: "run, bench, pipe". */
static void list_names(const qn_command *const *commands, char *out, size_t size)
{
    size_t n = 0;

    out[0] = 0;
    for (int i = 0; commands[i] && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "", commands[i]->name);
}

static qn_status pick(const qn_command *const *commands, const char *word, const char *what,
                      const qn_command **out, qn_err *err)
{
    const char *names[QN_MAX_OPTS + 1];
    char list[200];
    int n = 0;

    for (; commands[n]; n++) {
        assert(n < QN_MAX_OPTS);
        names[n] = commands[n]->name;
        if (strcmp(names[n], word) == 0) {
            *out = commands[n];
            return QN_OK;
        }
    }
    names[n] = NULL;

    const char *close = qn_closest(word, names);
    list_names(commands, list, sizeof list);
    if (close)
        return qn_fail(err, QN_ERR_USAGE, "unknown %s '%s'; did you mean %s?", what, word, close);
    return qn_fail(err, QN_ERR_USAGE, "unknown %s '%s'; there are: %s", what, word, list);
}

/* Verbs that have moved to another command. */
static const struct {
    const char *parent, *was, *now[2];
} moved[] = {
    { "arc", "make", { "make", "programs" } },
    { "fit", "mesh", { "make", "mesh" } },
};

static const qn_command *find(const qn_command *const *commands, const char *name)
{
    for (; *commands; commands++)
        if (!strcmp((*commands)->name, name))
            return *commands;
    return NULL;
}

/* Finds the verb `word` of the command in args->command. */
static qn_status take_verb(parser *p, const char *word, qn_err *err)
{
    qn_args *args = p->args;
    const qn_command *parent = args->command, *verb = NULL;
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        if (!strcmp(parent->name, moved[i].parent) && !strcmp(word, moved[i].was)) {
            parent = find(p->commands, moved[i].now[0]);
            word = moved[i].now[1];
            qn_str_addf(&args->notices,
                        "quern: '%s %s' is now '%s %s'; the old spelling will be removed\n",
                        moved[i].parent, moved[i].was, moved[i].now[0], word);
        }
    QN_TRY(pick(parent->verbs, word, "verb", &verb, err));
    args->parent = parent;
    args->command = verb;
    snprintf(args->title, sizeof args->title, "%s %s", parent->name, verb->name);
out:
    return st;
}

static qn_status take_word(parser *p, qn_err *err)
{
    qn_status st = QN_OK;
    qn_args *args = p->args;
    const char *word = p->argv[p->i];
    const qn_command *found = NULL;
    const int names_command = !args->command || args->command->verbs;

    /* Many users try `quern help tasks run` first. */
    if (names_command && !strcmp(word, "help")) {
        args->help = 1;
        return QN_OK;
    }
    if (!args->command) {
        QN_TRY(pick(p->commands, word, "command", &found, err));
        args->command = found;
        snprintf(args->title, sizeof args->title, "%s", found->name);
    } else if (args->command->verbs) {
        QN_TRY(take_verb(p, word, err));
    } else {
        args->words[args->n_words++] = word;
    }
out:
    return st;
}

static qn_status check_words(const qn_args *args, qn_err *err)
{
    const qn_command *command = args->command;
    char list[200];

    if (!command)
        return qn_fail(err, QN_ERR_USAGE, "no command given");
    if (command->verbs) {
        list_names(command->verbs, list, sizeof list);
        return qn_fail(err, QN_ERR_USAGE, "no verb given; there are: %s", list);
    }
    if (args->n_words < command->min_words)
        return qn_fail(err, QN_ERR_USAGE, "%s is missing", command->words);
    if (args->n_words > command->max_words)
        return qn_fail(err, QN_ERR_USAGE, "unexpected argument '%s'",
                       args->words[command->max_words]);
    return QN_OK;
}

/* Options that were not given take their values from variables. An empty variable counts as
 * unset. */
static qn_status take_environment(const qn_opt *options, const char **values, qn_err *err)
{
    qn_status st = QN_OK;

    for (int i = 0; !qn_opt_is_end(&options[i]); i++) {
        const char *value = options[i].env && !values[i] ? qn_env(options[i].env) : NULL;

        if (!value)
            continue;
        QN_TRY(check_value(&options[i], options[i].env, value, err));
        values[i] = value;
    }
out:
    return st;
}

static qn_status take_all(parser *p, qn_err *err)
{
    qn_status st = QN_OK;
    int only_words = 0;

    for (p->i = 1; p->i < p->argc; p->i++) {
        const char *word = p->argv[p->i];

        if (only_words || word[0] != '-' || !word[1])
            QN_TRY(take_word(p, err));
        else if (strcmp(word, "--") == 0)
            only_words = 1;
        else if (word[1] == '-')
            QN_TRY(take_long(p, err));
        else
            QN_TRY(take_letters(p, err));
    }
out:
    return st;
}

qn_status qn_args_parse(const qn_command *const *commands, int argc, char **argv, qn_args *out,
                        qn_err *err)
{
    qn_status st = QN_OK;
    parser p = { .commands = commands, .argv = argv, .argc = argc, .args = out };

    *out = (qn_args){ 0 };
    QN_TRY(QN_NEW(out->words, (size_t)argc + 1, "words of the command line", err));
    QN_TRY(QN_NEW(out->listed, (size_t)argc + 1, "words of the command line", err));
    QN_TRY(take_all(&p, err));

    /* Help must work even if the environment or the rest of the line is wrong. */
    out->help |= qn_flag(out, "help");
    out->version = qn_flag(out, "version");
    if (out->help || out->version)
        goto out;
    QN_TRY(check_words(out, err));
    QN_TRY(take_environment(qn_global_options, out->global_values, err));
    QN_TRY(take_environment(own_options(out), out->values, err));
    qn_globals_read(out);
out:
    return st;
}

void qn_args_free(qn_args *args)
{
    free(args->words);
    free(args->listed);
    qn_str_free(&args->notices);
    args->words = NULL;
    args->listed = NULL;
}

/* Reading values. */

static slot must_find(const qn_args *args, const char *name)
{
    /* The cast is for find_slot, which takes a writable struct; nothing is written here. */
    const slot s = find_slot((qn_args *)args, name, strlen(name), 0);

    assert(s.opt && "option is in no table");
    return s;
}

int qn_has_option(const qn_args *args, const char *name)
{
    return find_slot((qn_args *)args, name, strlen(name), 0).opt != NULL;
}

int qn_given(const qn_args *args, const char *name)
{
    return *must_find(args, name).value != NULL;
}

int qn_flag(const qn_args *args, const char *name)
{
    const slot s = must_find(args, name);

    assert(s.opt->kind == QN_OPT_FLAG);
    return *s.value != NULL;
}

const char *qn_text(const qn_args *args, const char *name)
{
    const slot s = must_find(args, name);

    assert(s.opt->kind != QN_OPT_FLAG);
    return *s.value ? *s.value : s.opt->fallback;
}

const char *qn_list(const qn_args *args, const char *name, int k)
{
    const slot s = must_find(args, name);

    assert(s.opt->is_list);
    for (int i = 0; i < args->n_listed; i++)
        if (args->listed[i].opt == s.opt && k-- == 0)
            return args->listed[i].value;
    return NULL;
}

qn_i64 qn_int(const qn_args *args, const char *name)
{
    const char *text = qn_text(args, name);

    return text ? strtoll(text, NULL, 10) : 0;
}

double qn_real(const qn_args *args, const char *name)
{
    const char *text = qn_text(args, name);

    return text ? strtod(text, NULL) : 0.0;
}
