/* run.h - between the table of readers and the two programs that use it. */
#ifndef QN_TESTS_FUZZ_RUN_H
#define QN_TESTS_FUZZ_RUN_H

#include "fuzz.h"
#include "util/temp_dir.h"

enum { FUZZ_MOST_BYTES = 1 << 16 };

const fuzz_reader *fuzz_reader_at(int i); /* NULL after the last */
const fuzz_reader *fuzz_reader_find(const char *name);

/* The seed that the reader makes; the caller frees it. NULL: this machine cannot. */
char *fuzz_seed(const fuzz_reader *reader, size_t *n);

/* What the reader says of the input. A defect ends the process. */
qn_status fuzz_one(const fuzz_reader *reader, const uint8_t *bytes, size_t n, qn_err *err);

void fuzz_make_folder(qn_temp_dir *dir);

/* Where the files of inputs lie, before the first one. */
void fuzz_begin(const char *folder);

#endif
