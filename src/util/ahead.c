/* ahead.c - a list of jobs, and threads that empty it. */
#include "util/ahead.h"

#include <pthread.h>
#include <stdlib.h>

struct qn_ahead {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a job is done, or a thread has ended */
    qn_job *first, **last;
    int n_threads, most_threads;
};

qn_ahead *qn_ahead_new(int n_threads)
{
    qn_ahead *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->last = &a->first;
    a->most_threads = n_threads;
    if (pthread_mutex_init(&a->lock, NULL)) {
        free(a);
        return NULL;
    }
    if (pthread_cond_init(&a->changed, NULL)) {
        pthread_mutex_destroy(&a->lock);
        free(a);
        return NULL;
    }
    return a;
}

/* With the lock held, which is free while the job runs. */
static void run(qn_ahead *a, qn_job *job)
{
    job->state = QN_JOB_RUNNING;
    pthread_mutex_unlock(&a->lock);
    job->run(job);
    pthread_mutex_lock(&a->lock);
    job->state = QN_JOB_DONE;
    pthread_cond_broadcast(&a->changed);
}

/* Takes a posted job off the list. */
static void take(qn_ahead *a, qn_job *job)
{
    qn_job **at = &a->first;

    while (*at != job)
        at = &(*at)->next;
    if (!(*at = job->next))
        a->last = at;
    job->next = NULL;
}

static void *work(void *arg)
{
    qn_ahead *a = arg;
    qn_job *job;

    pthread_mutex_lock(&a->lock);
    while ((job = a->first)) {
        take(a, job);
        run(a, job);
    }
    a->n_threads--;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Without one more thread the jobs wait for those there are, or for who needs them. */
static void add_thread(qn_ahead *a)
{
    pthread_attr_t detached;
    pthread_t thread;

    if (a->n_threads >= a->most_threads || pthread_attr_init(&detached))
        return;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    a->n_threads += pthread_create(&thread, &detached, work, a) == 0;
    pthread_attr_destroy(&detached);
}

void qn_ahead_post(qn_ahead *a, qn_job *job)
{
    pthread_mutex_lock(&a->lock);
    job->state = QN_JOB_POSTED;
    job->next = NULL;
    *a->last = job;
    a->last = &job->next;
    add_thread(a);
    pthread_mutex_unlock(&a->lock);
}

void qn_ahead_need(qn_ahead *a, qn_job *job)
{
    pthread_mutex_lock(&a->lock);
    if (job->state == QN_JOB_POSTED)
        take(a, job);
    if (job->state == QN_JOB_POSTED || job->state == QN_JOB_NEW)
        run(a, job);
    while (job->state != QN_JOB_DONE)
        pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

void qn_ahead_drop(qn_ahead *a, qn_job *job)
{
    pthread_mutex_lock(&a->lock);
    if (job->state == QN_JOB_POSTED) {
        take(a, job);
        job->state = QN_JOB_NEW;
    }
    while (job->state == QN_JOB_RUNNING)
        pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

int qn_ahead_is_done(qn_ahead *a, const qn_job *job)
{
    int is_done;

    pthread_mutex_lock(&a->lock);
    is_done = job->state == QN_JOB_DONE;
    pthread_mutex_unlock(&a->lock);
    return is_done;
}

void qn_ahead_free(qn_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    while (a->first)
        take(a, a->first);
    while (a->n_threads)
        pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
