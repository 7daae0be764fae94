/* json.h - JSON files with errors that name the place, using Jansson. */
#ifndef QN_UTIL_JSON_H
#define QN_UTIL_JSON_H

#include "util/file.h"
#include "util/status.h"

#include <jansson.h>

/* Reads `path`, whose root must be an object; the caller releases it with json_decref. Errors name
 * the line. Duplicate keys are refused. */
qn_status qn_json_read(const char *path, json_t **out, qn_err *err);

/* The status for a text that Jansson refused: QN_ERR_INPUT, or QN_ERR_NOMEM if it gives no
 * reason. */
qn_status qn_json_status(const json_error_t *why);

/* Writes `json` indented, with keys in order of insertion and 12-digit reals, in one piece. */
qn_status qn_json_write(const char *path, const json_t *json, qn_err *err);
qn_status qn_json_commit(qn_out *out, const json_t *json, qn_err *err); /* ends `out` */

/* Member `key` of `object`, with its type checked. `where` starts the error message. Text is
 * borrowed from the object. */
qn_status qn_json_get_text(const json_t *object, const char *key, const char *where,
                           const char **out, qn_err *err);
qn_status qn_json_get_number(const json_t *object, const char *key, const char *where, double *out,
                             qn_err *err);
qn_status qn_json_get_i64(const json_t *object, const char *key, const char *where, qn_i64 *out,
                          qn_err *err);
qn_status qn_json_get_array(const json_t *object, const char *key, const char *where, json_t **out,
                            qn_err *err);

/* New values; NULL only if out of memory. Numbers that JSON cannot write (NaN, infinity) become
 * null, bytes that are not UTF-8 become U+FFFD. */
json_t *qn_json_number(double value);
json_t *qn_json_text(const char *text);

/* Add a value and take ownership of it. If memory runs out, the tree is released and becomes and
 * stays NULL, so that the caller can check once at the end. */
void qn_json_put(json_t **object, const char *key, json_t *value);
void qn_json_push(json_t **array, json_t *value);
void qn_json_merge(json_t **object, json_t *more); /* adds the members of `more` */

#endif
