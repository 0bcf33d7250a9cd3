// A library for LD_PRELOAD that lets system calls on the files beneath one folder fail, return short or wait,
// or end the process, and that counts them: those of the addon and of libuv. test/support/faults.ts
// arms it through a file that both know: see there for what each field means.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { DESCRIPTORS = 4096, PATH = 512, FIRED = 32, READERS = 8 };
// clang-format off
enum call {
  NONE, OPEN, FSTAT, READ, ADVISE, CREATE, WRITE, SYNC, TRUNCATE, ATTRIBUTE, CLOSE, STAT, LIST, RESOLVE,
  RENAME, LINK, UNLINK, MKDIR, MAP, LOCK, CALLS
};
// clang-format on
enum action { FAIL = 1, SHORT, END, STALL, KILL, TEAR, CUT, CUT_NAMES };

// The same layout is in faults.ts.
struct control {
  // Written by the test, while no job runs.
  uint64_t call, action, value, first, every, elsewhere;
  // Changed by the test at any time: the calls that stall go on.
  _Atomic uint64_t go;
  // Written here.
  _Atomic uint64_t claimed, fired, matched, open, most, bytes, calls[CALLS], readers[READERS], stalled;
  char unused[512 - (14 + CALLS + READERS) * 8];
  char match[256];
  char fired_at[FIRED][PATH];
};
_Static_assert(offsetof(struct control, match) == 512, "as faults.ts has it");

static struct control* control;
static char folder[PATH];
static size_t folder_length;

// Where each descriptor leads, as it was opened: a link in /proc changes when the file is renamed or deleted.
static char paths[DESCRIPTORS][PATH];
static atomic_bool tracked[DESCRIPTORS];

static _Thread_local bool this_stalled;

static void end_of_call(const char* unused) {
  (void)unused;
  if (this_stalled && control->stalled != 0) --control->stalled;
  this_stalled = false;
}

// Finds the function of the C library. A call that stalled is counted until the function returns.
#define REAL(name)                                                                         \
  __attribute__((cleanup(end_of_call), unused)) const char end = 0;                        \
  static __typeof__(&name) real;                                                           \
  if (!__atomic_load_n(&real, __ATOMIC_ACQUIRE)) {                                         \
    __atomic_store_n(&real, (__typeof__(&name))dlsym(RTLD_NEXT, #name), __ATOMIC_RELEASE); \
  }

__attribute__((constructor)) static void start(void) {
  const char* file = getenv("METAINFO_FAULT_CONTROL");
  const char* below = getenv("METAINFO_FAULT_FOLDER");
  // Only for this process, not for those that it starts.
  unsetenv("LD_PRELOAD");
  const char* descriptors = getenv("METAINFO_FAULT_DESCRIPTORS");
  if (descriptors) {
    // The hard limit too: Node takes all that it may have.
    const rlim_t most = strtoul(descriptors, NULL, 10);
    const struct rlimit limit = {most, most};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (!file || !below || strlen(below) >= sizeof folder - 1) return;
  const int descriptor = open(file, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  void* mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (mapped == MAP_FAILED) return;
  folder_length = (size_t)snprintf(folder, sizeof folder, "%s/", below);
  control = mapped;
}

// The whole path of what is to be opened; false when it is not beneath the folder.
static bool below_folder(int directory, const char* path, char out[PATH]) {
  if (!control) return false;
  size_t length = 0;
  if (path[0] != '/') {
    char link[64];
    if (directory == AT_FDCWD)
      snprintf(link, sizeof link, "/proc/self/cwd");
    else
      snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    const ssize_t count = readlink(link, out, PATH - 1);
    if (count < 0) return false;
    length = (size_t)count;
    out[length++] = '/';
  }
  if (length + strlen(path) >= PATH) return false;
  strcpy(out + length, path);
  return strncmp(out, folder, folder_length) == 0;
}

static const char* path_of(int descriptor) {
  const bool known = control && descriptor >= 0 && descriptor < DESCRIPTORS && tracked[descriptor];
  return known ? paths[descriptor] : NULL;
}

// `before` is the value of `go` when the call began: a later one may have changed again.
static void wait_for_go(uint64_t before, uint64_t milliseconds) {
  const struct timespec tick = {0, 1000000};
  for (uint64_t i = 0; i < milliseconds && control->go == before; ++i) nanosleep(&tick, NULL);
}

// As kill -9 does it: nothing is cleared away.
static void end_process(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static bool cuts_power(void) { return control->action == CUT || control->action == CUT_NAMES; }
static void cut_power(bool with_names);

// What a call is to do instead of its work; 0: its work.
static enum action fault(enum call call, const char* path) {
  ++control->calls[call];
  if (control->call != call || !strstr(path, control->match)) return 0;
  if (control->elsewhere && gettid() == getpid()) return 0;
  const uint64_t nth = ++control->matched;
  if (nth < control->first) return 0;
  const uint64_t after = nth - control->first;
  if (after != 0 && (control->every == 0 || after % control->every != 0)) return 0;
  const uint64_t slot = control->claimed++;
  if (slot < FIRED) strcpy(control->fired_at[slot], path);
  const uint64_t go = control->go;
  if (control->action == STALL) ++control->stalled;
  // Last: who sees the count may read the path, and change `go`.
  ++control->fired;
  if (control->action == STALL) {
    this_stalled = true;
    wait_for_go(go, control->value);
    return 0;
  }
  if (control->action == KILL) end_process();
  if (cuts_power()) cut_power(control->action == CUT_NAMES);
  if (control->action == FAIL) errno = (int)control->value;
  return (enum action)control->action;
}

// What a power cut takes away: content that was not synced, and, with CUT_NAMES, also names whose folder was
// not synced. With CUT, the names stay: file systems may write them first.
enum { UNSYNCED = 1024 };
static pthread_mutex_t unsynced_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool dirty[DESCRIPTORS];
// Descriptors of dirty files that were closed.
static int closed_dirty[UNSYNCED];
static size_t closed_count;
static struct {
  char path[PATH];
  // The file that had the name before; empty: none.
  char before[PATH + 32];
} names[UNSYNCED];
static size_t name_count;

static void cut_power(bool with_names) {
  pthread_mutex_lock(&unsynced_lock);
  for (int i = 0; i < DESCRIPTORS; ++i)
    if (dirty[i] && syscall(SYS_ftruncate, i, 0) != 0) abort();
  for (size_t i = 0; i < closed_count; ++i)
    if (syscall(SYS_ftruncate, closed_dirty[i], 0) != 0) abort();
  for (size_t i = name_count; with_names && i-- > 0;) {
    if (names[i].before[0] == '\0')
      syscall(SYS_unlinkat, AT_FDCWD, names[i].path, 0);
    else
      syscall(SYS_renameat2, AT_FDCWD, names[i].before, AT_FDCWD, names[i].path, 0);
  }
  end_process();
}

// Keeps the file that has a name before a call that may replace it.
static void note_name(const char* path) {
  if (!cuts_power()) return;
  pthread_mutex_lock(&unsynced_lock);
  if (name_count < UNSYNCED) {
    strcpy(names[name_count].path, path);
    char* before = names[name_count].before;
    snprintf(before, sizeof names->before, "%.*s.before-%zu", (int)folder_length - 1, folder, name_count);
    syscall(SYS_unlinkat, AT_FDCWD, before, 0);
    if (syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, before, 0) != 0) before[0] = '\0';
    ++name_count;
  }
  pthread_mutex_unlock(&unsynced_lock);
}

static bool is_in(const char* path, const char* folder_path) {
  const size_t length = strlen(folder_path);
  return strncmp(path, folder_path, length) == 0 && path[length] == '/' && !strchr(path + length + 1, '/');
}

// After a sync of a file or folder; `synced` is NULL for everything.
static void note_sync(int descriptor, const char* synced) {
  pthread_mutex_lock(&unsynced_lock);
  if (synced) dirty[descriptor] = false;
  for (int i = 0; !synced && i < DESCRIPTORS; ++i) dirty[i] = false;
  if (!synced) closed_count = 0;
  size_t kept = 0;
  for (size_t i = 0; i < name_count; ++i)
    if (synced && !is_in(names[i].path, synced)) names[kept++] = names[i];
  name_count = kept;
  pthread_mutex_unlock(&unsynced_lock);
}

// Before a descriptor is closed.
static void note_close(int descriptor) {
  if (!atomic_exchange(&dirty[descriptor], false) || !cuts_power()) return;
  const int kept = (int)syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, DESCRIPTORS);
  pthread_mutex_lock(&unsynced_lock);
  if (kept >= 0 && closed_count < UNSYNCED) closed_dirty[closed_count++] = kept;
  pthread_mutex_unlock(&unsynced_lock);
}

static int track(int descriptor, const char* path) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS) return descriptor;
  strcpy(paths[descriptor], path);
  // Set already when it was closed by a system call that is not seen here.
  if (!atomic_exchange(&tracked[descriptor], true)) {
    const uint64_t now = ++control->open;
    uint64_t most = control->most;
    while (most < now && !atomic_compare_exchange_weak(&control->most, &most, now)) continue;
  }
  return descriptor;
}

#define MODE_OF(flags)                     \
  mode_t mode = 0;                         \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_list rest;                          \
    va_start(rest, flags);                 \
    mode = va_arg(rest, mode_t);           \
    va_end(rest);                          \
  }

// A folder that is opened is to be listed, or leads to what is opened next (O_PATH).
static enum call opening(int flags) {
  if ((flags & __O_TMPFILE) == __O_TMPFILE) return CREATE;
  if ((flags & O_DIRECTORY) && !(flags & O_PATH)) return LIST;
  return (flags & O_ACCMODE) == O_RDONLY ? OPEN : CREATE;
}

#define OPEN_BODY(directory, path, flags, ...)                         \
  char whole[PATH];                                                    \
  if (!below_folder(directory, path, whole)) return real(__VA_ARGS__); \
  return fault(opening(flags), whole) == FAIL ? -1 : track(real(__VA_ARGS__), whole);

int open(const char* path, int flags, ...) {
  REAL(open)
  MODE_OF(flags)
  OPEN_BODY(AT_FDCWD, path, flags, path, flags, mode)
}

int open64(const char* path, int flags, ...) {
  REAL(open64)
  MODE_OF(flags)
  OPEN_BODY(AT_FDCWD, path, flags, path, flags, mode)
}

int openat(int directory, const char* path, int flags, ...) {
  REAL(openat)
  MODE_OF(flags)
  OPEN_BODY(directory, path, flags, directory, path, flags, mode)
}

int openat64(int directory, const char* path, int flags, ...) {
  REAL(openat64)
  MODE_OF(flags)
  OPEN_BODY(directory, path, flags, directory, path, flags, mode)
}

// What the calls above become under -D_FORTIFY_SOURCE, when they have no mode.
int __open_2(const char* path, int flags) { return open(path, flags); }
int __open64_2(const char* path, int flags) { return open64(path, flags); }
int __openat_2(int directory, const char* path, int flags) { return openat(directory, path, flags); }
int __openat64_2(int directory, const char* path, int flags) { return openat64(directory, path, flags); }

// Whether it is to fail. It is closed all the same, as Linux has it.
static bool closing(int descriptor) {
  const char* path = path_of(descriptor);
  // Before it is closed: another thread may be given its number at once.
  if (!path || !atomic_exchange(&tracked[descriptor], false)) return false;
  --control->open;
  note_close(descriptor);
  return fault(CLOSE, path) == FAIL;
}

static int closed(int result, bool fails) {
  if (fails) errno = (int)control->value;
  return fails ? -1 : result;
}

int close(int descriptor) {
  REAL(close)
  const bool fails = closing(descriptor);
  return closed(real(descriptor), fails);
}

// The C library closes the descriptor of a DIR by itself.
int closedir(DIR* folder) {
  REAL(closedir)
  const bool fails = closing(dirfd(folder));
  return closed(real(folder), fails);
}

#define READDIR_BODY(folder)                          \
  const char* path = path_of(dirfd(folder));          \
  if (path && fault(LIST, path) == FAIL) return NULL; \
  return real(folder);

struct dirent* readdir(DIR* folder) {
  REAL(readdir)
  READDIR_BODY(folder)
}

struct dirent64* readdir64(DIR* folder) {
  REAL(readdir64)
  READDIR_BODY(folder)
}

#define FSTAT_BODY(descriptor, ...)                  \
  const char* path = path_of(descriptor);            \
  if (path && fault(FSTAT, path) == FAIL) return -1; \
  return real(__VA_ARGS__);

int fstat(int descriptor, struct stat* status) {
  REAL(fstat)
  FSTAT_BODY(descriptor, descriptor, status)
}

int fstat64(int descriptor, struct stat64* status) {
  REAL(fstat64)
  FSTAT_BODY(descriptor, descriptor, status)
}

// The names of those two up to glibc 2.32.
int __fxstat(int version, int descriptor, struct stat* status);
int __fxstat(int version, int descriptor, struct stat* status) {
  REAL(__fxstat)
  FSTAT_BODY(descriptor, version, descriptor, status)
}

int __fxstat64(int version, int descriptor, struct stat64* status);
int __fxstat64(int version, int descriptor, struct stat64* status) {
  REAL(__fxstat64)
  FSTAT_BODY(descriptor, version, descriptor, status)
}

// Notes that this thread reads: a job of several threads is to have several that do.
static void note_reader(void) {
  const uint64_t self = (uint64_t)gettid();
  for (int i = 0; i < READERS; ++i) {
    uint64_t held = 0;
    if (atomic_compare_exchange_strong(&control->readers[i], &held, self) || held == self) return;
  }
}

static ssize_t counted(const char* path, ssize_t count) {
  if (!path || count <= 0) return count;
  control->bytes += (uint64_t)count;
  note_reader();
  return count;
}

// Half of what was asked, but never nothing: that would be the end.
static size_t half(size_t size) { return size > 1 ? size / 2 : size; }

#define READ_BODY(descriptor, size, ...)                   \
  const char* path = path_of(descriptor);                  \
  const enum action action = path ? fault(READ, path) : 0; \
  if (action == FAIL) return -1;                           \
  if (action == END) return 0;                             \
  if (action == SHORT) size = half(size);                  \
  return counted(path, real(__VA_ARGS__));

ssize_t read(int descriptor, void* out,
             size_t size){REAL(read) READ_BODY(descriptor, size, descriptor, out, size)}

ssize_t pread(int descriptor, void* out, size_t size,
              off_t offset){REAL(pread) READ_BODY(descriptor, size, descriptor, out, size, offset)}

ssize_t pread64(int descriptor, void* out, size_t size, off64_t offset) {
  REAL(pread64)
  READ_BODY(descriptor, size, descriptor, out, size, offset)
}

// Half of what the parts are: the last of them cut. Gives their number.
static int halve(const struct iovec* parts, int count, struct iovec out[IOV_MAX]) {
  size_t left = 0;
  for (int i = 0; i < count; ++i) left += parts[i].iov_len;
  left = half(left);
  int used = 0;
  for (; used < count && used < IOV_MAX && left != 0; ++used) {
    out[used] = parts[used];
    if (out[used].iov_len > left) out[used].iov_len = left;
    left -= out[used].iov_len;
  }
  return used;
}

#define READV_BODY(descriptor, parts, count, ...)          \
  struct iovec cut[IOV_MAX];                               \
  const char* path = path_of(descriptor);                  \
  const enum action action = path ? fault(READ, path) : 0; \
  if (action == FAIL) return -1;                           \
  if (action == END) return 0;                             \
  if (action == SHORT) {                                   \
    count = halve(parts, count, cut);                      \
    parts = cut;                                           \
  }                                                        \
  return counted(path, real(__VA_ARGS__));

ssize_t readv(int descriptor, const struct iovec* parts,
              int count){REAL(readv) READV_BODY(descriptor, parts, count, descriptor, parts, count)}

ssize_t preadv(int descriptor, const struct iovec* parts, int count, off_t offset){
    REAL(preadv) READV_BODY(descriptor, parts, count, descriptor, parts, count, offset)}

ssize_t preadv64(int descriptor, const struct iovec* parts, int count, off64_t offset){
    REAL(preadv64) READV_BODY(descriptor, parts, count, descriptor, parts, count, offset)}

ssize_t preadv2(int descriptor, const struct iovec* parts, int count, off_t offset, int flags){
    REAL(preadv2) READV_BODY(descriptor, parts, count, descriptor, parts, count, offset, flags)}

ssize_t preadv64v2(int descriptor, const struct iovec* parts, int count, off64_t offset, int flags) {
  REAL(preadv64v2)
  READV_BODY(descriptor, parts, count, descriptor, parts, count, offset, flags)
}

// posix_fadvise returns its error.
int posix_fadvise(int descriptor, off_t offset, off_t length, int advice) {
  REAL(posix_fadvise)
  const char* path = path_of(descriptor);
  if (path && fault(ADVISE, path) == FAIL) return (int)control->value;
  return real(descriptor, offset, length, advice);
}

int posix_fadvise64(int descriptor, off64_t offset, off64_t length, int advice) {
  REAL(posix_fadvise64)
  const char* path = path_of(descriptor);
  if (path && fault(ADVISE, path) == FAIL) return (int)control->value;
  return real(descriptor, offset, length, advice);
}

ssize_t readahead(int descriptor, off64_t offset, size_t size) {
  REAL(readahead)
  const char* path = path_of(descriptor);
  if (path && fault(ADVISE, path) == FAIL) return -1;
  return real(descriptor, offset, size);
}

#define TORN(action, descriptor, size, ...) \
  if (action == TEAR) {                     \
    size = half(size);                      \
    real(__VA_ARGS__);                      \
    end_process();                          \
  }

// `end` is for reads: a write that takes nothing is made again for ever.
#define WRITE_BODY(descriptor, size, ...)                   \
  const char* path = path_of(descriptor);                   \
  const enum action action = path ? fault(WRITE, path) : 0; \
  if (action == FAIL) return -1;                            \
  if (path) dirty[descriptor] = true;                       \
  if (action == SHORT) size = half(size);                   \
  TORN(action, descriptor, size, __VA_ARGS__)               \
  return real(__VA_ARGS__);

ssize_t write(int descriptor, const void* from,
              size_t size){REAL(write) WRITE_BODY(descriptor, size, descriptor, from, size)}

ssize_t pwrite(int descriptor, const void* from, size_t size,
               off_t offset){REAL(pwrite) WRITE_BODY(descriptor, size, descriptor, from, size, offset)}

ssize_t pwrite64(int descriptor, const void* from, size_t size,
                 off64_t offset){REAL(pwrite64) WRITE_BODY(descriptor, size, descriptor, from, size, offset)}
#define WRITEV_BODY(descriptor, parts, count, ...)          \
  struct iovec cut[IOV_MAX];                                \
  const char* path = path_of(descriptor);                   \
  const enum action action = path ? fault(WRITE, path) : 0; \
  if (action == FAIL) return -1;                            \
  if (path) dirty[descriptor] = true;                       \
  if (action == SHORT || action == TEAR) {                  \
    count = halve(parts, count, cut);                       \
    parts = cut;                                            \
  }                                                         \
  const ssize_t written = real(__VA_ARGS__);                \
  if (action == TEAR) end_process();                        \
  return written;

ssize_t writev(int descriptor, const struct iovec* parts,
               int count){REAL(writev) WRITEV_BODY(descriptor, parts, count, descriptor, parts, count)}

ssize_t pwritev(int descriptor, const struct iovec* parts, int count, off_t offset){
    REAL(pwritev) WRITEV_BODY(descriptor, parts, count, descriptor, parts, count, offset)}

ssize_t pwritev64(int descriptor, const struct iovec* parts, int count, off64_t offset) {
  REAL(pwritev64) WRITEV_BODY(descriptor, parts, count, descriptor, parts, count, offset)
}

// Calls that do their work or fail, on a descriptor, a path, or two paths of which the second says more.
#define ON_DESCRIPTOR(call, name, parameters, descriptor, ...) \
  int name parameters {                                        \
    REAL(name)                                                 \
    const char* at = path_of(descriptor);                      \
    if (at && fault(call, at) == FAIL) return -1;              \
    return real(__VA_ARGS__);                                  \
  }

#define ON_PATH(call, name, parameters, path, ...)                                    \
  int name parameters {                                                               \
    REAL(name)                                                                        \
    char whole[PATH];                                                                 \
    if (below_folder(AT_FDCWD, path, whole) && fault(call, whole) == FAIL) return -1; \
    return real(__VA_ARGS__);                                                         \
  }

// clang-format off
ON_DESCRIPTOR(TRUNCATE, ftruncate, (int descriptor, off_t size), descriptor, descriptor, size)
ON_DESCRIPTOR(TRUNCATE, ftruncate64, (int descriptor, off64_t size), descriptor, descriptor, size)
ON_DESCRIPTOR(ATTRIBUTE, fchmod, (int descriptor, mode_t mode), descriptor, descriptor, mode)
ON_DESCRIPTOR(ATTRIBUTE, futimens, (int descriptor, const struct timespec times[2]), descriptor, descriptor, times)
ON_DESCRIPTOR(SYNC, sync_file_range, (int descriptor, off64_t offset, off64_t size, unsigned flags), descriptor,
              descriptor, offset, size, flags)

ON_PATH(STAT, stat, (const char* path, struct stat* status), path, path, status)
ON_PATH(STAT, stat64, (const char* path, struct stat64* status), path, path, status)
ON_PATH(STAT, lstat, (const char* path, struct stat* status), path, path, status)
ON_PATH(STAT, lstat64, (const char* path, struct stat64* status), path, path, status)
ON_PATH(STAT, access, (const char* path, int mode), path, path, mode)
ON_PATH(UNLINK, unlink, (const char* path), path, path)
ON_PATH(UNLINK, rmdir, (const char* path), path, path)
ON_PATH(MKDIR, mkdir, (const char* path, mode_t mode), path, path, mode)
ON_PATH(LIST, scandir64,
        (const char* path, struct dirent64*** entries, int (*filter)(const struct dirent64*),
         int (*compare)(const struct dirent64**, const struct dirent64**)),
        path, path, entries, filter, compare)
// clang-format on

#define SYNC_BODY(descriptor, synced)                     \
  const char* path = path_of(descriptor);                 \
  if (path && fault(SYNC, path) == FAIL) return -1;       \
  const int result = real(descriptor);                    \
  if (path && result == 0) note_sync(descriptor, synced); \
  return result;

int fsync(int descriptor) {
  REAL(fsync)
  SYNC_BODY(descriptor, path)
}

int fdatasync(int descriptor) {
  REAL(fdatasync)
  SYNC_BODY(descriptor, path)
}

int syncfs(int descriptor) {
  REAL(syncfs)
  SYNC_BODY(descriptor, NULL)
}

// Calls that give a name to a file.
#define NAME_BODY(call, directory, to, ...)    \
  char whole[PATH];                            \
  if (below_folder(directory, to, whole)) {    \
    if (fault(call, whole) == FAIL) return -1; \
    note_name(whole);                          \
  }                                            \
  return real(__VA_ARGS__);

int link(const char* from, const char* to) {
  REAL(link)
  NAME_BODY(LINK, AT_FDCWD, to, from, to)
}

int linkat(int from_folder, const char* from, int folder_of_to, const char* to, int flags) {
  REAL(linkat)
  NAME_BODY(LINK, folder_of_to, to, from_folder, from, folder_of_to, to, flags)
}

int rename(const char* from, const char* to) {
  REAL(rename)
  NAME_BODY(RENAME, AT_FDCWD, to, from, to)
}

int renameat(int from_folder, const char* from, int folder_of_to, const char* to) {
  REAL(renameat)
  NAME_BODY(RENAME, folder_of_to, to, from_folder, from, folder_of_to, to)
}

int unlinkat(int directory, const char* path, int flags) {
  REAL(unlinkat)
  char whole[PATH];
  if (below_folder(directory, path, whole) && fault(UNLINK, whole) == FAIL) return -1;
  return real(directory, path, flags);
}

// Calls on a path from a folder.
#define AT_BODY(directory, path, ...)                                                \
  char whole[PATH];                                                                  \
  if (below_folder(directory, path, whole) && fault(STAT, whole) == FAIL) return -1; \
  return real(__VA_ARGS__);

int fstatat(int directory, const char* path, struct stat* status, int flags) {
  REAL(fstatat)
  AT_BODY(directory, path, directory, path, status, flags)
}

int fstatat64(int directory, const char* path, struct stat64* status, int flags) {
  REAL(fstatat64)
  AT_BODY(directory, path, directory, path, status, flags)
}

// The names of those two up to glibc 2.32.
int __fxstatat(int version, int directory, const char* path, struct stat* status, int flags);
int __fxstatat(int version, int directory, const char* path, struct stat* status, int flags) {
  REAL(__fxstatat)
  AT_BODY(directory, path, version, directory, path, status, flags)
}

int __fxstatat64(int version, int directory, const char* path, struct stat64* status, int flags);
int __fxstatat64(int version, int directory, const char* path, struct stat64* status, int flags) {
  REAL(__fxstatat64)
  AT_BODY(directory, path, version, directory, path, status, flags)
}

int faccessat(int directory, const char* path, int mode, int flags) {
  REAL(faccessat)
  AT_BODY(directory, path, directory, path, mode, flags)
}

char* realpath(const char* path, char* out) {
  REAL(realpath)
  char whole[PATH];
  if (below_folder(AT_FDCWD, path, whole) && fault(RESOLVE, whole) == FAIL) return NULL;
  return real(path, out);
}

#define MAP_BODY(descriptor, ...)                          \
  const char* path = path_of(descriptor);                  \
  if (path && fault(MAP, path) == FAIL) return MAP_FAILED; \
  return real(__VA_ARGS__);

void* mmap(void* at, size_t size, int protection, int flags, int descriptor, off_t offset) {
  REAL(mmap)
  MAP_BODY(descriptor, at, size, protection, flags, descriptor, offset)
}

void* mmap64(void* at, size_t size, int protection, int flags, int descriptor, off64_t offset) {
  REAL(mmap64)
  MAP_BODY(descriptor, at, size, protection, flags, descriptor, offset)
}

int fcntl64(int descriptor, int command, ...) {
  REAL(fcntl64)
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  const bool locks =
      command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  const char* path = locks ? path_of(descriptor) : NULL;
  if (path && fault(LOCK, path) == FAIL) return -1;
  return real(descriptor, command, argument);
}

// What is called without a function of the C library: by libuv, as that was older than they were, and openat2
// by us.
long syscall(long number, ...) {
  REAL(syscall)
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_openat2) {
    OPEN_BODY((int)a[0], (const char*)a[1], (int)*(const uint64_t*)a[2], number, a[0], a[1], a[2], a[3])
  }
  bool fails = false;
  if (number == SYS_close) fails = closing((int)a[0]);
  if (number == SYS_statx) {
    const char* name = (const char*)a[1];
    char whole[PATH];
    const char* path = name[0] == '\0'                        ? path_of((int)a[0])
                       : below_folder((int)a[0], name, whole) ? whole
                                                              : NULL;
    if (path && fault(name[0] == '\0' ? FSTAT : STAT, path) == FAIL) return -1;
  }
  const long result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  return fails ? closed((int)result, fails) : result;
}
