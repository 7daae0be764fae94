/* test_log.c - levels, prefixes, and lines that stay whole. */
#include "test.h"

#include "util/log.h"

#include <sys/socket.h>

static char *text;
static size_t bytes;

static qn_log open_log(qn_log_level level)
{
    return (qn_log){ level, open_memstream(&text, &bytes) };
}

static void close_log(qn_log *log)
{
    fclose(log->to);
}

static int free_text(void **state)
{
    (void)state;
    free(text);
    text = NULL;
    return 0;
}

static void every_level_name_is_parsed_and_others_are_refused(void **state)
{
    static const char *const names[] = { "none", "error", "warn", "info", "debug" };
    qn_log_level level = QN_LOG_NONE;

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(qn_log_parse(names[i], &level), 0);
        assert_int_equal(level, i);
        assert_string_equal(qn_log_name(level), names[i]);
    }
    assert_int_equal(qn_log_parse("Debug", &level), -1);
    assert_int_equal(qn_log_parse("", &level), -1);
    assert_int_equal(qn_log_parse(NULL, &level), -1);
    assert_int_equal(level, QN_LOG_DEBUG);
}

static void messages_up_to_the_level_are_printed_with_prefix(void **state)
{
    qn_log log = open_log(QN_LOG_WARN);

    (void)state;
    qn_log_put(&log, QN_LOG_ERROR, "group of %d", 512);
    qn_log_put(&log, QN_LOG_WARN, "slow");
    qn_log_put(&log, QN_LOG_INFO, "hidden");
    close_log(&log);
    assert_string_equal(text, "quern: error: group of 512\nquern: warn: slow\n");
}

static void what_a_terminal_would_obey_is_shown(void **state)
{
    qn_log log = open_log(QN_LOG_WARN);

    (void)state;
    qn_log_put(&log, QN_LOG_WARN, "two\nlines \033[2J");
    qn_log_line(&log, "tab\t%s", "\x9b");
    close_log(&log);
    assert_string_equal(text, "quern: warn: two\nlines \\x1b[2J\ntab\t\\x9b\n");
}

static void level_none_and_a_null_log_print_nothing(void **state)
{
    qn_log log = open_log(QN_LOG_NONE);

    (void)state;
    qn_log_put(&log, QN_LOG_ERROR, "hidden");
    qn_log_line(&log, "hidden");
    qn_log_put(NULL, QN_LOG_ERROR, "hidden");
    qn_log_line(NULL, "hidden");
    close_log(&log);
    assert_string_equal(text, "");
}

static void plain_lines_have_no_prefix_and_need_only_a_log_that_is_on(void **state)
{
    qn_log log = open_log(QN_LOG_ERROR);

    (void)state;
    qn_log_line(&log, "[GPU] %s failed: %s. CPU fallback.", "svf", "limit");
    close_log(&log);
    assert_string_equal(text, "[GPU] svf failed: limit. CPU fallback.\n");
}

static void a_message_longer_than_the_buffer_is_cut_and_still_ends_its_line(void **state)
{
    qn_log log = open_log(QN_LOG_DEBUG);
    char *big = malloc(5001);

    (void)state;
    memset(big, 'x', 5000);
    big[5000] = '\0';
    qn_log_put(&log, QN_LOG_DEBUG, "%s", big);
    close_log(&log);
    assert_in_range(bytes, 2000, 2048);
    assert_string_equal(text + bytes - 5, "x...\n");
    assert_ptr_equal(strchr(text, '\n'), text + bytes - 1);
    free(big);
}

/* On a datagram socket every write is a separate packet, and a read returns one packet. */
static void a_line_is_one_write_even_without_buffering(void **state)
{
    int ends[2];
    char got[256];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
    FILE *to = fdopen(ends[1], "w");
    setvbuf(to, NULL, _IONBF, 0);
    const qn_log log = { QN_LOG_INFO, to };
    qn_log_put(&log, QN_LOG_INFO, "%d of %d", 1, 2);
    const ssize_t n = read(ends[0], got, sizeof got);
    assert_int_equal(n, strlen("quern: info: 1 of 2\n"));
    assert_memory_equal(got, "quern: info: 1 of 2\n", (size_t)n);
    fclose(to);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_name_is_parsed_and_others_are_refused),
        cmocka_unit_test_teardown(messages_up_to_the_level_are_printed_with_prefix, free_text),
        cmocka_unit_test_teardown(what_a_terminal_would_obey_is_shown, free_text),
        cmocka_unit_test_teardown(level_none_and_a_null_log_print_nothing, free_text),
        cmocka_unit_test_teardown(plain_lines_have_no_prefix_and_need_only_a_log_that_is_on,
                                  free_text),
        cmocka_unit_test_teardown(a_message_longer_than_the_buffer_is_cut_and_still_ends_its_line,
                                  free_text),
        cmocka_unit_test(a_line_is_one_write_even_without_buffering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
