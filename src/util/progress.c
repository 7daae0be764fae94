/* progress.c - computes the progress of a job and shows it.
 *
 * Every bar owns a span of the job and fills it; the progress of a phase also counts in its
 * parents. Each addition is limited to what is left in the bar and in each of its parents, so the
 * total only grows and ends at 1, in any order and from any number of threads. (Showing the start
 * of the newest phase plus its progress is simpler, but jumps when two phases run at once.)
 */
#include "util/progress.h"

#include "util/clock.h"
#include "util/format.h"
#include "util/status.h"
#include "util/str.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MIN_BAR = 10, MAX_BAR = 30, REDRAW_US = 100000, DEFAULT_COLUMNS = 80 };

/* The state of a job, shared by its phases. */
typedef struct board {
    pthread_mutex_t lock;
    FILE *to;
    double (*now_us)(void);
    int is_drawn, is_line; /* redrawn; plain lines; neither: off */
    double fraction;       /* done of the whole job */
    double start_us, drawn_us;
    int shown_tenth; /* of the last plain line */
    int is_open;     /* a redrawn line has no newline yet */
    int is_done;
} board;

struct qn_progress {
    board *board;
    qn_progress *parent;
    char *name; /* after the names of its parents */
    char *unit;
    double total, done;  /* units; those assigned to phases count as done */
    double span, filled; /* part of the job for the bar and its phases; done of it */
    double start_us;
};

qn_status qn_progress_parse(const char *text, qn_progress_mode *out, qn_err *err)
{
    static const char *const names[] = {
        [QN_PROGRESS_AUTO] = "auto", [QN_PROGRESS_ON] = "on", [QN_PROGRESS_OFF] = "off"
    };

    for (int i = 0; i < 3; i++)
        if (!text || strcmp(text, names[i]) == 0) {
            *out = (qn_progress_mode)i;
            return QN_OK;
        }
    return qn_fail(err, QN_ERR_USAGE, "progress is auto, on or off, not %s", text);
}

/* Drawing. */

/* Columns of the terminal without the last one, where some terminals already wrap. */
static int columns_of(FILE *to)
{
    struct winsize size = { 0 };
    const int fd = fileno(to);

    if (fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col - 1;
    return DEFAULT_COLUMNS - 1;
}

static void add_clock(qn_str *line, double seconds)
{
    const double whole = fmin(ceil(seconds), 359999); /* 99:59:59 */

    if (whole >= 3600)
        qn_str_addf(line, "%.0f:%02d:%02d", trunc(whole / 3600), (int)fmod(whole, 3600) / 60,
                    (int)fmod(whole, 60));
    else
        qn_str_addf(line, "%d:%02d", (int)whole / 60, (int)whole % 60);
}

/* " 42 % 1 240 steps/s ETA 0:12". The rate is that of the bar that just advanced. */
static void add_figures(qn_str *line, const qn_progress *p, double now)
{
    const board *const b = p->board;
    const double run_s = (now - p->start_us) * 1e-6;
    const double job_s = (now - b->start_us) * 1e-6;
    char rate[40];

    /* Rounding errors of the sum may just miss a whole percent. */
    qn_str_addf(line, "  %2d %%", (int)(100 * b->fraction + 1e-6));
    if (p->unit[0] && run_s > 0 && p->done > 0)
        qn_str_addf(line, "  %s %s/s", qn_format_count(p->done / run_s, rate, sizeof rate),
                    p->unit);
    if (b->is_done) {
        qn_str_add(line, "  in ");
        add_clock(line, job_s);
    } else if (job_s > 0 && b->fraction > 0) {
        qn_str_add(line, "  ETA ");
        add_clock(line, job_s * (1 - b->fraction) / b->fraction);
    }
}

static void add_bar(qn_str *line, double fraction, int width)
{
    const int n = (int)(fraction * width + 1e-6);

    qn_str_add(line, "  [");
    for (int i = 0; i < width; i++)
        qn_str_add(line, i < n ? "=" : i == n ? ">" : " ");
    qn_str_add(line, "]");
}

/* Between draws the cursor is in the first column, so that other messages start there and not
 * behind the bar. */
static void redraw(const qn_progress *p, double now)
{
    board *const b = p->board;
    const int columns = columns_of(b->to);
    qn_str figures = { 0 }, line = { 0 };

    add_figures(&figures, p, now);
    const int room = columns - (int)strlen(p->name) - (int)figures.len - 4;
    qn_str_add(&line, p->name);
    if (room >= MIN_BAR)
        add_bar(&line, b->fraction, room < MAX_BAR ? room : MAX_BAR);
    qn_str_add(&line, qn_str_get(&figures));
    /* A line that wraps cannot be redrawn, so it is cut. The escape clears the rest of a longer
     * line. */
    fprintf(b->to, "\r%.*s\033[K%c", columns, qn_str_get(&line), b->is_done ? '\n' : '\r');
    fflush(b->to);
    b->is_open = !b->is_done;
    b->drawn_us = now;
    qn_str_free(&figures);
    qn_str_free(&line);
}

static void print_line(const qn_progress *p, double now)
{
    qn_str figures = { 0 };

    add_figures(&figures, p, now);
    fprintf(p->board->to, "%s%s\n", p->name, qn_str_get(&figures));
    fflush(p->board->to);
    qn_str_free(&figures);
}

/* Shows the new state if it is time to. Called with the lock held. */
static void show(const qn_progress *p)
{
    board *const b = p->board;
    const int tenth = (int)(10 * b->fraction + 1e-6);
    double now;

    if (!b->is_drawn && (!b->is_line || tenth <= b->shown_tenth))
        return;
    now = b->now_us();
    if (b->is_drawn && (b->is_done || !b->is_open || now - b->drawn_us >= REDRAW_US)) {
        redraw(p, now);
    } else if (b->is_line) {
        b->shown_tenth = tenth;
        print_line(p, now);
    }
}

/* Bars. */

static void free_bar(qn_progress *p)
{
    if (!p)
        return;
    free(p->name);
    free(p->unit);
    free(p);
}

/* If the total is not positive, only qn_progress_done fills the bar. */
static qn_progress *new_bar(board *b, const char *before, const char *name, const char *unit,
                            double total)
{
    qn_progress *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->board = b;
    p->total = total > 0 && isfinite(total) ? total : 0;
    p->start_us = b->now_us();
    if (asprintf(&p->name, "%s%s%s", before, *before && *name ? " " : "", name) < 0)
        p->name = NULL;
    p->unit = strdup(unit ? unit : "steps");
    if (!p->name || !p->unit) {
        free_bar(p);
        return NULL;
    }
    return p;
}

qn_status qn_progress_new(const qn_progress_options *options, const char *name, const char *unit,
                          double total, qn_progress **out, qn_err *err)
{
    board *b = calloc(1, sizeof *b);
    qn_progress *p = NULL;

    if (!b || pthread_mutex_init(&b->lock, NULL)) {
        free(b);
        return qn_fail(err, QN_ERR_NOMEM, "progress of %s: %zu bytes", name, sizeof *b);
    }
    b->to = options && options->to ? options->to : stderr;
    b->now_us = options && options->now_us ? options->now_us : qn_now_us;
    const qn_progress_mode mode = options ? options->mode : QN_PROGRESS_AUTO;
    const int fd = fileno(b->to);
    b->is_drawn = mode == QN_PROGRESS_ON || (mode == QN_PROGRESS_AUTO && fd >= 0 && isatty(fd));
    b->is_line = mode == QN_PROGRESS_AUTO && !b->is_drawn;
    if (!(p = new_bar(b, "", name, unit, total))) {
        pthread_mutex_destroy(&b->lock);
        free(b);
        return qn_fail(err, QN_ERR_NOMEM, "progress of %s: %zu bytes", name, sizeof *p);
    }
    b->start_us = p->start_us;
    p->span = 1;
    *out = p;
    return QN_OK;
}

qn_progress *qn_progress_phase(qn_progress *parent, double share, const char *name,
                               const char *unit, double total)
{
    qn_progress *p;

    if (!parent || !(p = new_bar(parent->board, parent->name, name, unit, total)))
        return NULL;
    p->parent = parent;
    pthread_mutex_lock(&parent->board->lock);
    if (share > 0 && parent->total > 0) {
        share = fmin(share, parent->total - parent->done);
        p->span = parent->span * share / parent->total;
        parent->done += share;
    }
    pthread_mutex_unlock(&parent->board->lock);
    return p;
}

/* Adds `part` of the job, as far as the bar and its parents allow. Called with the lock held. */
static void fill(qn_progress *bar, double part)
{
    board *const b = bar->board;

    for (const qn_progress *p = bar; p; p = p->parent)
        part = fmin(part, p->span - p->filled);
    if (!(part > 0) || b->is_done)
        return;
    for (qn_progress *p = bar; p; p = p->parent)
        p->filled += part;
    b->fraction = fmin(b->fraction + part, 1);
    b->is_done = b->fraction > 1 - 1e-9; /* allows for rounding errors */
    if (b->is_done)
        b->fraction = 1;
    show(bar);
}

static void move_to(qn_progress *p, double units)
{
    if (!(units > p->done) || !(p->total > 0))
        return;
    const double part = p->span * (fmin(units, p->total) - p->done) / p->total;
    p->done = fmin(units, p->total);
    fill(p, part);
}

void qn_progress_add(qn_progress *progress, double units)
{
    if (!progress)
        return;
    pthread_mutex_lock(&progress->board->lock);
    move_to(progress, progress->done + units);
    pthread_mutex_unlock(&progress->board->lock);
}

void qn_progress_at(qn_progress *progress, double units)
{
    if (!progress)
        return;
    pthread_mutex_lock(&progress->board->lock);
    move_to(progress, units);
    pthread_mutex_unlock(&progress->board->lock);
}

void qn_progress_done(qn_progress *progress)
{
    if (!progress)
        return;
    pthread_mutex_lock(&progress->board->lock);
    progress->done = progress->total;
    fill(progress, progress->span - progress->filled);
    pthread_mutex_unlock(&progress->board->lock);
}

void qn_progress_free(qn_progress *progress)
{
    if (!progress)
        return;
    if (!progress->parent) {
        board *const b = progress->board;
        if (b->is_open)
            fputc('\n', b->to);
        pthread_mutex_destroy(&b->lock);
        free(b);
    }
    free_bar(progress);
}

double qn_progress_fraction(const qn_progress *progress)
{
    double fraction;

    if (!progress)
        return 0;
    pthread_mutex_lock(&progress->board->lock);
    fraction = progress->board->fraction;
    pthread_mutex_unlock(&progress->board->lock);
    return fraction;
}
