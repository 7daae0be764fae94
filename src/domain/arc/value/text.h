/* text.h - values as people and files write them. */
#ifndef QN_ARC_VALUE_TEXT_H
#define QN_ARC_VALUE_TEXT_H

#include "domain/arc/value/value.h"
#include "util/json.h"
#include "util/str.h"

/* Appends the value as the language writes it: ((1, 2), frozenset({3}), True, None). */
void qn_arc_print(qn_str *out, const qn_arc_value *value);
void qn_arc_print_number(qn_str *out, int64_t number);

/* The same of a grid, without a value of it. */
void qn_arc_print_grid(qn_str *out, const int8_t *cells, int rows, int cols);

/* As JSON: numbers, true, false, null; {"t": [...]} a tuple; {"g": ["012", ...]} a grid of digits;
 * {"s": [...]} a set, {"x": [[i, j], ...]} one of pairs, {"o": [[colour, i, j], ...]} one of cells;
 * {"f": "name"} a primitive, {"f": ["name", value, ...]} what a maker of closures gives;
 * {"bad": ["code", step]} a failed step. NULL for lack of memory. */
json_t *qn_arc_to_json(const qn_arc_value *value);

/* The value of such JSON. `where` starts the error, which goes on with the path in the JSON. */
qn_status qn_arc_from_json(const json_t *json, const char *where, qn_arc_heap *heap,
                           qn_arc_value *out, qn_err *err);

#endif
