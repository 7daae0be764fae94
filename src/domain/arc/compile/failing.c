/* failing.c - which operations cannot fail, and what they cost, on operands of known kinds.
 *
 * A row lists the kinds each operand may have without the primitive ever failing. Primitives that
 * are not listed can fail, or nobody has needed to know that they cannot.
 */
#include "kinds.h"

#include "domain/arc/value/known.h"
#include "kernel/arc/arc_ops.h"

#define ANY    QN_ARC_IS_ANYTHING
#define NUMBER QN_ARC_IS_NUMBER
#define PAIR   QN_ARC_IS_PAIR
#define GRID   QN_ARC_IS_GRID
#define PATCH  QN_ARC_IS_PATCH
#define OBJ    QN_ARC_IS_OBJ
#define CONT   QN_ARC_IS_CONT
#define SETS   QN_ARC_IS_A_SET

static const uint16_t safe[ARC_N_OPS][4] = {
    [ARC_OP_identity] = { ANY },
    [ARC_OP_flip] = { ANY },
    [ARC_OP_equality] = { ANY, ANY },
    [ARC_OP_initset] = { ANY },
    [ARC_OP_both] = { ANY, ANY },
    [ARC_OP_either] = { ANY, ANY },
    [ARC_OP_astuple] = { ANY, ANY },
    [ARC_OP_branch] = { ANY, ANY, ANY },
    [ARC_OP_compose] = { QN_ARC_IS_FN, QN_ARC_IS_FN },
    [ARC_OP_chain] = { QN_ARC_IS_FN, QN_ARC_IS_FN, QN_ARC_IS_FN },
    [ARC_OP_fork] = { QN_ARC_IS_FN, QN_ARC_IS_FN, QN_ARC_IS_FN },
    [ARC_OP_matcher] = { QN_ARC_IS_FN, ANY },
    [ARC_OP_rbind] = { QN_ARC_IS_FN, ANY },
    [ARC_OP_lbind] = { QN_ARC_IS_FN, ANY },

    [ARC_OP_even] = { NUMBER },
    [ARC_OP_positive] = { NUMBER },
    [ARC_OP_sign] = { NUMBER | PAIR },
    [ARC_OP_toivec] = { NUMBER },
    [ARC_OP_tojvec] = { NUMBER },

    [ARC_OP_size] = { CONT },
    [ARC_OP_contained] = { ANY, CONT },
    [ARC_OP_combine] = { CONT, CONT },
    [ARC_OP_intersection] = { SETS, SETS },
    [ARC_OP_difference] = { CONT, CONT },
    [ARC_OP_insert] = { ANY, SETS },
    [ARC_OP_remove] = { ANY, CONT },
    [ARC_OP_totuple] = { CONT },

    [ARC_OP_mostcolor] = { GRID },
    [ARC_OP_leastcolor] = { GRID },
    [ARC_OP_height] = { GRID | PATCH },
    [ARC_OP_width] = { GRID | PATCH },
    [ARC_OP_shape] = { GRID | PATCH },
    [ARC_OP_portrait] = { GRID | PATCH },
    [ARC_OP_colorcount] = { GRID | OBJ, NUMBER },
    [ARC_OP_palette] = { GRID | OBJ },
    [ARC_OP_numcolors] = { GRID | OBJ },
    [ARC_OP_asindices] = { GRID },
    [ARC_OP_asobject] = { GRID },
    [ARC_OP_ofcolor] = { GRID, NUMBER },
    [ARC_OP_objects] = { GRID, NUMBER, NUMBER, NUMBER },
    [ARC_OP_partition] = { GRID },
    [ARC_OP_fgpartition] = { GRID },
    [ARC_OP_frontiers] = { GRID },
    [ARC_OP_p_g] = { GRID },

    [ARC_OP_ulcorner] = { PATCH },
    [ARC_OP_urcorner] = { PATCH },
    [ARC_OP_llcorner] = { PATCH },
    [ARC_OP_lrcorner] = { PATCH },
    [ARC_OP_corners] = { PATCH },
    [ARC_OP_toindices] = { PATCH },
    [ARC_OP_recolor] = { NUMBER, PATCH },
    [ARC_OP_shift] = { PATCH, PAIR },
    [ARC_OP_normalize] = { PATCH },
    [ARC_OP_backdrop] = { PATCH },
    [ARC_OP_delta] = { PATCH },
    [ARC_OP_box] = { PATCH },
    [ARC_OP_toobject] = { PATCH, GRID },
    [ARC_OP_dneighbors] = { PAIR },
    [ARC_OP_ineighbors] = { PAIR },
    [ARC_OP_neighbors] = { PAIR },
    [ARC_OP_vfrontier] = { PAIR },
    [ARC_OP_hfrontier] = { PAIR },
    [ARC_OP_connect] = { PAIR, PAIR },

    [ARC_OP_rot90] = { GRID },
    [ARC_OP_rot180] = { GRID },
    [ARC_OP_rot270] = { GRID },
    [ARC_OP_hmirror] = { GRID },
    [ARC_OP_vmirror] = { GRID },
    [ARC_OP_dmirror] = { GRID },
    [ARC_OP_cmirror] = { GRID },
    [ARC_OP_fill] = { GRID, NUMBER, PATCH },
    [ARC_OP_underfill] = { GRID, NUMBER, PATCH },
    [ARC_OP_paint] = { GRID, OBJ },
    [ARC_OP_underpaint] = { GRID, OBJ },
    [ARC_OP_cover] = { GRID, PATCH },
    [ARC_OP_replace] = { GRID, NUMBER, NUMBER },
    [ARC_OP_switch] = { GRID, NUMBER, NUMBER },
    [ARC_OP_hconcat] = { GRID, GRID },
    [ARC_OP_vconcat] = { GRID, GRID },
    [ARC_OP_trim] = { GRID },
    [ARC_OP_tophalf] = { GRID },
    [ARC_OP_bottomhalf] = { GRID },
    [ARC_OP_lefthalf] = { GRID },
    [ARC_OP_righthalf] = { GRID },
    [ARC_OP_compress] = { GRID },
};

int qn_arc_cannot_fail(int op, const qn_arc_kinds *args, int n_args)
{
    if (op == ARC_OP_TUPLE)
        return 1;
    if (op >= ARC_N_OPS || safe[op][0] == 0)
        return 0;
    for (int i = 0; i < n_args; i++)
        if ((args[i].self & ~safe[op][i]) != 0)
            return 0;
    return 1;
}

/* A hundred cells on a team of 32: three rounds of a loop over cells. */
enum { COST_SCALAR = 1, COST_LINEAR = 4, COST_MORE = 32, COST_LOOP = 20 };

uint32_t qn_arc_node_cost(int op, const qn_arc_kinds *args, int n_args)
{
    unsigned all = 0;

    if (op >= ARC_N_OPS)
        return op == ARC_OP_CALL ? COST_LOOP : COST_SCALAR;
    for (int i = 0; i < n_args; i++)
        all |= args[i].self;
    if ((all & ~(NUMBER | PAIR | QN_ARC_IS_NONE)) == 0)
        return COST_SCALAR;
    switch (qn_arc_op_at(op)->class_) {
    case 'L':
        return COST_LINEAR;
    case 'Q':
        return COST_MORE;
    case 'H':
        return COST_LOOP;
    default:
        return COST_SCALAR;
    }
}
