/* fuzz.c - the table of readers, and one input for one of them.
 *
 * With clang's libFuzzer this is the whole program (scripts/fuzz); without it main.c changes inputs
 * itself.
 */
#include "run.h"

#include <sys/resource.h>
#include <unistd.h>

static const fuzz_reader *const tables[] = { fuzz_util, fuzz_engine, fuzz_results, fuzz_solweig,
                                             fuzz_les,  fuzz_fit,    fuzz_arc };

enum { N_TABLES = sizeof tables / sizeof *tables, LONGEST_S = 20, MOST_RESIDENT_KB = 2 << 20 };

const fuzz_reader *fuzz_reader_at(int i)
{
    for (int t = 0; t < N_TABLES; t++)
        for (const fuzz_reader *r = tables[t]; r->name; r++)
            if (i-- == 0)
                return r;
    return NULL;
}

const fuzz_reader *fuzz_reader_find(const char *name)
{
    const fuzz_reader *r;

    for (int i = 0; (r = fuzz_reader_at(i)); i++)
        if (!strcmp(r->name, name))
            return r;
    return NULL;
}

static const char *folder;

void fuzz_begin(const char *path)
{
    folder = path;
}

void fuzz_make_folder(qn_temp_dir *dir)
{
    qn_err err;

    if (access("/dev/shm", W_OK) == 0) /* in memory, since readers sync files */
        setenv("TMPDIR", "/dev/shm", 1);
    fuzz_ok(qn_temp_dir_make(dir, &err), &err);
}

static const char *path_of(const fuzz_reader *reader)
{
    static char path[1200];

    snprintf(path, sizeof path, "%s/%s", folder, reader->file ? reader->file : "input");
    return path;
}

/* The file is created again each time, so that its reader may rename or remove it. */
static void write_input(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *file;

    unlink(path);
    file = fopen(path, "wb");
    fuzz_must(file && fwrite(bytes, 1, n, file) == n, "an input cannot be written");
    fclose(file);
}

char *fuzz_seed(const fuzz_reader *reader, size_t *n)
{
    const char *path = path_of(reader);
    char *bytes;
    FILE *file;

    unlink(path);
    reader->seed(path);
    if (!(file = fopen(path, "rb")))
        return NULL; /* a format that this machine cannot write */
    fuzz_must((bytes = malloc(FUZZ_MOST_BYTES)) != NULL, "no memory");
    *n = fread(bytes, 1, FUZZ_MOST_BYTES, file);
    fclose(file);
    return bytes;
}

static void check_sentence(const qn_err *err)
{
    fuzz_must(err->status != QN_OK && err->text[0], "a failure without a sentence");
    for (const char *c = err->text; *c; c++)
        fuzz_must((unsigned char)*c >= 0x20 || *c == '\t', "a sentence with control characters");
}

qn_status fuzz_one(const fuzz_reader *reader, const uint8_t *bytes, size_t n, qn_err *err)
{
    const char *path = reader->file ? path_of(reader) : NULL;
    uint8_t *copy = malloc(n + 1); /* exactly that many, so that reading past the end is noticed */
    struct rusage used;
    qn_status st;

    fuzz_must(copy != NULL, "no memory");
    memcpy(copy, bytes, n);
    copy[n] = 0; /* as after every file that is read */
    if (reader->mend)
        reader->mend(copy, n);
    if (path)
        write_input(path, copy, n);
    *err = (qn_err){ .status = QN_OK };
    alarm(LONGEST_S);
    st = reader->read(&(fuzz_input){ folder, path, copy, n }, err);
    alarm(0);
    if (st != QN_OK)
        check_sentence(err);
    free(copy);
    getrusage(RUSAGE_SELF, &used);
    fuzz_must(used.ru_maxrss < MOST_RESIDENT_KB, "more than 2 GiB of memory");
    return st;
}

/* Sanitizers: an input of a few kilobytes that asks for a gigabyte is a defect. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=1024:intercept_tls_get_addr=0";
}

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libomp\nleak:libgdal\n";
}

#ifdef QN_FUZZ
/* libFuzzer passes options with two dashes on to the program. */
static const fuzz_reader *chosen;
static qn_temp_dir own;

static void remove_own(void)
{
    qn_temp_dir_remove(&own);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *seeds = NULL;
    char path[1200], *seed;
    size_t n;

    for (int i = 1; i < *argc; i++) {
        for (int k = 0; !strcmp((*argv)[i], "--list") && fuzz_reader_at(k); k++)
            puts(fuzz_reader_at(k)->name);
        if (!strcmp((*argv)[i], "--list"))
            exit(0);
        if (!strncmp((*argv)[i], "--reader=", 9))
            chosen = fuzz_reader_find((*argv)[i] + 9);
        if (!strncmp((*argv)[i], "--seeds=", 8))
            seeds = (*argv)[i] + 8;
    }
    fuzz_must(
        chosen != NULL,
        "usage: fuzz --list | --reader=NAME [--seeds=FOLDER] [OPTION OF LIBFUZZER]... FOLDER...");
    fuzz_make_folder(&own);
    fuzz_begin(own.path);
    atexit(remove_own);
    if (seeds && chosen->seed && (seed = fuzz_seed(chosen, &n))) {
        snprintf(path, sizeof path, "%s/made", seeds);
        write_input(path, (const uint8_t *)seed, n);
        free(seed);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    qn_err err;

    (void)fuzz_one(chosen, bytes, n, &err);
    return 0;
}
#endif
