/* env.c - the QUERN_* variables and their allowed values. */
#include "util/env.h"

#include "util/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum {
    TEXT,   /* anything; its reader checks it */
    WORD,   /* one of `words` */
    WORDS,  /* a list of these words, separated by commas or blanks */
    PLACES, /* like WORDS, each with an optional :NUMBER */
    WHOLE,  /* a whole number from `least` to `most` */
    REAL,   /* a number above `least` (REAL_FROM: or equal to it) and up to `most` */
    REAL_FROM,
    SIZE,  /* 512M, 8G */
    POWER, /* a size that is a power of two */
    SHARE, /* a size or a percentage */
    FOLDER /* a path that is not a file, and not too long */
} kind;

enum { MOST_PATH = 1023 };

typedef struct variable {
    const char *name;
    kind kind;
    const char *words;
    double least, most;
} variable;

static const variable variables[] = {
    { .name = "QUERN_BACKEND", PLACES, "auto|all|cpu|opencl|cuda|sim" },
    { .name = "QUERN_BUCKET_MIN", POWER },
    { .name = "QUERN_CACHE", WORD, "0|1" },
    { .name = "QUERN_CACHE_DIR", FOLDER },
    { .name = "QUERN_CC", TEXT },
    { .name = "QUERN_CHECKPOINT_S", REAL_FROM, NULL, 0, 1e9 },
    { .name = "QUERN_CHECK_RANGES", WORD, "0|1" },
    { .name = "QUERN_CHOLMOD_LIB", TEXT },
    { .name = "QUERN_CHUNK_ELEMS", WHOLE, NULL, 1, 1099511627776.0 },
    { .name = "QUERN_COMPILE_THREADS", WHOLE, NULL, 0, 1024 },
    { .name = "QUERN_CUDA_LIB", TEXT },
    { .name = "QUERN_DEVICES", PLACES, "auto|all|cpu|opencl|cuda|sim" },
    { .name = "QUERN_DUMP", FOLDER },
    { .name = "QUERN_FALLBACK", WORD, "cpu|error" },
    { .name = "QUERN_FAULT", TEXT },
    { .name = "QUERN_FIT_LIVE", WHOLE, NULL, 0, 100000 },
    { .name = "QUERN_FUSE", WORD, "0|1" },
    { .name = "QUERN_GDAL_LIB", TEXT },
    { .name = "QUERN_HIDE", WORDS, "cpu|opencl|cuda|sim" },
    { .name = "QUERN_HOST_BUDGET", SIZE },
    { .name = "QUERN_KERNELS", TEXT },
    { .name = "QUERN_LOG", WORD, "none|error|warn|info|debug" },
    { .name = "QUERN_MEM_BUDGET", SHARE },
    { .name = "QUERN_NETCDF_LIB", TEXT },
    { .name = "QUERN_NVRTC_LIB", TEXT },
    { .name = "QUERN_OPENCL_LIB", TEXT },
    { .name = "QUERN_OPENCL_SUBDEVICES", WHOLE, NULL, 0, 64 },
    { .name = "QUERN_OVERLAP", WORD, "0|1" },
    { .name = "QUERN_PIPELINE", WHOLE, NULL, 1, 8 },
    { .name = "QUERN_PROFILE", WORD, "0|1" },
    { .name = "QUERN_ROUTE", WORD, "auto|cpu|gpu|balance|static" },
    { .name = "QUERN_SOLWEIG_MAX_TILE_SIDE", WHOLE, NULL, 1, 1e9 },
    { .name = "QUERN_SOLWEIG_MEMMAP_PIXELS", WHOLE, NULL, 0, 1e15 },
    { .name = "QUERN_SOLWEIG_RAM_FRACTION", REAL, NULL, 0, 1 },
    { .name = "QUERN_SPILL_DIR", FOLDER },
    { .name = "QUERN_STATS", WORD, "0|1" },
    { .name = "QUERN_TEAM_LANES", WORD, "8|16|32" },
    { .name = "QUERN_THREADS", WHOLE, NULL, 1, 1024 },
    { .name = "QUERN_TIMING", WORD, "0|1" },
};
enum { N_VARIABLES = sizeof variables / sizeof *variables };

/* Whether the text of length `n` at `at` is one of the words. */
static int is_word(const char *words, const char *at, size_t n)
{
    for (; *words; words += *words == '|') {
        const size_t len = strcspn(words, "|");

        if (len == n && !memcmp(words, at, n))
            return 1;
        words += len;
    }
    return 0;
}

static int are_words(const char *words, const char *at, int may_have_number)
{
    for (at += strspn(at, ", "); *at; at += strspn(at, ", ")) {
        size_t n = strcspn(at, may_have_number ? ":, " : ", ");

        if (!is_word(words, at, n))
            return 0;
        at += n;
        if (*at == ':') {
            n = strspn(++at, "0123456789");
            if (!n || n > 3)
                return 0;
            at += n;
        }
    }
    return 1;
}

static int is_size(const char *text, double *out)
{
    size_t bytes = 0;
    const int failed = qn_parse_bytes(text, &bytes);

    *out = (double)bytes;
    return !failed && bytes;
}

/* A number in plain notation: not hexadecimal, not inf, and with nothing after it. */
static int is_number(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return !text[strspn(text, "+-.0123456789eE")] && end != text && !*end && isfinite(*out);
}

static int is_folder(const char *path)
{
    struct stat at;

    return strlen(path) <= MOST_PATH && (stat(path, &at) || S_ISDIR(at.st_mode));
}

/* Whether the value is allowed. *out gets its number, if it has one. */
static int is_allowed(const variable *v, const char *text, double *out)
{
    *out = 0;
    switch (v->kind) {
    case TEXT:
        return 1;
    case WORD:
        *out = strtod(text, NULL); /* for words that are numbers */
        return is_word(v->words, text, strlen(text));
    case WORDS:
    case PLACES:
        return are_words(v->words, text, v->kind == PLACES);
    case WHOLE:
        return is_number(text, out) && !text[strspn(text, "0123456789")] && *out >= v->least &&
               *out <= v->most;
    case REAL:
        return is_number(text, out) && *out > v->least && *out <= v->most;
    case REAL_FROM:
        return is_number(text, out) && *out >= v->least && *out <= v->most;
    case SIZE:
        return is_size(text, out);
    case POWER:
        return is_size(text, out) && !((size_t)*out & ((size_t)*out - 1));
    case SHARE:
        if (text[strlen(text) - 1] != '%')
            return is_size(text, out);
        *out = strtod(text, NULL);
        return strspn(text, ".0123456789") == strlen(text) - 1 && *out > 0 && *out <= 100;
    case FOLDER:
        return is_folder(text);
    }
    return 0;
}

static qn_status refuse(const variable *v, const char *text, qn_err *err)
{
    const char *const name = v->name;

    switch (v->kind) {
    case WORD:
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not one of %s", name, text, v->words);
    case WORDS:
    case PLACES:
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not a list of words from %s", name, text,
                       v->words);
    case WHOLE:
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not a number between %.15g and %.15g", name,
                       text, v->least, v->most);
    case REAL:
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not a number above %g and up to %g", name,
                       text, v->least, v->most);
    case REAL_FROM:
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not a number from %g to %g", name, text,
                       v->least, v->most);
    case SIZE:
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not a size such as 512M or 8G", name, text);
    case POWER:
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not a power of two", name, text);
    case SHARE:
        return qn_fail(err, QN_ERR_USAGE, "%s: '%s' is not a size such as 512M, 8G or 80%%", name,
                       text);
    default:
        return qn_fail(err, QN_ERR_USAGE,
                       "%s: '%.200s' is not a folder with a path of at most %d bytes", name, text,
                       MOST_PATH);
    }
}

qn_status qn_env_check(qn_err *err)
{
    for (int i = 0; i < N_VARIABLES; i++) {
        const char *text = qn_env(variables[i].name);
        double number;

        if (text && !is_allowed(&variables[i], text, &number))
            return refuse(&variables[i], text, err);
    }
    return QN_OK;
}

const char *qn_env(const char *name)
{
    const char *text = getenv(name);

    return text && *text ? text : NULL;
}

double qn_env_number(const char *name, double otherwise)
{
    const char *text = qn_env(name);
    double number;

    for (int i = 0; text && i < N_VARIABLES; i++)
        if (!strcmp(variables[i].name, name))
            return is_allowed(&variables[i], text, &number) ? number : otherwise;
    return otherwise;
}
