/* plug.c - kills a program, cuts its power or fills its disk at the N-th change of a folder.
 *
 * A library for LD_PRELOAD. It counts the calls that change files below PLUG_DIR: open for writing,
 * mkdir, write, ftruncate, fallocate, link, rename, unlink, fsync, close. At call PLUG_AT:
 *
 *   kill   the process ends by SIGKILL: the disk has everything that was written
 *   cut    the power fails: the disk has only what was brought to it by fsync. Content is brought
 *          by fsync of the file, names by fsync of their folder
 *   names  the same, but all names have reached the disk before the content of their files
 *   full   the disk is full: from here on every call that needs space fails with ENOSPC
 *   eio    this one call fails with EIO
 *   stop   the process stops until it gets SIGCONT
 *
 * Without PLUG_AT it counts, and writes the number to PLUG_COUNT at the end.
 *
 * cut and names need PLUG_SHADOW, an empty folder on the same disk. It becomes a copy of what the
 * disk has: inodes/INO is the content of a file, dirs/INO the names in a folder. Names are hard
 * links to the first and symbolic links to the second. `cp -rL PLUG_SHADOW/root TO` is the folder
 * after the cut.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, MAX_STREAMS = 256 };

typedef enum { MODE_KILL, MODE_CUT, MODE_NAMES, MODE_FULL, MODE_EIO, MODE_STOP } plug_mode;

static struct {
    pthread_mutex_t lock;
    char dir[PATH_SIZE], shadow[PATH_SIZE];
    size_t dir_len; /* 0: nothing is watched */
    plug_mode mode;
    long at, n;
    int depth;                  /* of calls by this library itself, which are not counted */
    FILE *streams[MAX_STREAMS]; /* of watched files; their descriptors */
    int fds[MAX_STREAMS];
} plug = { .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };

/* The function that this library replaces. */
#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real)                                                                                     \
    *(void **)&real = dlsym(RTLD_NEXT, name)

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "plug: cannot %s %s: %s\n", what, path, strerror(errno));
    _exit(120);
}

/* The calls that are counted. */

static int is_below(const char *path)
{
    return plug.dir_len && !strncmp(path, plug.dir, plug.dir_len) &&
           (path[plug.dir_len] == '/' || !path[plug.dir_len]);
}

static int path_of(int fd, char path[PATH_SIZE])
{
    char link[64];
    ssize_t n;
    const int before = errno;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, PATH_SIZE - 1);
    errno = before;
    path[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static int is_watched(int fd)
{
    char path[PATH_SIZE];

    return plug.dir_len && path_of(fd, path) && is_below(path);
}

/* Decided by the folder of `name`, which exists even if `name` does not. */
static int is_watched_name(int dir, const char *name)
{
    char path[PATH_SIZE], parent[PATH_SIZE];
    const char *slash;

    if (!plug.dir_len || strlen(name) >= PATH_SIZE)
        return 0;
    slash = strrchr(name, '/');
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - name) + 1 : 1,
             slash ? name : ".");
    if (dir == AT_FDCWD || *parent == '/')
        return realpath(parent, path) && is_below(path);
    if (!slash)
        return is_watched(dir);
    const int fd = openat(dir, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int is = fd >= 0 && is_watched(fd);

    if (fd >= 0)
        syscall(SYS_close, fd); /* which is not counted */
    return is;
}

/* The copy of the disk's state. */

static void shadow_path(char out[PATH_SIZE], const char *kind, ino_t ino)
{
    if (snprintf(out, PATH_SIZE, "%.3900s/%s/%lu", plug.shadow, kind, (unsigned long)ino) >=
        PATH_SIZE)
        abort();
}

static void make_dir(const char *path)
{
    REAL(int, "mkdir", const char *, mode_t);

    if (real(path, 0777) != 0 && errno != EEXIST)
        fail("make", path);
}

/* The file of an inode, empty until its content has been synced. */
static void shadow_file(ino_t ino, char path[PATH_SIZE])
{
    shadow_path(path, "inodes", ino);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    if (fd < 0)
        fail("make", path);
    (void)!close(fd);
}

static void sync_content(const char *from)
{
    char to[PATH_SIZE], data[65536];
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    struct stat info;
    ssize_t n = -1;

    if (in < 0 || fstat(in, &info) != 0)
        fail("read", from);
    shadow_file(info.st_ino, to);
    const int out = open(to, O_WRONLY | O_TRUNC | O_CLOEXEC);

    while (out >= 0 && (n = read(in, data, sizeof data)) > 0)
        if (write(out, data, (size_t)n) != n)
            fail("write", to);
    if (n < 0)
        fail("copy", from);
    (void)!close(in);
    (void)!close(out);
}

static void clear_dir(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    REAL(int, "unlinkat", int, const char *, int);

    if (!dir)
        fail("read", path);
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            real(dirfd(dir), entry->d_name, 0);
    closedir(dir);
}

/* Puts the names in the folder `from` on the disk; with `deep` all names below it too, and with
 * `content` all content. */
static void sync_names(const char *from, int deep, int content)
{
    char to[PATH_SIZE], path[PATH_SIZE], of[PATH_SIZE];
    DIR *dir = opendir(from);
    const struct dirent *entry;
    struct stat info;

    if (!dir || fstat(dirfd(dir), &info) != 0)
        fail("read", from);
    shadow_path(to, "dirs", info.st_ino);
    make_dir(to);
    clear_dir(to);
    while ((entry = readdir(dir))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        snprintf(path, sizeof path, "%.3800s/%.255s", from, entry->d_name);
        if (S_ISDIR(info.st_mode)) {
            shadow_path(of, "dirs", info.st_ino);
            make_dir(of);
            if (deep)
                sync_names(path, deep, content);
        } else if (content) {
            sync_content(path);
        }
        if (S_ISREG(info.st_mode))
            shadow_file(info.st_ino, of);
        snprintf(path, sizeof path, "%.3800s/%.255s", to, entry->d_name);
        if (S_ISDIR(info.st_mode) ? symlink(of, path) != 0 : link(of, path) != 0)
            fail("link", path);
    }
    closedir(dir);
}

static int has_shadow(void)
{
    return plug.mode == MODE_CUT || plug.mode == MODE_NAMES;
}

static void sync_fd(int fd)
{
    char path[PATH_SIZE];
    struct stat info;

    if (!has_shadow() || !plug.at || fstat(fd, &info) != 0)
        return;
    if (!S_ISDIR(info.st_mode)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* it may not have a name yet */
        sync_content(path);
    } else if (path_of(fd, path) && stat(path, &info) == 0) {
        sync_names(path, 0, 0);
    }
}

/* An inode's number must not be reused while the shadow refers to it, so the file is held open. */
static void hold(int dir, const char *name)
{
    if (has_shadow() && plug.at)
        (void)openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/* Counting. */

enum { NEEDS_ROOM = 1, MAY_FAIL = 2 };

/* Called with the lock held, before the call itself. Returns 1 if that must fail, with errno
 * set. */
static int count(int kind)
{
    if (++plug.n < plug.at || !plug.at)
        return 0;
    if (plug.mode == MODE_FULL) {
        errno = ENOSPC;
        return (kind & NEEDS_ROOM) != 0;
    }
    if (plug.n > plug.at)
        return 0;
    if (plug.mode == MODE_EIO) {
        errno = EIO;
        return (kind & MAY_FAIL) != 0;
    }
    if (plug.mode == MODE_STOP) {
        raise(SIGSTOP);
        return 0;
    }
    if (plug.mode == MODE_NAMES)
        sync_names(plug.dir, 1, 0);
    raise(SIGKILL);
    return 1;
}

static void lock(void)
{
    pthread_mutex_lock(&plug.lock);
}

static void unlock(void)
{
    const int before = errno;

    pthread_mutex_unlock(&plug.lock);
    errno = before;
}

/* A call that is counted if `watched`: `result` is the value of `expr`, or -1. */
#define COUNTED(watched, kind, result, expr)                                                       \
    do {                                                                                           \
        if (!(watched)) {                                                                          \
            (result) = (expr);                                                                     \
        } else {                                                                                   \
            lock();                                                                                \
            (result) = plug.depth++ == 0 && count(kind) ? -1 : (expr);                             \
            plug.depth--;                                                                          \
            unlock();                                                                              \
        }                                                                                          \
    } while (0)

/* Start and exit. */

static void set_mode(const char *name)
{
    static const char *const names[] = { "kill", "cut", "names", "full", "eio", "stop" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) {
            plug.mode = (plug_mode)i;
            return;
        }
    fprintf(stderr, "plug: PLUG_MODE=%s is unknown\n", name);
    _exit(120);
}

__attribute__((constructor)) static void begin(void)
{
    const char *dir = getenv("PLUG_DIR"), *shadow = getenv("PLUG_SHADOW");
    const char *at = getenv("PLUG_AT"), *name = getenv("PLUG_MODE");
    char path[PATH_SIZE], root[PATH_SIZE];
    struct stat info;

    if (!dir || !realpath(dir, plug.dir))
        return;
    set_mode(name ? name : "kill");
    plug.at = at ? atol(at) : 0;
    if (has_shadow() && plug.at) {
        if (!shadow || !realpath(shadow, plug.shadow) || stat(plug.dir, &info) != 0)
            fail("use", "PLUG_SHADOW");
        snprintf(path, sizeof path, "%.3900s/inodes", plug.shadow);
        make_dir(path);
        snprintf(path, sizeof path, "%.3900s/dirs", plug.shadow);
        make_dir(path);
        sync_names(plug.dir, 1, 1);
        shadow_path(path, "dirs", info.st_ino);
        snprintf(root, sizeof root, "%.3900s/root", plug.shadow);
        if (symlink(path, root) != 0)
            fail("link", root);
    }
    plug.dir_len = strlen(plug.dir);
    unsetenv("LD_PRELOAD"); /* the compilers and other programs that it starts are not counted */
}

__attribute__((destructor)) static void end(void)
{
    const char *to = getenv("PLUG_COUNT");
    FILE *file = plug.dir_len && to ? fopen(to, "w") : NULL;

    if (!file)
        return;
    fprintf(file, "%ld\n", plug.n);
    fclose(file);
}

/* Descriptors. */

ssize_t write(int fd, const void *from, size_t n)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    ssize_t result;

    COUNTED(is_watched(fd), NEEDS_ROOM | MAY_FAIL, result, real(fd, from, n));
    return result;
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    ssize_t result;

    COUNTED(is_watched(fd), NEEDS_ROOM | MAY_FAIL, result, real(fd, from, n, at));
    return result;
}

int ftruncate(int fd, off_t n)
{
    REAL(int, "ftruncate", int, off_t);
    int result;

    COUNTED(is_watched(fd), MAY_FAIL, result, real(fd, n));
    return result;
}

int fallocate(int fd, int how, off_t from, off_t n)
{
    REAL(int, "fallocate", int, int, off_t, off_t);
    int result;

    COUNTED(is_watched(fd), MAY_FAIL, result, real(fd, how, from, n));
    return result;
}

static int synced(int fd, int result)
{
    if (result == 0)
        sync_fd(fd);
    return result;
}

int fsync(int fd)
{
    REAL(int, "fsync", int);
    int result;

    COUNTED(is_watched(fd), MAY_FAIL, result, synced(fd, real(fd)));
    return result;
}

int fdatasync(int fd)
{
    REAL(int, "fdatasync", int);
    int result;

    COUNTED(is_watched(fd), MAY_FAIL, result, synced(fd, real(fd)));
    return result;
}

int close(int fd)
{
    REAL(int, "close", int);
    int result;

    COUNTED(is_watched(fd), 0, result, real(fd));
    return result;
}

/* Names. */

int mkdirat(int dir, const char *name, mode_t mode)
{
    REAL(int, "mkdirat", int, const char *, mode_t);
    int result;

    COUNTED(is_watched_name(dir, name), NEEDS_ROOM | MAY_FAIL, result, real(dir, name, mode));
    return result;
}

int mkdir(const char *name, mode_t mode)
{
    return mkdirat(AT_FDCWD, name, mode);
}

static int held(int dir, const char *name)
{
    hold(dir, name);
    return 0;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    REAL(int, "renameat", int, const char *, int, const char *);
    int result;

    COUNTED(is_watched_name(to_dir, to), NEEDS_ROOM | MAY_FAIL, result,
            held(to_dir, to) ? -1 : real(from_dir, from, to_dir, to));
    return result;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    REAL(int, "linkat", int, const char *, int, const char *, int);
    int result;

    COUNTED(is_watched_name(to_dir, to), NEEDS_ROOM | MAY_FAIL, result,
            real(from_dir, from, to_dir, to, flags));
    return result;
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int dir, const char *name, int flags)
{
    REAL(int, "unlinkat", int, const char *, int);
    int result;

    COUNTED(is_watched_name(dir, name), MAY_FAIL, result,
            held(dir, name) ? -1 : real(dir, name, flags));
    return result;
}

int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}

int rmdir(const char *name)
{
    return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

int remove(const char *name)
{
    struct stat info;

    return lstat(name, &info) == 0 && S_ISDIR(info.st_mode) ? rmdir(name) : unlink(name);
}

/* Opening. */

static int open_counted(int dir, const char *name, int flags, mode_t mode)
{
    REAL(int, "openat", int, const char *, int, ...);
    int result;

    COUNTED((flags & (O_CREAT | O_TRUNC)) && is_watched_name(dir, name), NEEDS_ROOM | MAY_FAIL,
            result, real(dir, name, flags, mode));
    return result;
}

static mode_t mode_of(int flags, va_list args)
{
    return (mode_t)(flags & O_CREAT ? va_arg(args, int) : 0);
}

int openat(int dir, const char *name, int flags, ...)
{
    va_list args;

    va_start(args, flags);
    const mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_counted(dir, name, flags, mode);
}

int open(const char *name, int flags, ...)
{
    va_list args;

    va_start(args, flags);
    const mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_counted(AT_FDCWD, name, flags, mode);
}

/* Streams: libc writes those of fopen by itself, so a stream of a watched file uses our
 * functions. */

static ssize_t stream_read(void *cookie, char *to, size_t n)
{
    return read((int)(intptr_t)cookie, to, n);
}

static ssize_t stream_write(void *cookie, const char *from, size_t n)
{
    const ssize_t done = write((int)(intptr_t)cookie, from, n);

    return done < 0 ? 0 : done; /* what fopencookie calls an error */
}

static int stream_seek(void *cookie, off64_t *at, int whence)
{
    const off_t to = lseek((int)(intptr_t)cookie, *at, whence);

    *at = to;
    return to < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
    lock();
    for (int i = 0; i < MAX_STREAMS; i++)
        if (plug.streams[i] && plug.fds[i] == (int)(intptr_t)cookie)
            plug.streams[i] = NULL;
    unlock();
    return close((int)(intptr_t)cookie);
}

FILE *fdopen(int fd, const char *mode)
{
    REAL(FILE *, "fdopen", int, const char *);
    const cookie_io_functions_t ours = { stream_read, stream_write, stream_seek, stream_close };
    FILE *file;

    if (strpbrk(mode, "wa+") == NULL || !is_watched(fd))
        return real(fd, mode);
    file = fopencookie((void *)(intptr_t)fd, mode, ours);
    lock();
    for (int i = 0; file && i < MAX_STREAMS; i++)
        if (!plug.streams[i]) {
            plug.streams[i] = file;
            plug.fds[i] = fd;
            break;
        }
    unlock();
    return file;
}

FILE *fopen(const char *name, const char *mode)
{
    REAL(FILE *, "fopen", const char *, const char *);
    int flags = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;

    if (!strpbrk(mode, "wa+") || !is_watched_name(AT_FDCWD, name))
        return real(name, mode);
    flags |= *mode == 'w' ? O_CREAT | O_TRUNC : *mode == 'a' ? O_CREAT | O_APPEND : 0;
    flags |= strchr(mode, 'e') ? O_CLOEXEC : 0;
    const int fd = open(name, flags, 0666);

    return fd < 0 ? NULL : fdopen(fd, mode);
}

int fileno(FILE *file)
{
    REAL(int, "fileno", FILE *);

    lock();
    for (int i = 0; i < MAX_STREAMS; i++)
        if (plug.streams[i] == file) {
            const int fd = plug.fds[i];

            unlock();
            return fd;
        }
    unlock();
    return real(file);
}

/* Other names of the same functions. */
ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));
int ftruncate64(int, off_t) __attribute__((alias("ftruncate")));
int fallocate64(int, int, off_t, off_t) __attribute__((alias("fallocate")));
int open64(const char *, int, ...) __attribute__((alias("open")));
int openat64(int, const char *, int, ...) __attribute__((alias("openat")));
FILE *fopen64(const char *, const char *) __attribute__((alias("fopen")));
