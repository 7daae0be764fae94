/* mock_impl.h - shared by the files of the mock driver. */
#ifndef MOCK_IMPL_H
#define MOCK_IMPL_H

#include "hal/cuda/cuda_api.h"
#include "mock/mock_cuda.h"

enum { MOCK_MAX_PARAMS = 40, MOCK_MAX_PARAM_BYTES = 4096, MOCK_MAX_DEPS = 64 };
enum { MOCK_SHARED_BYTES = 48 * 1024, MOCK_MAX_SHARED_BYTES = 227 * 1024 };
enum { MOCK_REGISTERS = 40, MOCK_LOCAL_BYTES = 16 }; /* of every kernel */

/* mock_image.c. */

struct CUfunc_st {
    char name[128];
    int n_params;
    size_t sizes[MOCK_MAX_PARAMS];
    unsigned max_threads;
    unsigned more_shared; /* that a launch may use beyond MOCK_SHARED_BYTES */
    CUfunction next;
};

struct CUmod_st {
    CUfunction functions;
};

/* Reads a cubin or PTX. On failure writes a line to `log` (may be NULL). */
CUresult mock_image_read(const void *image, CUmodule module, char *log, size_t log_size);
void mock_image_free(CUmodule module);

/* mock_stream.c. */

/* A point in a stream, passed or not; an event points to its latest one. */
typedef struct mock_mark {
    int refs, is_done;
    double time_us;
    CUstream stream;
} mock_mark;

typedef enum { MOCK_COPY, MOCK_LAUNCH, MOCK_RECORD, MOCK_WAIT } mock_kind;

typedef struct mock_op {
    mock_kind kind;
    char *dst; /* copy: rows of `width` bytes */
    const char *src;
    size_t dst_pitch, src_pitch, width, height;
    CUfunction function; /* launch */
    unsigned grid[3], block[3];
    unsigned char params[MOCK_MAX_PARAM_BYTES];
    mock_mark *mark; /* record, wait */
    struct mock_op *next;
} mock_op;

struct CUgraphNode_st {
    mock_op op;
    CUgraphNode deps[MOCK_MAX_DEPS];
    int n_deps, is_reached;
    CUgraphNode next;
};

struct CUgraph_st {
    CUstream origin;
    int is_invalid;
    CUgraphNode nodes, last;
    CUgraph next;
};

struct CUgraphExec_st {
    CUgraph graph;
    int n;
    CUgraphNode *handles;
    mock_op *ops;
};

struct CUstream_st {
    CUcontext ctx;
    mock_op *head, *tail;
    CUgraph capture; /* being captured into, or NULL */
    CUgraphNode deps[MOCK_MAX_DEPS];
    int n_deps;
    CUstream next;
};

struct CUevent_st {
    mock_mark *mark;
    CUgraph capture; /* recorded in this capture */
    CUgraphNode deps[MOCK_MAX_DEPS];
    int n_deps;
};

struct CUctx_st {
    int device, refs;
    CUresult fault; /* that ended it */
};

/* Queues a copy of `op`, or captures it. */
CUresult mock_enqueue(CUstream stream, const mock_op *op);
/* Runs the stream up to the mark, or to its end (NULL). */
void mock_run(CUstream stream, const mock_mark *until);
void mock_run_one(CUstream stream);
void mock_run_all(void);
/* Fills `op` with a launch, or returns why it is refused. */
CUresult mock_fill_launch(mock_op *op, CUfunction function, const unsigned *grid,
                          const unsigned *block, void *const *params);
mock_mark *mock_mark_new(CUstream stream);
void mock_mark_drop(mock_mark *mark);
CUresult mock_capture_end(CUstream stream, CUgraph *out);
void mock_graph_free(CUgraph graph);
int mock_graph_is_live(const struct CUgraph_st *graph);
void mock_capture_spoil_all(void);
int mock_is_capturing(void); /* any stream */

/* libcuda_mock.c. */

typedef struct mock_state {
    int devices, arch;
    CUresult refusal;
    size_t memory, used;
    double clock_us;
    mock_cuda_launcher launcher;
    void *launcher_user;
    mock_cuda_live live;
    CUstream streams;
    CUgraph graphs;
    CUmodule last_module;
} mock_state;

extern mock_state mock;

/* First in every entry: threads may call the driver at the same time. */
#define MOCK_LOCK                                                                                  \
    __attribute__((cleanup(mock_unlock), unused)) const int mock_is_locked = mock_lock()
int mock_lock(void);
void mock_unlock(const int *locked);

extern _Thread_local CUcontext mock_current;

/* Counts a call of an entry. Returns 0 if the entry must return mock.refusal instead of
 * working. mock_enter also requires a current context without a fault. */
int mock_enter(const char *entry);
int mock_enter_any(const char *entry);

/* Prototypes from the list that the backend loads: a signature cannot differ from it. */
#define MOCK_DECLARE(name, symbol, args) CUresult symbol args;
QN_CUDA_CALLS(MOCK_DECLARE)
QN_CUDA_GRAPH_CALLS(MOCK_DECLARE)

#endif
