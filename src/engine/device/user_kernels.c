/* user_kernels.c - kernel text given at run time, by users or generators. */
#include "engine/device/context.h"

#include "hal/module_text.h"
#include "kernel/expand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A module with everything it points to. */
typedef struct {
    qn_kernel_module module; /* first: callers see only this */
    char *name, *text, *defines;
    qn_heads heads;
    qn_kernel_info *infos;
    const qn_kernel_info **list;
    qn_arg_info *args;
} owned_module;

void qn_kernels_free(qn_kernel_module *module)
{
    owned_module *m = (owned_module *)module;

    if (!m)
        return;
    qn_heads_free(&m->heads);
    free(m->name);
    free(m->text);
    free(m->defines);
    free(m->infos);
    free(m->list);
    free(m->args);
    free(m);
}

/* The device chooses the lanes of a TEAM unless the constants define them. */
static int lanes_of(const owned_module *m, const qn_head *head)
{
    const int is_given = head->form == QN_FORM_TEAM && strstr(m->defines, "LANES=");

    return head->form == QN_FORM_GROUP || is_given ? qn_heads_lanes(&m->heads, m->defines) : 0;
}

static void fill_kernel(owned_module *m, int k, qn_arg_info *args)
{
    const qn_head *head = &m->heads.list[k];

    for (int a = 0; a < head->n_args; a++) {
        const size_t size = qn_type_size(head->args[a].type, m->defines);

        args[a] = (qn_arg_info){ .name = head->args[a].name,
                                 .type = head->args[a].type,
                                 .size = (uint16_t)(size ? size : head->args[a].size),
                                 .mode = (uint8_t)head->args[a].mode };
    }
    m->infos[k] = (qn_kernel_info){
        .name = head->name,
        .form = (uint8_t)head->form,
        .n_args = (uint8_t)head->n_args,
        .folds = (uint8_t)head->folds,
        .unroll = (uint8_t)head->unroll,
        .lanes = lanes_of(m, head),
        .points = head->points,
        .args = args,
        .module = &m->module,
    };
    m->list[k] = &m->infos[k];
}

static qn_status build(owned_module *m, const char *name, const char *text, const char *defines,
                       qn_err *err)
{
    qn_status st = QN_OK;
    size_t n_args = 0, at = 0;

    m->name = strdup(name);
    m->text = strdup(text);
    m->defines = strdup(defines);
    if (!m->name || !m->text || !m->defines)
        goto nomem;
    QN_TRY(qn_heads_parse(name, text, &m->heads, err));
    if (m->heads.n <= 0)
        QN_FAIL(err, QN_ERR_INPUT, "%s: no kernel (MAP, GROUP or TEAM) in the text", name);
    for (int k = 0; k < m->heads.n; k++)
        n_args += (size_t)m->heads.list[k].n_args;
    m->infos = calloc((size_t)m->heads.n, sizeof *m->infos);
    m->list = calloc((size_t)m->heads.n, sizeof *m->list);
    m->args = calloc(n_args + 1, sizeof *m->args);
    if (!m->infos || !m->list || !m->args)
        goto nomem;
    for (int k = 0; k < m->heads.n; k++) {
        fill_kernel(m, k, m->args + at);
        at += (size_t)m->heads.list[k].n_args;
    }
    m->module = (qn_kernel_module){ .name = m->name,
                                    .text = m->text,
                                    .defines = m->defines,
                                    .kernels = m->list,
                                    .n_kernels = m->heads.n };
out:
    return st;
nomem:
    return qn_fail(err, QN_ERR_NOMEM, "kernel module %s: out of host memory", name);
}

static qn_status make(const char *name, const char *text, const char *defines,
                      qn_kernel_module **out, qn_err *err)
{
    owned_module *m = calloc(1, sizeof *m);
    qn_status st;

    if (!m)
        return qn_fail(err, QN_ERR_NOMEM, "kernel module %s: out of host memory", name);
    if ((st = build(m, name, text, defines, err)) != QN_OK) {
        qn_kernels_free(&m->module);
        return st;
    }
    *out = &m->module;
    return QN_OK;
}

qn_status qn_kernels_new(const char *name, const char *text, qn_kernel_module **out, qn_err *err)
{
    const qn_status st = QN_CHECK_CALL(NULL, err, name, text, out);

    return st == QN_OK ? make(name, text, "", out, err) : st;
}

qn_status qn_kernels_with(const qn_kernel_module *module, const char *defines,
                          qn_kernel_module **out, qn_err *err)
{
    const char *own;
    char all[512], *text;
    qn_status st = QN_CHECK_CALL(NULL, err, module, defines, out);

    if (st != QN_OK)
        return st;
    own = module->defines ? module->defines : "";
    if (snprintf(all, sizeof all, "%s%s%s", own, *own ? " " : "", defines) >= (int)sizeof all)
        return qn_fail(err, QN_ERR_LIMIT, "kernel module %s: more than %zu characters of constants",
                       module->name, sizeof all - 1);
    if ((st = qn_module_text(module, &text, err)) != QN_OK)
        return st;
    st = make(module->name, text, all, out, err);
    free(text);
    return st;
}

const qn_kernel_info *qn_kernels_find(const qn_kernel_module *module, const char *name)
{
    for (int k = 0; k < module->n_kernels; k++)
        if (!strcmp(module->kernels[k]->name, name))
            return module->kernels[k];
    return NULL;
}
