/* test_batch.c - reading batch files and writing result files. */
#include "engine_fixture.h"

#include "domain/tasks/batch.h"

static qn_status read_text(const char *text, qn_batch *out, qn_err *err)
{
    const qn_tasks_options options = { .size = sizeof options };
    FILE *file = fopen(in_folder("batch.csv"), "w");

    fputs(text, file);
    fclose(file);
    return qn_batch_read(in_folder("batch.csv"), &options, out, err);
}

static void a_batch_has_its_tasks_in_order(void **state)
{
    qn_batch batch = { .n = 0 };
    qn_err err = { .text = "" };

    (void)state;
    if (read_text("# a comment\nseed,arg,op,n,id\n7,,vadd,20000,1\n8,\"mul:2,add:1,sqrt\",chain,"
                  "40000,2\n\n9,rfc6962,merkle,1024,3\n",
                  &batch, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(batch.n, 3);
    assert_int_equal(batch.tasks[0].id, 1);
    assert_int_equal(batch.tasks[0].n, 20000);
    assert_int_equal(batch.tasks[0].seed, 7);
    assert_string_equal(batch.tasks[0].arg, "");
    assert_string_equal(batch.tasks[1].op, "chain");
    assert_string_equal(batch.tasks[1].arg, "mul:2,add:1,sqrt");
    assert_string_equal(batch.tasks[2].arg, "rfc6962");
    qn_batch_free(&batch);
}

static void what_is_wrong_in_a_file_names_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "no header line" },
        { "id,op,n,seed\n1,vadd,5,1\n", "no column \"arg\"" },
        { "id,op,n,seed,arg\n", "0 tasks; a batch has 1 to 1048576" },
        { "id,op,n,seed,arg\n1,vadd,5,1,\n2,vadd,5,1\n",
          "batch.csv:3: expected 5 fields, found 4" },
        { "id,op,n,seed,arg\n1,vadd,five,1,\n", "batch.csv:2: n \"five\" is not" },
        { "id,op,n,seed,arg\n1,vadd,5,-1,\n", "batch.csv:2: seed \"-1\" is not" },
        { "id,op,n,seed,arg\n-1,vadd,5,1,\n", "batch.csv:2: id \"-1\" is not" },
        { "id,op,n,seed,arg\n1,vadd,5,1,\n\n2,vadd,0,1,\n", "batch.csv:4: size 0; vadd needs" },
        { "id,op,n,seed,arg\n1,merkle,0,1,\n", "batch.csv:2: size 0; merkle needs" },
        { "id,op,n,seed,arg\n1,vsub,5,1,\n", "batch.csv:2: unknown op 'vsub'" },
        { "id,op,n,seed,arg\n1,matmul,9000,1,\n", "batch.csv:2: size 9000 exceeds the limit 8192" },
        { "id,op,n,seed,arg\n1,saxpy,5,1,two\n", "batch.csv:2: arg 'two' is not a number" },
        { "id,op,n,seed,arg\n1,vadd,5,1,\"\n", "batch.csv:2: " },
        { "id,op,n,seed,arg\n1,vadd,99999999999999999999,1,\n", "batch.csv:2: n " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qn_batch batch = { .n = 0 };
        qn_err err = { .text = "" };
        const qn_status st = read_text(cases[i].text, &batch, &err);

        if (st != QN_ERR_INPUT || err.status != QN_ERR_INPUT || !strstr(err.text, cases[i].message))
            fail_msg("case %zu: %s: %s", i, qn_status_name(st), err.text);
        assert_null(batch.tasks);
    }
}

/* Results. */

static void results_have_the_documented_columns(void **state)
{
    const qn_tasks_options options = { .size = sizeof options };
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = "launch:sum", .log = "none"));
    qn_batch batch = { .n = 0 };
    qn_tasks *tasks;
    qn_err err = { .text = "" };
    FILE *page = tmpfile();
    char lines[5][200], op[20], backend[20], device[20], status[20], checksum[40];
    long long id, n, bucket;
    double exec_us;

    (void)state;
    assert_int_equal(read_text("id,op,n,seed,arg\n7,vadd,20000,1,\n5,sum,3,1,\n"
                               "6,chain,40000,1,exp\n",
                               &batch, &err),
                     QN_OK);
    must(qn_tasks_new(ctx, &options, &tasks, &err));
    must(qn_tasks_run(tasks, batch.tasks, batch.n, &err));
    must(qn_batch_write(tasks, &batch, page, &err));
    rewind(page);
    for (int i = 0; i < 4; i++)
        assert_non_null(fgets(lines[i], sizeof lines[i], page));
    assert_null(fgets(lines[4], sizeof lines[4], page));
    fclose(page);

    assert_string_equal(lines[0], "id,op,n,backend,device,bucket,status,checksum,exec_us\n");
    assert_int_equal(sscanf(lines[1], "%lld,%19[^,],%lld,%19[^,],%19[^,],%lld,%19[^,],%39[^,],%lf",
                            &id, op, &n, backend, device, &bucket, status, checksum, &exec_us),
                     9);
    assert_true(id == 7 && n == 20000 && bucket == 32768 && exec_us > 0);
    assert_string_equal(op, "vadd");
    assert_string_equal(backend, "sim");
    assert_string_equal(device, "sim:0");
    assert_string_equal(status, "ok");
    assert_int_equal(strlen(checksum), 16);
    assert_int_equal(strspn(checksum, "0123456789abcdef"), 16);
    assert_memory_equal(lines[2], "5,sum,3,cpu,cpu:0,16384,fallback,", 33);
    assert_memory_equal(lines[3], "6,chain,40000,sim,sim:0,65536,ok,-,", 35);
    qn_tasks_free(tasks);
    qn_batch_free(&batch);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_has_its_tasks_in_order),
        cmocka_unit_test(what_is_wrong_in_a_file_names_its_line),
        cmocka_unit_test(results_have_the_documented_columns),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
