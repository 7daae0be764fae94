/* test_run_folder.c - one owner, names given only at the end, and journals written by others. */
/* test: tsan */
#include "test.h"

#include "util/file.h"
#include "util/folder.h"
#include "util/journal.h"
#include "util/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static qn_status try_open(int resume, const char *plan, qn_run_folder **out)
{
    const qn_run_folder_options options = { .path = in_folder("out"),
                                            .plan = plan,
                                            .resume = resume };

    return qn_run_folder_open(&options, out, &failure);
}

static qn_run_folder *open_run(int resume)
{
    qn_run_folder *f = NULL;

    must(try_open(resume, "plan of a test", &f));
    return f;
}

static qn_status commit(qn_run_folder *f, const char *key, const char *value)
{
    const qn_status st = qn_run_folder_commit(f, key, value, &failure);

    return st == QN_OK ? qn_run_folder_wait(f, &failure) : st;
}

static int is_there(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

static void write_scratch(const qn_run_folder *f, const char *name, const char *text)
{
    char *path = NULL;

    must(qn_run_folder_scratch(f, name, &path, &failure));
    must(qn_file_write(path, text, strlen(text), &failure));
    free(path);
}

static void assert_text(const char *name, const char *want)
{
    char *text = NULL;
    size_t bytes;

    must(qn_file_read(in_folder(name), &text, &bytes, &failure));
    assert_string_equal(text, want);
    free(text);
}

/* Names. */

static void files_have_their_names_after_a_commit(void **state)
{
    qn_run_folder *f = open_run(0);

    (void)state;
    must(qn_run_folder_write(f, "maps/a.png", "map", 3, &failure));
    must(qn_run_folder_write(f, "a.csv", "table", 5, &failure));
    assert_false(is_there("out/maps/a.png") || is_there("out/a.csv"));
    must(commit(f, "steps", "3"));
    assert_text("out/maps/a.png", "map");
    assert_text("out/a.csv", "table");
    assert_true(is_there("out/" QN_RUN_UNFINISHED));
    must(qn_run_folder_finish(f, &failure));
    qn_run_folder_close(f);
    assert_false(is_there("out/" QN_RUN_UNFINISHED));
    assert_true(is_there("out/" QN_RUN_JOURNAL));
}

static void files_may_lie_in_folders_of_folders(void **state)
{
    qn_run_folder *f = open_run(0);

    (void)state;
    must(qn_run_folder_write(f, "a/b/c.csv", "table", 5, &failure));
    must(qn_run_folder_write(f, "a/d.csv", "other", 5, &failure));
    must_fail(qn_run_folder_write(f, QN_RUN_JOURNAL, "", 0, &failure), QN_ERR_INPUT, "is taken");
    must(qn_run_folder_finish(f, &failure));
    qn_run_folder_close(f);
    assert_text("out/a/b/c.csv", "table");
    assert_text("out/a/d.csv", "other");
    f = open_run(0);
    must(qn_run_folder_remove(f, "a/d.csv", &failure));
    must(qn_run_folder_remove(f, "a/d.csv", &failure));
    assert_false(is_there("out/a/d.csv"));
    qn_run_folder_close(f);
}

static void failed_run_without_progress_leaves_nothing(void **state)
{
    qn_run_folder *f = open_run(0);

    (void)state;
    must(qn_run_folder_write(f, "a.csv", "table", 5, &failure));
    qn_run_folder_close(f);
    assert_false(is_there("out"));
}

static void failed_run_keeps_what_was_committed(void **state)
{
    qn_run_folder *f = open_run(0);

    (void)state;
    write_scratch(f, "state.1", "one");
    must(qn_run_folder_keep(f, "state.1", &failure));
    must(qn_run_folder_write(f, "a.csv", "table", 5, &failure));
    must(qn_run_folder_commit(f, "steps", "3", &failure)); /* and no wait */
    must(qn_run_folder_write(f, "b.csv", "table", 5, &failure));
    write_scratch(f, "state.2", "two");
    qn_run_folder_close(f);
    assert_true(is_there("out/a.csv") && !is_there("out/b.csv"));
    assert_true(is_there("out/" QN_RUN_UNFINISHED "/state.1"));
    assert_false(is_there("out/" QN_RUN_UNFINISHED "/state.2"));

    f = open_run(1);
    assert_int_equal(qn_run_folder_state(f), QN_RUN_CONTINUED);
    assert_string_equal(qn_run_folder_fact(f, "steps"), "3");
    assert_null(qn_run_folder_fact(f, "step"));
    write_scratch(f, "state.2", "two");
    must(qn_run_folder_keep(f, "state.2", &failure));
    must(qn_run_folder_forget(f, "state.1", &failure));
    must(commit(f, "steps", "5"));
    assert_false(is_there("out/" QN_RUN_UNFINISHED "/state.1"));
    qn_run_folder_close(f);
    f = open_run(1);
    assert_string_equal(qn_run_folder_fact(f, "steps"), "5");
    qn_run_folder_close(f);
}

static void a_new_run_removes_what_an_unfinished_one_left(void **state)
{
    qn_run_folder *f = open_run(0);

    (void)state;
    write_scratch(f, "state.1", "one");
    must(qn_run_folder_keep(f, "state.1", &failure));
    must(commit(f, "steps", "3"));
    qn_run_folder_close(f);
    f = open_run(0);
    assert_int_equal(qn_run_folder_state(f), QN_RUN_NEW);
    assert_null(qn_run_folder_fact(f, "steps"));
    assert_false(is_there("out/" QN_RUN_UNFINISHED "/state.1"));
    qn_run_folder_close(f);
}

static void an_unfinished_run_of_another_tool_stays(void **state)
{
    qn_run_folder *f = open_run(0), *other = NULL;

    (void)state;
    must(commit(f, "steps", "3"));
    qn_run_folder_close(f);
    must_fail(try_open(0, "planned by another tool", &other), QN_ERR_MISMATCH,
              "a run of plan is unfinished");
    must(try_open(0, "plan of another test", &f));
    assert_true(qn_run_folder_is_shared(f));
    must(qn_run_folder_finish(f, &failure));
    qn_run_folder_close(f);
    must(try_open(0, "planned by another tool", &f));
    assert_true(qn_run_folder_is_shared(f));
    must(qn_run_folder_finish(f, &failure));
    qn_run_folder_close(f);
    must(try_open(0, "planned by another tool", &f));
    assert_false(qn_run_folder_is_shared(f));
    qn_run_folder_close(f);
}

static void what_fails_beside_the_run_fails_a_later_call(void **state)
{
    qn_run_folder *f = open_run(0);
    qn_status st = qn_run_folder_add(f, "gone.csv", &failure);

    (void)state;
    while (st == QN_OK) /* at the latest when there is no room for one more */
        st = qn_run_folder_commit(f, "steps", "3", &failure);
    assert_int_equal(st, QN_ERR_IO);
    assert_non_null(strstr(failure.text, "gone.csv: No such file"));
    must_fail(qn_run_folder_wait(f, &failure), QN_ERR_IO, "gone.csv");
    must_fail(qn_run_folder_finish(f, &failure), QN_ERR_IO, "gone.csv");
    assert_false(qn_run_folder_has_progress(f));
    qn_run_folder_close(f);
    assert_false(is_there("out"));
}

static void a_file_may_be_written_again_before_its_commit(void **state)
{
    qn_run_folder *f = open_run(0);
    char text[8];

    (void)state;
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "%d", i);
        must(qn_run_folder_write(f, "a.csv", text, strlen(text), &failure));
        must(qn_run_folder_write(f, i % 2 ? "b.csv" : "c.csv", text, strlen(text), &failure));
        if (i % 10 == 0)
            must(qn_run_folder_commit(f, "steps", text, &failure));
    }
    must(qn_run_folder_finish(f, &failure));
    qn_run_folder_close(f);
    assert_text("out/a.csv", "99");
    assert_text("out/b.csv", "99");
    assert_text("out/c.csv", "98");
}

/* Continuing. */

static void resuming_starts_a_run_that_never_began(void **state)
{
    qn_run_folder *f = open_run(1);

    (void)state;
    assert_int_equal(qn_run_folder_state(f), QN_RUN_NEW);
    must(qn_run_folder_finish(f, &failure));
    qn_run_folder_close(f);
}

static void resuming_a_finished_run_says_so(void **state)
{
    qn_run_folder *f = open_run(0), *other = NULL;

    (void)state;
    must(qn_run_folder_finish(f, &failure));
    qn_run_folder_close(f);
    f = open_run(1);
    assert_int_equal(qn_run_folder_state(f), QN_RUN_FINISHED);
    qn_run_folder_close(f);
    must_fail(try_open(1, "another", &other), QN_ERR_MISMATCH,
              "it has \"plan\", this one has \"another\"");
}

static void only_the_same_plan_is_continued(void **state)
{
    qn_run_folder *f = open_run(0), *other = NULL;
    char *plan;

    (void)state;
    must(commit(f, "steps", "3"));
    qn_run_folder_close(f);
    must_fail(try_open(1, "another", &other), QN_ERR_MISMATCH, "another");
    must_fail(try_open(0, "two\nlines", &other), QN_ERR_USAGE, "one line");
    plan = qn_run_folder_plan(in_folder("out"));
    assert_string_equal(plan, "plan of a test");
    free(plan);
}

/* Plans of the same first word. */
static qn_status accept_like(void *user, const qn_run_folder *folder, const char *was, qn_err *err)
{
    const char *plan = user;

    if (strcspn(was, " ") == strcspn(plan, " ") && !strncmp(was, plan, strcspn(plan, " ")))
        return QN_OK;
    return qn_run_folder_refuse(folder, was, plan, "do not", err);
}

static qn_status try_go_on(const char *plan, qn_run_folder **out)
{
    const qn_run_folder_options options = { .path = in_folder("out"),
                                            .plan = plan,
                                            .resume = 1,
                                            .accept = accept_like,
                                            .user = (void *)(uintptr_t)plan };

    return qn_run_folder_open(&options, out, &failure);
}

static void a_finished_run_goes_on_with_a_plan_that_is_accepted(void **state)
{
    qn_run_folder *f = open_run(0);
    char *plan;

    (void)state;
    write_scratch(f, "state.1", "one");
    must(qn_run_folder_keep(f, "state.1", &failure));
    must(qn_run_folder_write(f, "a.csv", "table", 5, &failure));
    must(qn_run_folder_commit(f, "steps", "3", &failure));
    must(qn_run_folder_finish(f, &failure));
    qn_run_folder_close(f);
    must_fail(try_go_on("another plan", &f), QN_ERR_MISMATCH,
              "it has \"plan\", this one has \"another\"; do not");

    /* Before its first commit, the folder is that of the run before. */
    must(try_go_on("plan of more", &f));
    assert_int_equal(qn_run_folder_state(f), QN_RUN_CONTINUED);
    assert_string_equal(qn_run_folder_fact(f, "steps"), "3");
    must(qn_run_folder_note(f, "why", "more of it", &failure));
    assert_string_equal(qn_run_folder_fact(f, "why"), "more of it");
    must(qn_run_folder_write(f, "a.csv", "other", 5, &failure));
    qn_run_folder_close(f);
    assert_text("out/a.csv", "table");
    assert_false(is_there("out/" QN_RUN_UNFINISHED));
    f = open_run(1);
    assert_int_equal(qn_run_folder_state(f), QN_RUN_FINISHED);
    assert_null(qn_run_folder_fact(f, "why"));
    qn_run_folder_close(f);

    /* From then on it is that of the new one. */
    must(try_go_on("plan of more", &f));
    must(qn_run_folder_note(f, "why", "more of it", &failure));
    must(qn_run_folder_commit(f, "steps", "4", &failure));
    qn_run_folder_close(f);
    must_fail(try_open(1, "plan of a test", &f), QN_ERR_MISMATCH, "more");
    must(try_open(1, "plan of more", &f));
    assert_int_equal(qn_run_folder_state(f), QN_RUN_CONTINUED);
    assert_string_equal(qn_run_folder_fact(f, "steps"), "4");
    assert_string_equal(qn_run_folder_fact(f, "why"), "more of it");
    plan = qn_run_folder_plan(in_folder("out"));
    assert_string_equal(plan, "plan of more");
    free(plan);
    must(qn_run_folder_finish(f, &failure));
    qn_run_folder_close(f);
    must(try_open(1, "plan of more", &f));
    assert_int_equal(qn_run_folder_state(f), QN_RUN_FINISHED);
    qn_run_folder_close(f);
}

static void a_moved_folder_is_continued(void **state)
{
    const qn_run_folder_options moved = { .path = in_folder("moved"),
                                          .plan = "plan of a test",
                                          .resume = 1 };
    qn_run_folder *f = open_run(0);

    (void)state;
    must(commit(f, "steps", "3"));
    qn_run_folder_close(f);
    assert_int_equal(rename(in_folder("out"), moved.path), 0);
    must(qn_run_folder_open(&moved, &f, &failure));
    assert_string_equal(qn_run_folder_fact(f, "steps"), "3");
    qn_run_folder_close(f);
}

static void a_scratch_file_that_is_cut_short_is_missed(void **state)
{
    qn_run_folder *f = open_run(0), *other = NULL;

    (void)state;
    write_scratch(f, "state.1", "one");
    must(qn_run_folder_keep(f, "state.1", &failure));
    must(commit(f, "steps", "3"));
    qn_run_folder_close(f);
    assert_int_equal(truncate(in_folder("out/" QN_RUN_UNFINISHED "/state.1"), 2), 0);
    must_fail(try_open(1, "plan of a test", &other), QN_ERR_INPUT, "state.1");
}

/* Owners. */

static void a_second_run_is_refused_with_the_process_of_the_first(void **state)
{
    qn_run_folder *f = open_run(0), *other = NULL;
    char pid[32];

    (void)state;
    snprintf(pid, sizeof pid, "process %ld", (long)getpid());
    must_fail(try_open(0, "plan of a test", &other), QN_ERR_IO, pid);
    must_fail(try_open(1, "plan of a test", &other), QN_ERR_IO, pid);
    must(qn_run_folder_write(f, "a.csv", "table", 5, &failure));
    must(qn_run_folder_finish(f, &failure));
    qn_run_folder_close(f);
    assert_text("out/a.csv", "table");
    qn_run_folder_close(open_run(0));
}

static void a_killed_run_is_no_owner(void **state)
{
    const pid_t child = fork();
    qn_run_folder *f;

    (void)state;
    if (child == 0) {
        f = open_run(0);
        if (commit(f, "steps", "3") == QN_OK)
            raise(SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    f = open_run(1);
    assert_string_equal(qn_run_folder_fact(f, "steps"), "3");
    qn_run_folder_close(f);
}

/* Journals. */

/* A journal of an unfinished run with these lines, as anyone could have written it. */
static void write_journal(const char *lines)
{
    qn_journal journal = { .name = "made" };

    must(qn_make_dirs(in_folder("out/" QN_RUN_UNFINISHED), &failure));
    journal.fd = open(in_folder("out/" QN_RUN_JOURNAL), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(journal.fd >= 0);
    must(qn_journal_add(&journal, "plan plan of a test\n", &failure));
    must(qn_journal_add(&journal, lines, &failure));
    close(journal.fd);
}

static void append(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "a");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_line_without_its_end_does_not_count(void **state)
{
    static const char *const tails[] = { "3", "00000000 fact steps 5", "00000000 fact steps 5\n",
                                         "\n", "junk\njunk\n" };

    (void)state;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        qn_run_folder *f;

        write_journal("fact steps 3\n");
        append("out/" QN_RUN_JOURNAL, tails[i]);
        f = open_run(1);
        assert_string_equal(qn_run_folder_fact(f, "steps"), "3");
        must(commit(f, "more", "x"));
        qn_run_folder_close(f);
        f = open_run(1);
        assert_string_equal(qn_run_folder_fact(f, "more"), "x");
        qn_run_folder_close(f);
    }
}

static void damage_before_good_lines_is_refused(void **state)
{
    qn_run_folder *f = NULL;
    FILE *file;

    (void)state;
    write_journal("fact steps 3\nfact more 4\n");
    file = fopen(in_folder("out/" QN_RUN_JOURNAL), "r+");
    assert_non_null(file);
    fseek(file, 40, SEEK_SET);
    fputc('#', file);
    fclose(file);
    must_fail(try_open(1, "plan of a test", &f), QN_ERR_INPUT, QN_RUN_JOURNAL ":2");
}

static void journals_of_strangers_lead_nowhere(void **state)
{
    static const char *const names[] = { "/etc/passwd", "../victim", "a/b", ".hidden", "" };
    qn_run_folder *f = NULL;
    char line[64];

    (void)state;
    must(qn_file_write(in_folder("victim"), "mine", 4, &failure));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(line, sizeof line, "scratch %s 0\n", names[i]);
        write_journal(line);
        must_fail(try_open(1, "plan of a test", &f), QN_ERR_INPUT, "scratch");
        snprintf(line, sizeof line, "forget %s\n", names[i]);
        write_journal(line);
        qn_run_folder_close(open_run(1));
    }
    write_journal("file ../victim\n");
    must_fail(try_open(1, "plan of a test", &f), QN_ERR_INPUT, "not a line");
    assert_text("victim", "mine");
}

static void links_are_not_followed(void **state)
{
    qn_run_folder *f = NULL;

    (void)state;
    must(qn_make_dirs(in_folder("elsewhere"), &failure));
    must(qn_file_write(in_folder("elsewhere/a.png"), "mine", 4, &failure));
    must(qn_make_dirs(in_folder("out"), &failure));
    assert_int_equal(symlink(in_folder("elsewhere"), in_folder("out/maps")), 0);
    f = open_run(0);
    must(qn_run_folder_write(f, "maps/a.png", "map", 3, &failure));
    must_fail(commit(f, "steps", "3"), QN_ERR_IO, "it is a link or no folder");
    qn_run_folder_close(f);
    assert_text("elsewhere/a.png", "mine");

    assert_int_equal(symlink(in_folder("elsewhere"), in_folder("out/" QN_RUN_UNFINISHED)), 0);
    must_fail(try_open(0, "plan of a test", &f), QN_ERR_IO, QN_RUN_UNFINISHED);
    assert_int_equal(unlink(in_folder("out/" QN_RUN_UNFINISHED)), 0);
    unlink(in_folder("out/" QN_RUN_JOURNAL));
    assert_int_equal(symlink(in_folder("elsewhere/a.png"), in_folder("out/" QN_RUN_JOURNAL)), 0);
    must_fail(try_open(0, "plan of a test", &f), QN_ERR_IO, QN_RUN_JOURNAL);
    assert_text("elsewhere/a.png", "mine");
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(files_have_their_names_after_a_commit),
        T(files_may_lie_in_folders_of_folders),
        T(failed_run_without_progress_leaves_nothing),
        T(failed_run_keeps_what_was_committed),
        T(a_new_run_removes_what_an_unfinished_one_left),
        T(an_unfinished_run_of_another_tool_stays),
        T(what_fails_beside_the_run_fails_a_later_call),
        T(a_file_may_be_written_again_before_its_commit),
        T(resuming_starts_a_run_that_never_began),
        T(resuming_a_finished_run_says_so),
        T(only_the_same_plan_is_continued),
        T(a_finished_run_goes_on_with_a_plan_that_is_accepted),
        T(a_moved_folder_is_continued),
        T(a_scratch_file_that_is_cut_short_is_missed),
        T(a_second_run_is_refused_with_the_process_of_the_first),
        T(a_killed_run_is_no_owner),
        T(a_line_without_its_end_does_not_count),
        T(damage_before_good_lines_is_refused),
        T(journals_of_strangers_lead_nowhere),
        T(links_are_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
