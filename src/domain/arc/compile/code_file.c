/* code_file.c - compiled programs into a file and back. */
#include "domain/arc/compile/compile.h"

#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/status.h"

enum { FILE_MAGIC = 0x46524151, FILE_VERSION = 1, HEAD_BYTES = 32, PROGRAM_BYTES = 16 };

/* Writing. */

static void put_text(qn_str *out, const char *text)
{
    qn_str_add_n(out, text, strlen(text) + 1);
}

static void put_program(qn_str *out, const qn_arc_code *code)
{
    qn_str about = { 0 };
    uint32_t head[4];

    put_text(&about, code->id);
    put_text(&about, code->name);
    for (int i = 0; i < code->n_outputs; i++) {
        const qn_arc_output *o = &code->outputs[i];
        const char kind[2] = { o->list, (char)(o->flag != 0) };
        const int32_t line = o->line;

        qn_str_add_n(&about, kind, sizeof kind);
        qn_str_add_n(&about, (const char *)&o->number, sizeof o->number);
        qn_str_add_n(&about, (const char *)&line, sizeof line);
        put_text(&about, o->task);
        put_text(&about, o->name);
    }
    while (about.len % 16 != 0 && !about.failed)
        qn_str_add_n(&about, "", 1);
    head[0] = (uint32_t)code->n;
    head[1] = (uint32_t)about.len;
    head[2] = (uint32_t)code->n_outputs;
    head[3] = (uint32_t)code->line;
    qn_str_add_n(out, (const char *)head, sizeof head);
    qn_str_add_n(out, (const char *)code->bytes, code->n);
    qn_str_add_n(out, qn_str_get(&about), about.len);
    out->failed |= about.failed;
    qn_str_free(&about);
}

qn_status qn_arc_codes_pack(const qn_arc_code *codes, int n, qn_str *out, qn_err *err)
{
    const size_t start = out->len;
    const char zeros[HEAD_BYTES] = { 0 };
    uint32_t head[4] = { FILE_MAGIC, FILE_VERSION, (uint32_t)n, 0 };
    uint64_t tail[2];

    qn_str_add_n(out, zeros, sizeof zeros);
    for (int i = 0; i < n; i++)
        put_program(out, &codes[i]);
    if (out->failed)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for the file of %d programs", n);
    tail[0] = out->len - start - HEAD_BYTES;
    tail[1] = qn_fnv1a64(out->data + start + HEAD_BYTES, tail[0]);
    memcpy(out->data + start, head, sizeof head);
    memcpy(out->data + start + sizeof head, tail, sizeof tail);
    return QN_OK;
}

/* Reading. */

typedef struct {
    const unsigned char *bytes;
    size_t n, at;
} reader;

static int take(reader *r, void *out, size_t n)
{
    if (n > r->n - r->at)
        return 0;
    memcpy(out, r->bytes + r->at, n);
    r->at += n;
    return 1;
}

/* A copy of the text, which must end with a NUL; otherwise, or when out of memory, NULL. */
static char *take_text(reader *r)
{
    const unsigned char *start = r->bytes + r->at;
    const unsigned char *end = r->at < r->n ? memchr(start, '\0', r->n - r->at) : NULL;

    if (!end)
        return NULL;
    r->at += (size_t)(end - start) + 1;
    return strdup((const char *)start);
}

static int take_output(reader *r, qn_arc_output *out)
{
    unsigned char kind[2];
    int32_t line;

    if (!take(r, kind, sizeof kind) || !take(r, &out->number, sizeof out->number) ||
        !take(r, &line, sizeof line))
        return 0;
    out->list = (char)kind[0];
    out->flag = kind[1];
    out->line = line;
    out->task = take_text(r);
    out->name = take_text(r);
    return (out->list == 'o' || out->list == 's') && out->flag <= 1 && out->task && out->name;
}

static qn_status take_description(reader *r, uint32_t n_outputs, qn_arc_code *code, qn_err *err)
{
    arc_program head;
    int is_good = 1;

    memcpy(&head, code->bytes, sizeof head);
    if (n_outputs != head.n_records)
        return qn_fail(err, QN_ERR_INPUT, "%u outputs are described, where the code has %u",
                       n_outputs, head.n_records);
    code->outputs = calloc((size_t)n_outputs + 1, sizeof *code->outputs);
    if (!code->outputs)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %u outputs", n_outputs);
    code->id = take_text(r);
    code->name = take_text(r);
    is_good = code->id && code->name;
    for (uint32_t i = 0; is_good && i < n_outputs; i++) {
        code->n_outputs = (int)i + 1;
        is_good = take_output(r, &code->outputs[i]);
    }
    for (; is_good && r->at < r->n; r->at++)
        is_good = r->bytes[r->at] == 0;
    return is_good ? QN_OK : qn_fail(err, QN_ERR_INPUT, "its description is damaged");
}

static qn_status take_program(reader *r, qn_arc_code *code, qn_err *err)
{
    qn_status st = QN_OK;
    reader about;
    uint32_t head[4];

    if (!take(r, head, sizeof head) || head[0] > r->n - r->at || head[1] > r->n - r->at - head[0] ||
        head[3] > INT32_MAX)
        return qn_fail(err, QN_ERR_INPUT, "it is cut off");
    QN_TRY(qn_arc_code_check(r->bytes + r->at, head[0], err));
    QN_TRY(QN_NEW(code->bytes, head[0], "the code of a program", err));
    memcpy(code->bytes, r->bytes + r->at, head[0]);
    code->n = head[0];
    code->line = (int)head[3];
    about = (reader){ .bytes = r->bytes + r->at + head[0], .n = head[1] };
    QN_TRY(take_description(&about, head[2], code, err));
    r->at += (size_t)head[0] + head[1];
out:
    return st;
}

qn_status qn_arc_codes_unpack(const void *bytes, size_t size, qn_arc_code **codes, int *n,
                              qn_err *err)
{
    qn_status st = QN_OK;
    reader r = { .bytes = bytes, .n = size };
    qn_arc_code *list = NULL;
    uint32_t head[4], done = 0;
    uint64_t tail[2];

    if (!take(&r, head, sizeof head) || !take(&r, tail, sizeof tail) || head[0] != FILE_MAGIC)
        return qn_fail(err, QN_ERR_INPUT, "not a file of compiled programs: %zu bytes", size);
    if (head[1] != FILE_VERSION)
        return qn_fail(err, QN_ERR_INPUT, "compiled programs of version %u, not %d", head[1],
                       FILE_VERSION);
    if (tail[0] != size - HEAD_BYTES || tail[1] != qn_fnv1a64(r.bytes + HEAD_BYTES, tail[0]))
        return qn_fail(err, QN_ERR_INPUT, "compiled programs are damaged: %zu bytes", size);
    if (head[2] > tail[0] / PROGRAM_BYTES)
        return qn_fail(err, QN_ERR_INPUT, "%u compiled programs in %zu bytes", head[2], size);
    QN_TRY(QN_NEW(list, (size_t)head[2] + 1, "programs", err));
    for (; done < head[2]; done++)
        QN_TRY(take_program(&r, &list[done], err));
    if (r.at != r.n)
        QN_FAIL(err, QN_ERR_INPUT, "%zu bytes after the last program", r.n - r.at);
    *codes = list;
    *n = (int)head[2];
    list = NULL;
out:
    if (st != QN_OK && done < head[2])
        qn_prefix(err, "compiled program %u", done);
    if (list)
        qn_arc_codes_free(list, (int)head[2]);
    return st;
}

void qn_arc_codes_free(qn_arc_code *codes, int n)
{
    for (int i = 0; codes && i < n; i++)
        qn_arc_code_free(&codes[i]);
    free(codes);
}

qn_status qn_arc_codes_write(const char *path, const qn_arc_code *codes, int n, qn_err *err)
{
    qn_status st = QN_OK;
    qn_str out = { 0 };

    QN_TRY(qn_arc_codes_pack(codes, n, &out, err));
    QN_TRY(qn_file_write(path, out.data, out.len, err));
out:
    qn_str_free(&out);
    return st;
}
