/* run_folder.h - the folder for the results of a run.
 *
 * One run owns a folder at a time: its journal, `run.journal`, is locked, and the lock ends with
 * the process. Files are written in `run.unfinished/`. A commit brings them to the disk, gives them
 * their names and then adds its facts to the journal, in this order. So a file with its final name
 * is whole, and a journal never vouches for what a power cut could undo. The last line of a journal
 * says that the run has finished. A thread does this, in order, while the run goes on.
 *
 * Names are relative, so the folder can be moved, and even a forged journal cannot name files
 * outside it. Calls on one folder come from one thread at a time.
 */
#ifndef QN_UTIL_RUN_FOLDER_H
#define QN_UTIL_RUN_FOLDER_H

#include "util/file.h"
#include "util/status.h"

#define QN_RUN_JOURNAL "run.journal"

/* Added to the message when a run fails. */
#define QN_RUN_KEPT "; what is finished is kept: repeat the command with --resume"

typedef struct qn_run_folder qn_run_folder;

typedef struct qn_run_folder_options {
    const char *path; /* made if it does not exist */
    const char *plan; /* one line: the tool, and everything that results depend on */
    int resume;       /* continue an unfinished run that has the same plan */

    /* Whether the run in the folder, finished or not, may go on with the plan above, which is not
     * its own plan `was`. A refusal is QN_ERR_MISMATCH; NULL: it may not. The journal has the new
     * plan from the first commit on: until then, the folder is that of the run before. */
    qn_status (*accept)(void *user, const qn_run_folder *folder, const char *was, qn_err *err);
    void *user;
} qn_run_folder_options;

typedef enum qn_run_state {
    QN_RUN_NEW,       /* nothing is done yet; files of an unfinished run were removed */
    QN_RUN_CONTINUED, /* the facts in the journal are valid */
    QN_RUN_FINISHED   /* only with `resume`: this run has already finished */
} qn_run_state;

/* Fails with QN_ERR_IO while another run owns the folder, and names its process. With `resume`, a
 * run with another plan is QN_ERR_MISMATCH; if there is none, a new run begins. Without `resume`,
 * an unfinished run of another tool is QN_ERR_MISMATCH too, since it would be lost. */
qn_status qn_run_folder_open(const qn_run_folder_options *options, qn_run_folder **out,
                             qn_err *err);
qn_run_state qn_run_folder_state(const qn_run_folder *folder);

/* Whether the folder may have files of an earlier run with another plan. */
int qn_run_folder_is_shared(const qn_run_folder *folder);

/* The refusal of a plan whose word `is` was `was` before; `hint` ends the sentence. */
qn_status qn_run_folder_refuse(const qn_run_folder *folder, const char *was, const char *is,
                               const char *hint, qn_err *err);

/* The plan of the run in `path`, which the caller frees; NULL: there is none. */
char *qn_run_folder_plan(const char *path);

/* Where to write the file that will be called `name`, "a.csv" or "maps/a.png": a path that the
 * caller frees. */
qn_status qn_run_folder_path(qn_run_folder *folder, const char *name, char **path, qn_err *err);

/* Opens it for writing. */
qn_status qn_run_folder_create(qn_run_folder *folder, const char *name, qn_out *out, qn_err *err);

/* The file `name` is written; the next commit publishes it. This and commits also report what has
 * failed since an earlier call. */
qn_status qn_run_folder_add(qn_run_folder *folder, const char *name, qn_err *err);

/* Writes and adds a file from memory. */
qn_status qn_run_folder_write(qn_run_folder *folder, const char *name, const void *data,
                              size_t bytes, qn_err *err);

/* Removes the result `name` of an earlier run and syncs its folder. */
qn_status qn_run_folder_remove(qn_run_folder *folder, const char *name, qn_err *err);

/* Scratch files stay in `run.unfinished/` until the run has finished. When a run is continued, they
 * have at least the content of the last commit after qn_run_folder_keep. `name` must not contain a
 * folder. */
qn_status qn_run_folder_scratch(const qn_run_folder *folder, const char *name, char **path,
                                qn_err *err);
qn_status qn_run_folder_keep(qn_run_folder *folder, const char *name, qn_err *err);

/* The next commit removes this scratch file as its last action. */
qn_status qn_run_folder_forget(qn_run_folder *folder, const char *name, qn_err *err);

/* Brings all that was added and kept to the disk and notes the fact `key`, a word, with its value,
 * a line; NULL: no fact. A later value replaces an earlier one. Does not wait for the disk. */
qn_status qn_run_folder_commit(qn_run_folder *folder, const char *key, const char *value,
                               qn_err *err);

/* Notes a fact with the next commit. */
qn_status qn_run_folder_note(qn_run_folder *folder, const char *key, const char *value,
                             qn_err *err);
const char *qn_run_folder_fact(const qn_run_folder *folder, const char *key); /* NULL: none */

/* Returns when everything so far is on the disk. */
qn_status qn_run_folder_wait(qn_run_folder *folder, qn_err *err);

/* Waits, and tells whether an interrupted run would have something to continue from. */
int qn_run_folder_has_progress(qn_run_folder *folder);

/* Commits, waits, notes that the run has finished, and removes `run.unfinished/`. */
qn_status qn_run_folder_finish(qn_run_folder *folder, qn_err *err);

/* Releases the folder. Uncommitted files are removed, and so is the journal if the run has made no
 * progress. NULL is fine. */
void qn_run_folder_close(qn_run_folder *folder);

#endif
