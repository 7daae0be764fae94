/* kinds.c - possible kinds of values, propagated through a program, and operations that cannot fail
 * on them. */
#include "domain/arc/compile/passes.h"

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"

#define ANY    QN_ARC_IS_ANYTHING
#define NUMBER QN_ARC_IS_NUMBER
#define PAIR   QN_ARC_IS_PAIR
#define GRID   QN_ARC_IS_GRID
#define PATCH  QN_ARC_IS_PATCH
#define OBJ    QN_ARC_IS_OBJ
#define CONT   QN_ARC_IS_CONT
#define SETS   QN_ARC_IS_A_SET

static qn_arc_kinds kinds(unsigned self, unsigned inner)
{
    return (qn_arc_kinds){ (uint16_t)self, (uint16_t)inner };
}

/* Known values. */

static int is_number(const qn_arc_value *v)
{
    return v->kind == QN_ARC_INT || v->kind == QN_ARC_BOOL;
}

static int is_pair(const qn_arc_value *v)
{
    return qn_arc_is_pair(v, is_number);
}

static int is_cell(const qn_arc_value *v)
{
    return qn_arc_is_cell(v, is_number);
}

static unsigned kind_of_container(const qn_arc_value *v)
{
    if (v->kind == QN_ARC_SET)
        return qn_arc_all_are(v, is_pair)   ? QN_ARC_IS_IDX
               : qn_arc_all_are(v, is_cell) ? QN_ARC_IS_OBJ
                                            : QN_ARC_IS_SET;
    return is_pair(v)                     ? QN_ARC_IS_PAIR
           : is_cell(v)                   ? QN_ARC_IS_CELL
           : qn_arc_is_row(v, is_number)  ? QN_ARC_IS_ROW
           : qn_arc_is_grid(v, is_number) ? QN_ARC_IS_GRID
                                          : QN_ARC_IS_TUPLE;
}

static unsigned kind_of_item(const qn_arc_value *v)
{
    switch (v->kind) {
    case QN_ARC_TUPLE:
    case QN_ARC_SET:
        return kind_of_container(v);
    case QN_ARC_BOOL:
    case QN_ARC_INT:
        return QN_ARC_IS_NUMBER;
    default:
        return QN_ARC_IS_ANYTHING;
    }
}

static qn_arc_kinds kinds_of_container(const qn_arc_value *v)
{
    unsigned inner = 0;

    for (int i = 0; i < v->n; i++)
        inner |= kind_of_item(&v->items[i]);
    return kinds(kind_of_container(v), v->n ? inner : QN_ARC_IS_ANYTHING);
}

qn_arc_kinds qn_arc_kinds_of_value(const qn_arc_value *v)
{
    switch (v->kind) {
    case QN_ARC_NONE:
        return kinds(QN_ARC_IS_NONE, 0);
    case QN_ARC_BOOL:
        return kinds(QN_ARC_IS_BOOL, 0);
    case QN_ARC_INT:
        return kinds(QN_ARC_IS_INT, 0);
    case QN_ARC_TUPLE:
    case QN_ARC_SET:
        return kinds_of_container(v);
    case QN_ARC_PRIM:
        return kinds(QN_ARC_IS_FN, qn_arc_kinds_given((int)v->number, NULL).self);
    case QN_ARC_CLOS:
        return kinds(QN_ARC_IS_FN, QN_ARC_IS_ANYTHING);
    default:
        return kinds(QN_ARC_IS_ANYTHING, QN_ARC_IS_ANYTHING);
    }
}

/* Results of primitives. */

typedef enum {
    GIVES_ANYTHING,
    GIVES_BOOL,
    GIVES_INT,
    GIVES_NUMBERS, /* a number or a pair */
    GIVES_PAIR,
    GIVES_CORNER,  /* a pair, or the empty tuple */
    GIVES_CELLS,   /* indices */
    GIVES_LINE,    /* of a pair, indices; otherwise a set */
    GIVES_OBJECT,  /* of a grid or a colour, cells; otherwise a set */
    GIVES_OBJECTS, /* of a grid, a set of objects; otherwise a set */
    GIVES_TUPLE,
    GIVES_SET,
    GIVES_GRID_LIKE, /* of a grid, a grid; otherwise a tuple */
    GIVES_CUT_GRID,  /* a grid, or what is left of one */
    GIVES_SAME,      /* of a grid, indices or object, the same kind */
    GIVES_PATCH,     /* of indices or object, the same kind */
    GIVES_FUNCTION
} result;

static const uint8_t results[ARC_N_OPS] = {
    [ARC_OP_even] = GIVES_BOOL,
    [ARC_OP_flip] = GIVES_BOOL,
    [ARC_OP_equality] = GIVES_BOOL,
    [ARC_OP_contained] = GIVES_BOOL,
    [ARC_OP_greater] = GIVES_BOOL,
    [ARC_OP_positive] = GIVES_BOOL,
    [ARC_OP_portrait] = GIVES_BOOL,
    [ARC_OP_square] = GIVES_BOOL,
    [ARC_OP_vline] = GIVES_BOOL,
    [ARC_OP_hline] = GIVES_BOOL,
    [ARC_OP_hmatching] = GIVES_BOOL,
    [ARC_OP_vmatching] = GIVES_BOOL,
    [ARC_OP_adjacent] = GIVES_BOOL,
    [ARC_OP_bordering] = GIVES_BOOL,

    [ARC_OP_size] = GIVES_INT,
    [ARC_OP_height] = GIVES_INT,
    [ARC_OP_width] = GIVES_INT,
    [ARC_OP_colorcount] = GIVES_INT,
    [ARC_OP_uppermost] = GIVES_INT,
    [ARC_OP_lowermost] = GIVES_INT,
    [ARC_OP_leftmost] = GIVES_INT,
    [ARC_OP_rightmost] = GIVES_INT,
    [ARC_OP_manhattan] = GIVES_INT,
    [ARC_OP_numcolors] = GIVES_INT,
    [ARC_OP_hperiod] = GIVES_INT,
    [ARC_OP_vperiod] = GIVES_INT,
    [ARC_OP_col_row] = GIVES_INT,

    [ARC_OP_add] = GIVES_NUMBERS,
    [ARC_OP_subtract] = GIVES_NUMBERS,
    [ARC_OP_multiply] = GIVES_NUMBERS,
    [ARC_OP_divide] = GIVES_NUMBERS,
    [ARC_OP_invert] = GIVES_NUMBERS,
    [ARC_OP_double] = GIVES_NUMBERS,
    [ARC_OP_halve] = GIVES_NUMBERS,
    [ARC_OP_increment] = GIVES_NUMBERS,
    [ARC_OP_decrement] = GIVES_NUMBERS,
    [ARC_OP_crement] = GIVES_NUMBERS,
    [ARC_OP_sign] = GIVES_NUMBERS,

    [ARC_OP_shape] = GIVES_PAIR,
    [ARC_OP_position] = GIVES_PAIR,
    [ARC_OP_gravitate] = GIVES_PAIR,
    [ARC_OP_center] = GIVES_PAIR,
    [ARC_OP_ulcorner] = GIVES_CORNER,
    [ARC_OP_urcorner] = GIVES_CORNER,
    [ARC_OP_llcorner] = GIVES_CORNER,
    [ARC_OP_lrcorner] = GIVES_CORNER,
    [ARC_OP_corner] = GIVES_CORNER,
    [ARC_OP_centerofmass] = GIVES_CORNER,

    [ARC_OP_asindices] = GIVES_CELLS,
    [ARC_OP_ofcolor] = GIVES_CELLS,
    [ARC_OP_dneighbors] = GIVES_CELLS,
    [ARC_OP_ineighbors] = GIVES_CELLS,
    [ARC_OP_neighbors] = GIVES_CELLS,
    [ARC_OP_connect] = GIVES_CELLS,
    [ARC_OP_shoot] = GIVES_CELLS,
    [ARC_OP_vfrontier] = GIVES_LINE,
    [ARC_OP_hfrontier] = GIVES_LINE,
    [ARC_OP_backdrop] = GIVES_CELLS,
    [ARC_OP_delta] = GIVES_CELLS,
    [ARC_OP_inbox] = GIVES_CELLS,
    [ARC_OP_outbox] = GIVES_CELLS,
    [ARC_OP_occurrences] = GIVES_CELLS,

    [ARC_OP_recolor] = GIVES_OBJECT,
    [ARC_OP_toobject] = GIVES_OBJECT,
    [ARC_OP_asobject] = GIVES_OBJECT,
    [ARC_OP_objects] = GIVES_OBJECTS,
    [ARC_OP_o_g] = GIVES_OBJECTS,
    [ARC_OP_partition] = GIVES_OBJECTS,
    [ARC_OP_fgpartition] = GIVES_OBJECTS,
    [ARC_OP_frontiers] = GIVES_OBJECTS,

    [ARC_OP_dedupe] = GIVES_TUPLE,
    [ARC_OP_order] = GIVES_TUPLE,
    [ARC_OP_repeat] = GIVES_TUPLE,
    [ARC_OP_toivec] = GIVES_TUPLE,
    [ARC_OP_tojvec] = GIVES_TUPLE,
    [ARC_OP_totuple] = GIVES_TUPLE,
    [ARC_OP_interval] = GIVES_TUPLE,
    [ARC_OP_astuple] = GIVES_TUPLE,
    [ARC_OP_pair] = GIVES_TUPLE,
    [ARC_OP_papply] = GIVES_TUPLE,
    [ARC_OP_mpapply] = GIVES_TUPLE,
    [ARC_OP_hsplit] = GIVES_TUPLE,
    [ARC_OP_vsplit] = GIVES_TUPLE,
    [ARC_OP_p_g] = GIVES_TUPLE,
    [ARC_OP_p_o] = GIVES_TUPLE,

    [ARC_OP_intersection] = GIVES_SET,
    [ARC_OP_initset] = GIVES_SET,
    [ARC_OP_insert] = GIVES_SET,
    [ARC_OP_product] = GIVES_SET,
    [ARC_OP_prapply] = GIVES_SET,
    [ARC_OP_colorfilter] = GIVES_SET,
    [ARC_OP_sizefilter] = GIVES_SET,
    [ARC_OP_palette] = GIVES_SET,
    [ARC_OP_corners] = GIVES_SET,
    [ARC_OP_p_f] = GIVES_SET,

    [ARC_OP_rot90] = GIVES_GRID_LIKE,
    [ARC_OP_rot180] = GIVES_GRID_LIKE,
    [ARC_OP_rot270] = GIVES_GRID_LIKE,
    [ARC_OP_fill] = GIVES_GRID_LIKE,
    [ARC_OP_paint] = GIVES_GRID_LIKE,
    [ARC_OP_underfill] = GIVES_GRID_LIKE,
    [ARC_OP_underpaint] = GIVES_GRID_LIKE,
    [ARC_OP_replace] = GIVES_GRID_LIKE,
    [ARC_OP_switch] = GIVES_GRID_LIKE,
    [ARC_OP_cover] = GIVES_GRID_LIKE,
    [ARC_OP_move] = GIVES_GRID_LIKE,
    [ARC_OP_crop] = GIVES_CUT_GRID,
    [ARC_OP_subgrid] = GIVES_CUT_GRID,
    [ARC_OP_trim] = GIVES_CUT_GRID,
    [ARC_OP_tophalf] = GIVES_CUT_GRID,
    [ARC_OP_bottomhalf] = GIVES_CUT_GRID,
    [ARC_OP_lefthalf] = GIVES_CUT_GRID,
    [ARC_OP_righthalf] = GIVES_CUT_GRID,
    [ARC_OP_compress] = GIVES_CUT_GRID,
    [ARC_OP_canvas] = GIVES_CUT_GRID,

    [ARC_OP_hmirror] = GIVES_SAME,
    [ARC_OP_vmirror] = GIVES_SAME,
    [ARC_OP_dmirror] = GIVES_SAME,
    [ARC_OP_cmirror] = GIVES_SAME,
    [ARC_OP_shift] = GIVES_PATCH,
    [ARC_OP_normalize] = GIVES_PATCH,

    [ARC_OP_compose] = GIVES_FUNCTION,
    [ARC_OP_chain] = GIVES_FUNCTION,
    [ARC_OP_matcher] = GIVES_FUNCTION,
    [ARC_OP_rbind] = GIVES_FUNCTION,
    [ARC_OP_lbind] = GIVES_FUNCTION,
    [ARC_OP_power] = GIVES_FUNCTION,
    [ARC_OP_fork] = GIVES_FUNCTION,
};

/* Whether kind `a` lies within `mask`; no kind at all does not. */
static int is_within(unsigned a, unsigned mask)
{
    return a != 0 && (a & ~mask) == 0;
}

static qn_arc_kinds function_made(int op, const qn_arc_kinds *args)
{
    if (op == ARC_OP_matcher)
        return kinds(QN_ARC_IS_FN, QN_ARC_IS_BOOL);
    /* Other functions give what their first function gives. */
    return kinds(QN_ARC_IS_FN, args && args[0].self == QN_ARC_IS_FN ? args[0].inner : ANY);
}

static int makes_cells(int op, const qn_arc_kinds *args)
{
    if (!args)
        return 0;
    if (op == ARC_OP_recolor)
        return is_within(args[0].self, NUMBER);
    return args[op == ARC_OP_toobject ? 1 : 0].self == GRID;
}

/* A grid with anything but numbers written into it is no longer a grid. */
static int stays_grid(int op, const qn_arc_kinds *args)
{
    if (!args || args[0].self != GRID)
        return 0;
    switch (op) {
    case ARC_OP_fill:
    case ARC_OP_underfill:
        return is_within(args[1].self, NUMBER);
    case ARC_OP_replace:
        return is_within(args[2].self, NUMBER);
    case ARC_OP_switch:
        return is_within(args[1].self | args[2].self, NUMBER);
    case ARC_OP_paint:
    case ARC_OP_underpaint:
    case ARC_OP_move:
        return args[1].self == OBJ;
    default:
        return 1;
    }
}

qn_arc_kinds qn_arc_kinds_given(int op, const qn_arc_kinds *args)
{
    const unsigned first = args ? args[0].self : ANY;

    switch (results[op]) {
    case GIVES_BOOL:
        return kinds(QN_ARC_IS_BOOL, 0);
    case GIVES_INT:
        return kinds(QN_ARC_IS_INT, 0);
    case GIVES_NUMBERS:
        return kinds(QN_ARC_IS_INT | PAIR, QN_ARC_IS_INT);
    case GIVES_PAIR:
        return kinds(PAIR, QN_ARC_IS_INT);
    case GIVES_CORNER:
        return kinds(PAIR | QN_ARC_IS_TUPLE, QN_ARC_IS_INT);
    case GIVES_CELLS:
        return kinds(QN_ARC_IS_IDX, PAIR);
    case GIVES_LINE:
        return first == PAIR ? kinds(QN_ARC_IS_IDX, PAIR) : kinds(SETS, ANY);
    case GIVES_OBJECT:
        return makes_cells(op, args) ? kinds(OBJ, QN_ARC_IS_CELL) : kinds(SETS, ANY);
    case GIVES_OBJECTS:
        return first == GRID ? kinds(QN_ARC_IS_SET, OBJ) : kinds(SETS, ANY);
    case GIVES_TUPLE:
        return kinds(QN_ARC_IS_A_TUPLE, ANY);
    case GIVES_SET:
        return kinds(SETS, ANY);
    case GIVES_GRID_LIKE:
        return kinds(stays_grid(op, args) ? GRID : QN_ARC_IS_A_TUPLE, QN_ARC_IS_A_TUPLE);
    case GIVES_CUT_GRID:
        return kinds(QN_ARC_IS_A_TUPLE, ANY);
    case GIVES_SAME:
        return is_within(first, GRID | PATCH) ? args[0] : kinds(CONT, ANY);
    case GIVES_PATCH:
        return is_within(first, PATCH) ? args[0] : kinds(CONT, ANY);
    case GIVES_FUNCTION:
        return function_made(op, args);
    default:
        return kinds(ANY, ANY);
    }
}

/* Parameters and operations. */

/* S, I and C: samples, a grid, and a grid or NONE. Further arguments can be anything. */
static qn_arc_kinds kinds_of_param(const qn_arc_dag *dag, int number)
{
    if (!(dag->flags & ARC_FLAG_THREE))
        return number == 0 ? kinds(GRID, QN_ARC_IS_A_TUPLE) : kinds(ANY, ANY);
    if (number == 0)
        return kinds(QN_ARC_IS_A_TUPLE, QN_ARC_IS_A_TUPLE);
    if (number == 1)
        return kinds(GRID, QN_ARC_IS_A_TUPLE);
    return number == 2 ? kinds(GRID | QN_ARC_IS_NONE, QN_ARC_IS_A_TUPLE) : kinds(ANY, ANY);
}

static qn_arc_kinds applied(const qn_arc_kinds *args)
{
    const unsigned made = args[0].self == QN_ARC_IS_FN ? args[0].inner : ANY;

    if (is_within(args[1].self, QN_ARC_IS_A_TUPLE))
        return kinds(QN_ARC_IS_A_TUPLE, made);
    if (is_within(args[1].self, SETS))
        return kinds(made == PAIR ? QN_ARC_IS_IDX : SETS, made);
    return kinds(CONT, made);
}

static qn_arc_kinds kinds_of_step(int op, const qn_arc_kinds *args)
{
    switch (op) {
    case ARC_OP_CALL:
        return kinds(args[0].self == QN_ARC_IS_FN ? args[0].inner : ANY, ANY);
    case ARC_OP_TUPLE:
        return kinds(QN_ARC_IS_A_TUPLE, ANY);
    case ARC_OP_FAIL:
        return kinds(ANY, ANY);
    case ARC_OP_identity:
        return args[0];
    case ARC_OP_toivec:
    case ARC_OP_tojvec:
        return is_within(args[0].self, NUMBER) ? kinds(PAIR, NUMBER)
                                               : kinds(QN_ARC_IS_A_TUPLE, ANY);
    case ARC_OP_astuple:
        return is_within(args[0].self | args[1].self, NUMBER) ? kinds(PAIR, NUMBER)
                                                              : kinds(QN_ARC_IS_A_TUPLE, ANY);
    case ARC_OP_apply:
        return applied(args);
    case ARC_OP_sfilter:
    case ARC_OP_difference:
    case ARC_OP_intersection:
        return is_within(args[0].self, SETS) ? args[0] : kinds(CONT, args[0].inner);
    case ARC_OP_branch:
        return kinds(args[1].self | args[2].self, args[1].inner | args[2].inner);
    case ARC_OP_first:
    case ARC_OP_last:
    case ARC_OP_other:
    case ARC_OP_argmax:
    case ARC_OP_argmin:
    case ARC_OP_extract:
        return is_within(args[0].self, CONT) ? kinds(args[0].inner, ANY) : kinds(ANY, ANY);
    case ARC_OP_mostcolor:
    case ARC_OP_leastcolor:
    case ARC_OP_color:
        return is_within(args[0].self, GRID | OBJ) ? kinds(NUMBER, 0) : kinds(ANY, ANY);
    case ARC_OP_colorfilter:
    case ARC_OP_sizefilter:
        return kinds(SETS, args[0].inner);
    case ARC_OP_order:
    case ARC_OP_totuple:
        return kinds(QN_ARC_IS_A_TUPLE, args[0].inner);
    case ARC_OP_merge:
        return is_within(args[0].self, SETS) && args[0].inner == OBJ ? kinds(OBJ, QN_ARC_IS_CELL)
                                                                     : kinds(CONT, ANY);
    case ARC_OP_hconcat:
        return args[0].self == GRID && args[1].self == GRID ? kinds(GRID, QN_ARC_IS_A_TUPLE)
                                                            : kinds(QN_ARC_IS_A_TUPLE, ANY);
    default:
        return qn_arc_kinds_given(op, args);
    }
}

void qn_arc_infer(const qn_arc_dag *dag, qn_arc_kinds *out)
{
    for (int i = 0; i < dag->n; i++) {
        const qn_arc_node *node = &dag->nodes[i];
        qn_arc_kinds args[4] = { { 0, 0 } };

        out[i] = kinds(ANY, ANY);
        if (node->op == QN_ARC_NODE_GONE)
            continue;
        if (node->op == QN_ARC_NODE_PARAM) {
            out[i] = kinds_of_param(dag, node->number);
            continue;
        }
        if (node->op == QN_ARC_NODE_CONST) {
            out[i] = qn_arc_kinds_of_value(node->value);
            continue;
        }
        for (int k = 0; k < node->n_args; k++)
            args[k] = out[node->a[k]];
        out[i] = kinds_of_step(node->op, args);
        /* A guarded step gives its default instead of failing. */
        if (node->guard)
            out[i] = kinds(ANY, ANY);
        if (out[i].inner == 0 && out[i].self & (CONT | QN_ARC_IS_FN))
            out[i].inner = ANY;
    }
}

/* Which operations cannot fail, and what they cost, on operands of known kinds.
 *
 * A row lists the kinds each operand may have without the primitive ever failing. Primitives that
 * are not listed can fail, or it has never mattered that they cannot.
 */

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
