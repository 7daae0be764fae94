/* loss.c - robust losses of the squared norm of a block, and their slopes, as nodes. */
#include "domain/fit/derive/derive.h"

#include "util/status.h"

#include <math.h>

#define OP1(name, x)    qn_fit_make(g, QN_FIT_OP_##name, (const qn_fit_v[]){ x })
#define OP2(name, x, y) qn_fit_make(g, QN_FIT_OP_##name, (const qn_fit_v[]){ x, y })
#define LIT(x)          qn_fit_exact(g, x)
#define PICK(c, x, y)   qn_fit_make(g, QN_FIT_OP_select, (const qn_fit_v[]){ c, x, y })

qn_status qn_fit_loss_check(qn_fit_loss loss, qn_err *err)
{
    if (loss.kind < QN_FIT_LOSS_NONE || loss.kind > QN_FIT_LOSS_GEMAN)
        return qn_fail(err, QN_ERR_USAGE, "there is no loss %d", (int)loss.kind);
    if (loss.kind != QN_FIT_LOSS_NONE && !(loss.scale > 0 && isfinite(loss.scale * loss.scale)))
        return qn_fail(err, QN_ERR_USAGE, "the scale of a loss is %g; it must be above 0",
                       loss.scale);
    return QN_OK;
}

/* s / a^2, kept away from 0 where its root is a divisor. */
static qn_fit_v scaled(qn_fit_graph *g, qn_fit_loss loss, qn_fit_v s)
{
    return OP2(div, s, LIT(loss.scale * loss.scale));
}

static qn_fit_v unit_value(qn_fit_graph *g, qn_fit_loss_kind kind, qn_fit_v s)
{
    const qn_fit_v one = LIT(1), more = OP2(add, one, s);

    switch (kind) {
    case QN_FIT_LOSS_HUBER:
        return PICK(OP2(le, s, one), s,
                    OP2(sub, OP2(mul, LIT(2), OP1(sqrt, OP2(max, s, one))), one));
    case QN_FIT_LOSS_SOFT_L1:
        return OP2(mul, LIT(2), OP2(sub, OP1(sqrt, more), one));
    case QN_FIT_LOSS_CAUCHY:
        return OP1(log1p, s);
    case QN_FIT_LOSS_ARCTAN:
        return OP1(atan, s);
    case QN_FIT_LOSS_TUKEY:
        return PICK(OP2(le, s, one), OP2(div, OP2(sub, one, OP1(cube, OP2(sub, one, s))), LIT(3)),
                    LIT(1.0 / 3));
    case QN_FIT_LOSS_GEMAN:
        return OP2(div, s, more);
    default:
        return s;
    }
}

static qn_fit_v unit_slope(qn_fit_graph *g, qn_fit_loss_kind kind, qn_fit_v s)
{
    const qn_fit_v one = LIT(1), more = OP2(add, one, s);

    switch (kind) {
    case QN_FIT_LOSS_HUBER:
        return OP1(recip, OP1(sqrt, OP2(max, s, one)));
    case QN_FIT_LOSS_SOFT_L1:
        return OP1(recip, OP1(sqrt, more));
    case QN_FIT_LOSS_CAUCHY:
        return OP1(recip, more);
    case QN_FIT_LOSS_ARCTAN:
        return OP1(recip, OP2(add, one, OP1(square, s)));
    case QN_FIT_LOSS_TUKEY:
        return PICK(OP2(le, s, one), OP1(square, OP2(sub, one, s)), LIT(0));
    case QN_FIT_LOSS_GEMAN:
        return OP1(recip, OP1(square, more));
    default:
        return one;
    }
}

qn_fit_v qn_fit_loss_value(qn_fit_graph *g, qn_fit_loss loss, qn_fit_v s)
{
    if (loss.kind == QN_FIT_LOSS_NONE)
        return s;
    return OP2(mul, LIT(loss.scale * loss.scale), unit_value(g, loss.kind, scaled(g, loss, s)));
}

qn_fit_v qn_fit_loss_slope(qn_fit_graph *g, qn_fit_loss loss, qn_fit_v s)
{
    return loss.kind == QN_FIT_LOSS_NONE ? LIT(1) : unit_slope(g, loss.kind, scaled(g, loss, s));
}
