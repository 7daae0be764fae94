/* soak.c [BACKENDS] - runs all tools in one process, over and over, for SOAK_S seconds (an hour).
 *
 * Each backend has its own context, which is opened again every tenth round; the CPU checks a fifth
 * of the stages of the others. Results must equal those of the first round on the CPU. Memory, open
 * files and temporary files must not grow.
 */
#include "scenarios.h"

#include "util/clock.h"
#include "util/temp_dir.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { WARM_UP = 20, REOPEN = 10, MAX_GROWTH = 8 << 20, MAX_BACKENDS = 8 };

static uint64_t want[N_SCENARIOS];

static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (!file || fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static int count_entries(const char *folder)
{
    DIR *dir = opendir(folder);
    int n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static int complain(const char *backend, const char *what, const char *why)
{
    fprintf(stderr, "soak: %s, %s: %s\n", backend, what, why);
    return 1;
}

/* One run of each tool. Returns 1 if something is wrong. */
static int run_round(const char *backend, qn_ctx *ctx, const char *tmp)
{
    int failed = 0;

    for (int i = 0; i < N_SCENARIOS; i++) {
        scenario_run run = { .ctx = ctx };
        qn_temp_dir folder;
        qn_err err;

        if (qn_temp_dir_make(&folder, &err) != QN_OK)
            return complain(backend, "folder", err.text);
        run.folder = folder.path;
        if (scenarios[i].run(&run, &err) != QN_OK)
            failed = complain(backend, scenarios[i].name, err.text);
        else if (!want[i])
            want[i] = run.sum;
        else if (run.sum != want[i])
            failed = complain(backend, scenarios[i].name, "the result differs from the first one");
        qn_temp_dir_remove(&folder);
        if (count_entries(tmp) != 2)
            failed = complain(backend, scenarios[i].name, "temporary files are left");
    }
    return failed;
}

static int check_growth(size_t bytes_before, int files_before)
{
    const size_t bytes = resident_bytes();
    const int files = count_entries("/proc/self/fd");

    printf("memory %zu -> %zu KiB, open files %d -> %d\n", bytes_before >> 10, bytes >> 10,
           files_before, files);
    return bytes > bytes_before + MAX_GROWTH || files != files_before;
}

int main(int argc, char **argv)
{
    static char *cpu[] = { "soak", "cpu", "sim" };
    const char *limit = getenv("SOAK_S");
    const double end_us = qn_now_us() + 1e6 * (limit ? atof(limit) : 3600);
    qn_ctx *ctx[MAX_BACKENDS] = { NULL };
    size_t bytes = 0;
    qn_temp_dir tmp;
    qn_err err;
    int files = 0, n_rounds = 0, failed = 0;

    if (argc < 2) {
        argc = 3;
        argv = cpu;
    }
    if (argc > MAX_BACKENDS || qn_temp_dir_make(&tmp, &err) != QN_OK)
        return 2;
    setenv("TMPDIR", tmp.path, 1);
    for (; !failed && (qn_now_us() < end_us || n_rounds <= WARM_UP); n_rounds++) {
        if (n_rounds == WARM_UP) { /* no context is open */
            bytes = resident_bytes();
            files = count_entries("/proc/self/fd");
        }
        for (int i = 1; i < argc && !failed; i++) {
            const qn_options options = QN_OPTIONS(.backend = argv[i], .verify_pct = 20);

            if (!ctx[i] && qn_ctx_open(&options, &ctx[i], &err) != QN_OK)
                failed = complain(argv[i], "context", err.text);
            else
                failed = run_round(argv[i], ctx[i], tmp.path);
            if (n_rounds % REOPEN == REOPEN - 1) {
                qn_ctx_close(ctx[i]);
                ctx[i] = NULL;
            }
        }
    }
    for (int i = 1; i < argc; i++)
        qn_ctx_close(ctx[i]);
    printf("soak: %d rounds of %d runs on each of %d backends\n", n_rounds, N_SCENARIOS, argc - 1);
    if (!failed)
        failed = check_growth(bytes, files);
    qn_temp_dir_remove(&tmp);
    return failed;
}
