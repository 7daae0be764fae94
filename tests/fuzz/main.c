/* main.c - runs readers without libFuzzer, on seeds, inputs that once found a defect, and changed
 * versions of both.
 *
 * usage: fuzz [--seconds=S] [--inputs=N] [--seed=N] [--max-len=BYTES] [--jobs=N]
 *             [READER [FILE...]]
 *
 * Every reader gets the files in corpus/NAME and found/NAME and then N changed ones, or more within
 * its share of the seconds. Input number i of a reader depends only on the seed and i. Each reader
 * runs in its own process; if it dies, its last input is saved as fuzz-NAME.input, and `fuzz NAME
 * fuzz-NAME.input` repeats it.
 */
#include "run.h"

#include "util/clock.h"
#include "util/file.h"
#include "util/folder.h"
#include "util/hash.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SEEDS = 256, MOST_JOBS = 64 };

typedef struct settings {
    double seconds; /* in total; later, per reader */
    uint64_t inputs;
    uint64_t seed;
    size_t max_len;
    int jobs;
    const fuzz_reader *only;
    char **files; /* instead of its seeds */
    int n_files;
} settings;

typedef struct sample {
    uint8_t bytes[FUZZ_MOST_BYTES];
    size_t n;
} sample;

static sample *seeds;
static size_t n_seeds;

static void add_seed(const void *bytes, size_t n)
{
    if (n_seeds == MOST_SEEDS || n > FUZZ_MOST_BYTES)
        return;
    memcpy(seeds[n_seeds].bytes, bytes, n);
    seeds[n_seeds++].n = n;
}

static void add_file(const char *path)
{
    char *bytes;
    size_t n;
    qn_err err;

    fuzz_ok(qn_file_read(path, &bytes, &n, &err), &err);
    fuzz_must(n <= FUZZ_MOST_BYTES, "an input of more than 64 KB");
    add_seed(bytes, n);
    free(bytes);
}

static void add_folder(const char *kind, const fuzz_reader *reader)
{
    const char *root = getenv("QUERN_SOURCE_DIR");
    char path[2400];
    qn_folder files = { 0 };

    snprintf(path, sizeof path, "%s/tests/fuzz/%s/%s", root ? root : ".", kind, reader->name);
    if (qn_is_folder(path) && qn_folder_list(path, &files, NULL) == QN_OK)
        for (size_t i = 0; i < files.n; i++) {
            snprintf(path, sizeof path, "%s/tests/fuzz/%s/%s/%s", root ? root : ".", kind,
                     reader->name, files.files[i]);
            add_file(path);
        }
    qn_folder_free(&files);
}

/* Changes. */

static uint64_t state, drawn;

static uint64_t draw(uint64_t below)
{
    return below ? qn_random_u64(state, drawn++) % below : 0;
}

/* Replaces `gone` bytes at `at` by `n` others. */
static void splice(sample *s, size_t at, size_t gone, const void *bytes, size_t n, size_t max_len)
{
    if (at + gone > s->n || s->n - gone + n > max_len)
        return;
    memmove(s->bytes + at + n, s->bytes + at + gone, s->n - at - gone);
    memcpy(s->bytes + at, bytes, n);
    s->n += n - gone;
}

static void put_number(sample *s, size_t at)
{
    static const uint64_t numbers[] = { 0,          1,          0x7f,       0x80,
                                        0xff,       0x7fff,     0xffff,     0x7fffffff,
                                        0x80000000, 0xffffffff, 1ull << 62, ~0ull };
    static const size_t sizes[] = { 1, 2, 4, 8 };
    const uint64_t number = numbers[draw(sizeof numbers / sizeof *numbers)];
    const size_t n = sizes[draw(4)];

    if (at + n <= s->n)
        memcpy(s->bytes + at, &number, n);
}

static void put_word(sample *s, size_t at, size_t max_len)
{
    static const char *const words[] = {
        "0",
        "-1",
        "1e300",
        "-1e300",
        "1e-320",
        "nan",
        "inf",
        "-999",
        "99999999999999999999",
        "0x10",
        "\"",
        "\\",
        "{",
        "[[[[[[",
        "null",
        "/",
        "..",
        "\n",
        "\r",
        "\t",
        ",",
        ";",
        ":",
        "#",
        "  ",
        "\x1b",
        "\xff\xfe",
        "(",
        "true",
        "{}",
        "\xe2\x82",
        "2147483648",
        "4294967296",
        "1e19",
        "-0.0",
        "def ",
        "return ",
        "env.do_pile(",
        "first(",
        ".ok and ",
    };
    const char *word = words[draw(sizeof words / sizeof *words)];

    splice(s, at,
           draw(3) ? 0 : strspn((const char *)s->bytes + at, "0123456789.-+eE") % (s->n - at + 1),
           word, strlen(word), max_len);
}

static void change(sample *s, size_t max_len)
{
    const size_t at = draw(s->n + 1), n = 1 + draw(draw(4) ? 16 : 200);
    const sample *other = &seeds[draw(n_seeds)];
    const size_t from = draw(other->n + 1);
    uint8_t byte = (uint8_t)draw(256);

    s->bytes[s->n < FUZZ_MOST_BYTES ? s->n : FUZZ_MOST_BYTES - 1] = 0; /* for strspn */
    switch (draw(8)) {
    case 0:
        splice(s, at, 1, &byte, 1, max_len);
        break;
    case 1:
        if (at < s->n)
            s->bytes[at] ^= (uint8_t)(1u << draw(8));
        break;
    case 2:
        splice(s, at, n, "", 0, max_len);
        break;
    case 3:
        splice(s, at, 0, &byte, 1, max_len);
        break;
    case 4: /* a piece of this or another seed */
        splice(s, at, draw(2) ? n : 0, other->bytes + from,
               n < other->n - from ? n : other->n - from, max_len);
        break;
    case 5:
        put_number(s, at);
        break;
    case 6:
        put_word(s, at, max_len);
        break;
    default:
        if (draw(10) == 0)
            s->n = at;
    }
}

/* One reader, in a process of its own. */

/* The input is written to a file before it is read, in case this process dies of it. */
static int try_input(const fuzz_reader *reader, const char *kept, const sample *s, int is_told)
{
    FILE *file = fopen(kept, "wb");
    qn_err err;
    qn_status st;

    fuzz_must(file && fwrite(s->bytes, 1, s->n, file) == s->n, "an input cannot be kept");
    fclose(file);
    st = fuzz_one(reader, s->bytes, s->n, &err);
    if (is_told)
        printf("%s: %s\n", reader->name, st == QN_OK ? "taken" : err.text);
    return st == QN_OK;
}

static void collect_seeds(const fuzz_reader *reader, const settings *o)
{
    size_t n = 0;
    char *seed = reader->seed ? fuzz_seed(reader, &n) : NULL;

    for (int i = 0; i < o->n_files; i++)
        add_file(o->files[i]);
    if (o->n_files)
        return;
    add_folder("corpus", reader);
    add_folder("found", reader);
    if (seed)
        add_seed(seed, n);
    free(seed);
}

static void run_reader(const fuzz_reader *reader, const settings *o, const char *folder,
                       const char *kept)
{
    const double end = qn_now_us() + 1e6 * o->seconds;
    static sample now;
    uint64_t i = 0, n_taken = 0;

    fuzz_must(mkdir(folder, 0700) == 0, "no folder for inputs");
    fuzz_begin(folder);
    collect_seeds(reader, o);
    fuzz_must(n_seeds || reader->seed, "no seeds");
    for (size_t k = 0; k < n_seeds; k++)
        n_taken += (uint64_t)try_input(reader, kept, &seeds[k], o->n_files);
    fuzz_must(n_taken || !n_seeds || o->n_files, "no seed is taken");
    for (; n_seeds && (i < o->inputs || qn_now_us() < end); i++) {
        size_t max_len;

        state = qn_random_u64(o->seed + qn_fnv1a64(reader->name, strlen(reader->name)), i);
        drawn = 0;
        now = seeds[draw(n_seeds)];
        max_len = now.n > o->max_len ? now.n : o->max_len; /* a seed that is cut is not taken */
        for (uint64_t k = 1 + draw(draw(3) ? 2 : 8); k-- > 0;)
            change(&now, max_len);
        n_taken += (uint64_t)try_input(reader, kept, &now, 0);
    }
    printf("%-14s %9llu inputs, %3.0f %% taken\n", reader->name, (unsigned long long)(i + n_seeds),
           n_seeds ? 100 * (double)n_taken / (double)(i + n_seeds) : 0);
    exit(0); /* so that the leak check runs */
}

/* All readers. */

typedef struct job {
    pid_t pid;
    const fuzz_reader *reader;
} job;

static void name_kept(const fuzz_reader *reader, const char *root, char *out, size_t size)
{
    snprintf(out, size, "%s/%s.input", root, reader->name);
}

static job start(const fuzz_reader *reader, const settings *o, const char *root)
{
    char folder[1200], kept[1200];
    job j = { .reader = reader };

    snprintf(folder, sizeof folder, "%s/%s", root, reader->name);
    name_kept(reader, root, kept, sizeof kept);
    fflush(stdout);
    if ((j.pid = fork()) == 0)
        run_reader(reader, o, folder, kept);
    fuzz_must(j.pid > 0, "no process");
    return j;
}

/* Waits for any job and removes it from the list; returns 1 if its reader has failed. */
static int finish(job *jobs, int *n_jobs, const char *root)
{
    char kept[1200], name[100], *bytes = NULL;
    const fuzz_reader *reader;
    size_t n = 0;
    int status, i = 0;
    const pid_t pid = wait(&status);
    qn_err err;

    while (i < *n_jobs && jobs[i].pid != pid)
        i++;
    fuzz_must(i < *n_jobs, "a process that nobody started");
    reader = jobs[i].reader;
    jobs[i] = jobs[--*n_jobs];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    name_kept(reader, root, kept, sizeof kept);
    snprintf(name, sizeof name, "fuzz-%s.input", reader->name);
    if (qn_file_read(kept, &bytes, &n, &err) == QN_OK)
        (void)qn_file_write(name, bytes, n, &err);
    free(bytes);
    fprintf(stderr, "fuzz: %s: ended by %s %d; its last input is %s\n", reader->name,
            WIFSIGNALED(status) ? "signal" : "exit code",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), name);
    return 1;
}

static int is_chosen(const fuzz_reader *reader, const settings *o)
{
    return !o->only || reader == o->only;
}

static int run_all(settings *o, const char *root)
{
    job jobs[MOST_JOBS];
    int n_jobs = 0, n_failed = 0, n = 0;
    const fuzz_reader *reader;

    for (int i = 0; (reader = fuzz_reader_at(i)); i++)
        n += is_chosen(reader, o);
    o->seconds *= (double)o->jobs / n;
    for (int i = 0; (reader = fuzz_reader_at(i)); i++) {
        if (!is_chosen(reader, o))
            continue;
        if (n_jobs == o->jobs)
            n_failed += finish(jobs, &n_jobs, root);
        jobs[n_jobs++] = start(reader, o, root);
    }
    while (n_jobs)
        n_failed += finish(jobs, &n_jobs, root);
    printf("%d readers, %d failed\n", n, n_failed);
    return n_failed != 0;
}

static void take_arguments(int argc, char **argv, settings *o)
{
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "--seconds=", 10))
            o->seconds = strtod(argv[i] + 10, NULL);
        else if (!strncmp(argv[i], "--inputs=", 9))
            o->inputs = strtoull(argv[i] + 9, NULL, 10);
        else if (!strncmp(argv[i], "--seed=", 7))
            o->seed = strtoull(argv[i] + 7, NULL, 10);
        else if (!strncmp(argv[i], "--max-len=", 10))
            o->max_len = strtoull(argv[i] + 10, NULL, 10);
        else if (!strncmp(argv[i], "--jobs=", 7))
            o->jobs = atoi(argv[i] + 7);
        else if (!o->only && (o->only = fuzz_reader_find(argv[i])))
            o->files = argv + i + 1;
        else if (o->only)
            o->n_files++;
        else
            o->jobs = 0;
    }
    if (o->max_len > FUZZ_MOST_BYTES || o->jobs < 1 || o->jobs > MOST_JOBS) {
        fprintf(stderr,
                "usage: fuzz [--seconds=S] [--inputs=N] [--seed=N] [--max-len=BYTES] [--jobs=N] "
                "[READER [FILE...]]\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    settings o = { .seed = 1, .max_len = 4096, .jobs = 1 };
    qn_temp_dir root = { .lock = -1 };
    int failed;

    take_arguments(argc, argv, &o);
    fuzz_make_folder(&root);
    fuzz_must((seeds = malloc(MOST_SEEDS * sizeof *seeds)) != NULL, "no memory");
    failed = run_all(&o, root.path);
    free(seeds);
    qn_temp_dir_remove(&root);
    return failed;
}
