// Fails chosen calls of a program that it is preloaded into (LD_PRELOAD): the n-th call of a group such as `open`, or
// all from the n-th on. Scripts/failures compiles it and says by the environment what is to fail:
//
//   FAILURES_CALL    the group, one of `groups` below
//   FAILURES_AT      which call fails, counted from 1; 0: none, they are only counted
//   FAILURES_KIND    the errno as a number; or `short`: half of what was asked for is read or written
//   FAILURES_ALL     all calls from that one on fail, as on a full disk
//   FAILURES_HELPER  counts and fails in the helper processes that the program starts, not in the program
//   FAILURES_REPORT  a file for `struct report`, of at least its size
//
// Calls count from the beginning of main, when they come from another library than those that end the process by
// design: libdispatch and Swift's runtime. Memory counts when our program, libcurl, libvips or one of the libraries
// that we call for images asks for it, and when libvips asks GLib for memory that may be refused (g_try_malloc). Short
// blocks of the program do not: the compiler asks for the frames of accessors there, and nothing can be done where
// there are none. Nor do those of SQLite, since GRDB ends the process where there are none, nor those of libheif,
// libde265 and libexif, which crash, or go on without what they had no memory for.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

// A process is ended by a signal between any two of its instructions, so the report is in shared memory.
struct report {
  _Atomic uint64_t calls, failures;
  char place[112];  // the library of the first call that failed, and the address in it
};

static const char *const groups[] = {"none",   "malloc", "open",   "read",   "write", "pwrite", "fsync", "ftruncate",
                                     "rename", "mmap",   "socket", "connect", "pipe",  "spawn",  "thread", "epoll",
                                     "unlink", "lock",   "print",  NULL};
enum group { NONE, MALLOC, OPEN, READ, WRITE, PWRITE, FSYNC, FTRUNCATE, RENAME, MMAP, SOCKET, CONNECT, PIPE, SPAWN,
             THREAD, EPOLL, UNLINK, LOCK, PRINT };

static enum group failing;
static uint64_t first;
static int failure;
static bool is_short, to_the_end, in_helper;
static struct report *report;
static atomic_bool armed;

static const char *const for_memory[] = {"libcurl", "libvips", "libjpeg", "libtiff", "libwebp", "libsharpyuv", "libpng",
                                         "libspng", "libisal", "libcgif", "liblcms2", "libz.so", NULL};
static const char *const never[] = {"libdispatch", "libswiftCore", "libswift_Concurrency", "failures.so", NULL};

static bool is_among(const char *path, const char *const *names) {
  for (; *names; names++)
    if (strstr(path, *names)) return true;
  return false;
}

// Whether a call from this library counts. The name of the program itself is empty.
static bool counts(enum group group, const char *library, size_t bytes) {
  if (group == MALLOC) return *library ? is_among(library, for_memory) : bytes >= 1024;
  // It waits for ever for threads that could not be started.
  if (group == THREAD && strstr(library, "libde265")) return false;
  return !is_among(library, never);
}

// Counts a call, and says whether it is to fail.
static bool fails(enum group group, void *caller, size_t bytes) {
  if (group != failing || !atomic_load_explicit(&armed, memory_order_relaxed)) return false;
  struct dl_find_object object;
  if (_dl_find_object(caller, &object) != 0) return false;
  const char *library = object.dlfo_link_map->l_name;
  if (!counts(group, library, bytes)) return false;
  uint64_t number = atomic_fetch_add(&report->calls, 1) + 1;
  if (first == 0 || (to_the_end ? number < first : number != first)) return false;
  if (atomic_fetch_add(&report->failures, 1) == 0) {
    const char *name = strrchr(library, '/');
    snprintf(report->place, sizeof report->place, "%s+0x%lx", *library ? (name ? name + 1 : library) : "program",
             (unsigned long)((char *)caller - (char *)object.dlfo_link_map->l_addr));
  }
  errno = failure;
  return true;
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
#define FAILS(group) fails(group, CALLER, 0)
#define LACKS(bytes) fails(MALLOC, CALLER, bytes)
// The function that this library stands before.
#define NEXT(name)                                                          \
  static __typeof__(&name) next;                                            \
  if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name);

static void prepare(void) {
  const char *call = getenv("FAILURES_CALL"), *path = getenv("FAILURES_REPORT"), *kind = getenv("FAILURES_KIND");
  if (!call || !path || report) return;
  int file = open(path, O_RDWR | O_CLOEXEC);
  void *memory = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) _exit(126);
  report = memory;
  first = getenv("FAILURES_AT") ? strtoull(getenv("FAILURES_AT"), NULL, 10) : 0;
  is_short = kind && strcmp(kind, "short") == 0;
  failure = kind && !is_short ? atoi(kind) : EIO;
  to_the_end = getenv("FAILURES_ALL");
  in_helper = getenv("FAILURES_HELPER");
  for (int group = 0; groups[group]; group++)
    if (strcmp(groups[group], call) == 0) failing = group;
}

static int (*own_main)(int, char **, char **);

static int armed_main(int count, char **words, char **variables) {
  prepare();
  // A helper gets its settings without this one: see `helper_environment`.
  atomic_store(&armed, report && !in_helper);
  return own_main(count, words, variables);
}

int __libc_start_main(int (*main)(int, char **, char **), int count, char **words, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
  int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  own_main = main;
  return next(armed_main, count, words, init, fini, rtld_fini, stack_end);
}

// --- Memory. glibc's own names are those of the functions behind, without a look-up that would ask for memory itself.

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { return LACKS(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return LACKS(count * size) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return LACKS(size) ? NULL : __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return LACKS(size) ? NULL : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return LACKS(size) ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  if (LACKS(size)) return ENOMEM;
  void *found = __libc_memalign(alignment, size);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}

void *g_try_malloc(size_t), *g_try_malloc0(size_t), *g_try_realloc(void *, size_t), *g_try_malloc_n(size_t, size_t);

void *g_try_malloc(size_t size) {
  NEXT(g_try_malloc)
  return LACKS(size) ? NULL : next(size);
}
void *g_try_malloc0(size_t size) {
  NEXT(g_try_malloc0)
  return LACKS(size) ? NULL : next(size);
}
void *g_try_malloc_n(size_t count, size_t size) {
  NEXT(g_try_malloc_n)
  return LACKS(count * size) ? NULL : next(count, size);
}
void *g_try_realloc(void *old, size_t size) {
  NEXT(g_try_realloc)
  return LACKS(size) ? NULL : next(old, size);
}

// --- Files

#define MODE(last)                             \
  mode_t mode = 0;                             \
  if (last & (O_CREAT | O_TMPFILE)) {          \
    va_list rest;                              \
    va_start(rest, last);                      \
    mode = va_arg(rest, mode_t);               \
    va_end(rest);                              \
  }
#define OPEN(name)                                            \
  int name(const char *path, int flags, ...) {                \
    NEXT(name)                                                \
    MODE(flags)                                               \
    return FAILS(OPEN) ? -1 : next(path, flags, mode);        \
  }
#define OPENAT(name)                                          \
  int name(int folder, const char *path, int flags, ...) {    \
    NEXT(name)                                                \
    MODE(flags)                                               \
    return FAILS(OPEN) ? -1 : next(folder, path, flags, mode);\
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

int __open_2(const char *, int), __open64_2(const char *, int);
int __open_2(const char *path, int flags) {
  NEXT(__open_2)
  return FAILS(OPEN) ? -1 : next(path, flags);
}
int __open64_2(const char *path, int flags) {
  NEXT(__open64_2)
  return FAILS(OPEN) ? -1 : next(path, flags);
}
FILE *fopen(const char *path, const char *mode) {
  NEXT(fopen)
  return FAILS(OPEN) ? NULL : next(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
  NEXT(fopen64)
  return FAILS(OPEN) ? NULL : next(path, mode);
}
DIR *opendir(const char *path) {
  NEXT(opendir)
  return FAILS(OPEN) ? NULL : next(path);
}
DIR *fdopendir(int folder) {
  NEXT(fdopendir)
  return FAILS(OPEN) ? NULL : next(folder);
}

// What a read or write of `length` bytes does that is to fail: nothing, or only a half of it.
#define HALF(length) (is_short && length > 1 ? length / 2 : length)
#define FAILS_WHOLLY(group, length) (FAILS(group) && !(is_short && (length = HALF(length), true)))

ssize_t read(int file, void *bytes, size_t length) {
  NEXT(read)
  return FAILS_WHOLLY(READ, length) ? -1 : next(file, bytes, length);
}
#define PREAD(name, offset_t)                                             \
  ssize_t name(int file, void *bytes, size_t length, offset_t offset) {   \
    NEXT(name)                                                            \
    return FAILS_WHOLLY(READ, length) ? -1 : next(file, bytes, length, offset); \
  }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

// Standard output and standard error are a group of their own: what a run says there is how it is judged.
ssize_t write(int file, const void *bytes, size_t length) {
  NEXT(write)
  return FAILS_WHOLLY(file == 1 || file == 2 ? PRINT : WRITE, length) ? -1 : next(file, bytes, length);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
  NEXT(writev)
  return FAILS(WRITE) && !is_short ? -1 : next(file, parts, count);
}
#define PWRITE_CALL(name, offset_t)                                            \
  ssize_t name(int file, const void *bytes, size_t length, offset_t offset) {  \
    NEXT(name)                                                                 \
    return FAILS_WHOLLY(PWRITE, length) ? -1 : next(file, bytes, length, offset); \
  }
PWRITE_CALL(pwrite, off_t)
PWRITE_CALL(pwrite64, off64_t)

#define TAKING(group, type, name, parameters, arguments, result) \
  type name parameters {                                         \
    NEXT(name)                                                   \
    return FAILS(group) ? result : next arguments;               \
  }
TAKING(FSYNC, int, fsync, (int file), (file), -1)
TAKING(FSYNC, int, fdatasync, (int file), (file), -1)
TAKING(FTRUNCATE, int, ftruncate, (int file, off_t length), (file, length), -1)
TAKING(FTRUNCATE, int, ftruncate64, (int file, off64_t length), (file, length), -1)
TAKING(FTRUNCATE, int, fallocate, (int file, int mode, off_t from, off_t length), (file, mode, from, length), -1)
TAKING(FTRUNCATE, int, posix_fallocate, (int file, off_t from, off_t length), (file, from, length), failure)
TAKING(RENAME, int, rename, (const char *from, const char *to), (from, to), -1)
TAKING(RENAME, int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), -1)
TAKING(RENAME, int, link, (const char *from, const char *to), (from, to), -1)
TAKING(RENAME, int, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), -1)
TAKING(UNLINK, int, unlink, (const char *path), (path), -1)
TAKING(UNLINK, int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags), -1)
TAKING(LOCK, int, flock, (int file, int operation), (file, operation), -1)
TAKING(MMAP, void *, mmap, (void *at, size_t length, int protection, int flags, int file, off_t offset),
       (at, length, protection, flags, file, offset), MAP_FAILED)
TAKING(MMAP, void *, mmap64, (void *at, size_t length, int protection, int flags, int file, off64_t offset),
       (at, length, protection, flags, file, offset), MAP_FAILED)

// --- Sockets, processes, threads

TAKING(SOCKET, int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1)
TAKING(SOCKET, int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends), -1)
TAKING(CONNECT, int, connect, (int socket, const struct sockaddr *to, socklen_t length), (socket, to, length), -1)
TAKING(PIPE, int, pipe, (int ends[2]), (ends), -1)
TAKING(PIPE, int, pipe2, (int ends[2], int flags), (ends, flags), -1)
int eventfd(unsigned, int), timerfd_create(int, int), memfd_create(const char *, unsigned);
TAKING(PIPE, int, eventfd, (unsigned value, int flags), (value, flags), -1)
TAKING(EPOLL, int, timerfd_create, (int clock, int flags), (clock, flags), -1)
TAKING(OPEN, int, memfd_create, (const char *name, unsigned flags), (name, flags), -1)
struct epoll_event;
int epoll_create(int), epoll_create1(int), epoll_ctl(int, int, int, struct epoll_event *),
    epoll_wait(int, struct epoll_event *, int, int);
TAKING(EPOLL, int, epoll_create, (int size), (size), -1)
TAKING(EPOLL, int, epoll_create1, (int flags), (flags), -1)
TAKING(EPOLL, int, epoll_ctl, (int queue, int what, int file, struct epoll_event *event),
       (queue, what, file, event), -1)
TAKING(EPOLL, int, epoll_wait, (int queue, struct epoll_event *events, int most, int timeout),
       (queue, events, most, timeout), -1)
TAKING(SPAWN, pid_t, fork, (void), (), -1)
TAKING(THREAD, int, pthread_create,
       (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
       (thread, attributes, run, argument), failure)

// The environment of a helper with this library and its settings, though the program gives helpers a clean one.
static char **helper_environment(char *const *given) {
  static const char *const ours[] = {"LD_PRELOAD", "FAILURES_CALL", "FAILURES_AT", "FAILURES_KIND", "FAILURES_ALL",
                                     "FAILURES_REPORT"};
  size_t count = 0, have = sizeof ours / sizeof *ours;
  while (given && given[count]) count++;
  char **all = __libc_calloc(count + have + 1, sizeof *all);
  for (size_t i = 0; i < count; i++) all[i] = given[i];
  for (size_t i = 0; i < have; i++) {
    const char *value = getenv(ours[i]);
    if (!value || asprintf(&all[count], "%s=%s", ours[i], value) < 0) continue;
    count++;
  }
  all[count] = NULL;
  return all;
}

int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const words[], char *const variables[]) {
  NEXT(posix_spawn)
  if (FAILS(SPAWN)) return failure;
  // The few bytes stay: the program soon ends.
  return next(process, path, actions, attributes, words, in_helper ? helper_environment(variables) : variables);
}
