/* run_folder_impl.h - a run's folder, as its files share it. */
#ifndef QN_UTIL_RUN_FOLDER_IMPL_H
#define QN_UTIL_RUN_FOLDER_IMPL_H

#include "util/journal.h"
#include "util/map.h"
#include "util/run_folder.h"
#include "util/str.h"
#include "util/write_queue.h"

#include <pthread.h>

struct qn_run_folder {
    char *path, *journal_path;
    int dir, work; /* the folder and run.unfinished/ */
    qn_journal journal;
    char *plan;
    qn_map facts; /* to their values */
    qn_run_state state;
    int was_made;  /* this run created the folder */
    int is_shared; /* a run with another plan used it before */

    /* What the next commit publishes, syncs and removes. */
    qn_map added, kept, forgotten;
    qn_str pending;   /* lines that the next commit adds */
    qn_map published; /* files that a commit may be about to give their names */

    /* Of the queue's thread, while it works. */
    qn_write_queue *queue;
    qn_map scratch;   /* files that the journal has */
    int has_progress; /* the journal has a fact */
    int was_finished; /* and is so until the next commit: the run continues with another plan */

    pthread_mutex_t lock; /* of these two */
    qn_map fresh;         /* files that were added and are not on the disk yet */
    int is_syncing;       /* the queue has an item that syncs them */
};

qn_status qn_run_folder_fail(const qn_run_folder *f, const char *doing, const char *name,
                             qn_err *err); /* by errno */
qn_status qn_run_folder_no_memory(const qn_run_folder *f, qn_err *err);
qn_status qn_run_folder_put(const qn_run_folder *f, qn_map *map, const char *name, qn_err *err);

qn_status qn_run_folder_set_fact(qn_run_folder *f, const char *key, const char *value, qn_err *err);
void qn_run_folder_remove_work(qn_run_folder *f);

#endif
