// A library to preload: makes one call of a kind fail, or that and all behind it, as a full disk or a lack of memory would.
//
//   AOE_FAIL_PROGRAM=aoe_run   which program, by its name; others are left alone
//   AOE_FAIL_CALL=write        malloc (of AOE_FAIL_BYTES and more), write, sync, open, rename, mmap or thread
//   AOE_FAIL_AT=7              the seventh call of that kind; 0: none
//   AOE_FAIL_ON=1              all behind it as well
//   AOE_FAIL_COUNT=FILE        at the end, the number of calls of that kind is written there
//
// Open counts where a file is made or written to, mmap where a file or memory of a megabyte is mapped, write where it is not
// to the terminal's descriptors. Nothing here may allocate.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum class Call { kNone, kMalloc, kWrite, kSync, kOpen, kRename, kMmap, kThread };

struct Plan {
  Call call = Call::kNone;
  long at = 0;
  bool goes_on = false;
  std::size_t least_bytes = 0;
};

std::atomic<bool> is_ready = false;
std::atomic<long> calls = 0;
Plan plan;

long number(const char* variable, long fallback) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? fallback : std::atol(text);
}

Call call_named(const char* name) {
  constexpr const char* kNames[] = {"",     "malloc", "write", "sync",
                                    "open", "rename", "mmap",  "thread"};
  for (int i = 0; i < 8; ++i)
    if (std::strcmp(name, kNames[i]) == 0) return static_cast<Call>(i);
  return Call::kNone;
}

[[gnu::constructor]] void read_plan() {
  const char* const program = std::getenv("AOE_FAIL_PROGRAM");
  const char* const call = std::getenv("AOE_FAIL_CALL");
  if (program == nullptr || call == nullptr ||
      std::strcmp(program, program_invocation_short_name) != 0)
    return;
  plan = {call_named(call), number("AOE_FAIL_AT", 0), number("AOE_FAIL_ON", 0) != 0,
          static_cast<std::size_t>(number("AOE_FAIL_BYTES", 0))};
  is_ready = true;
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

[[gnu::destructor]] void write_count() {
  const char* const path = std::getenv("AOE_FAIL_COUNT");
  if (!is_ready || path == nullptr) return;
  is_ready = false;
  char text[32];
  const int size = std::snprintf(text, sizeof text, "%ld\n", calls.load());
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(fd, text, static_cast<std::size_t>(size));
  ::close(fd);
}

/// Counts the call.
bool fails(Call call) {
  if (!is_ready || plan.call != call) return false;
  const long n = ++calls;
  return plan.at > 0 && (n == plan.at || (plan.goes_on && n > plan.at));
}

bool malloc_fails(std::size_t bytes) {
  if (!is_ready || plan.call != Call::kMalloc || bytes < plan.least_bytes) return false;
  if (!fails(Call::kMalloc)) return false;
  errno = ENOMEM;
  return true;
}

bool is_for_writing(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
}

bool open_fails(int flags) {
  if (!is_for_writing(flags) || !fails(Call::kOpen)) return false;
  errno = ENOSPC;
  return true;
}

bool write_fails(int fd) {
  if (fd <= STDERR_FILENO || !fails(Call::kWrite)) return false;
  errno = ENOSPC;
  return true;
}

bool sync_fails() {
  if (!fails(Call::kSync)) return false;
  errno = EIO;
  return true;
}

bool rename_fails() {
  if (!fails(Call::kRename)) return false;
  errno = EIO;
  return true;
}

bool mmap_fails(std::size_t bytes, int flags) {
  constexpr std::size_t kLarge = 1 << 20;
  const bool counts = (flags & MAP_ANONYMOUS) == 0 || bytes >= kLarge;
  if (!counts || !fails(Call::kMmap)) return false;
  errno = ENOMEM;
  return true;
}

mode_t mode_in(int flags, va_list list) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  return malloc_fails(bytes) ? nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  return malloc_fails(count * bytes) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  return malloc_fails(bytes) ? nullptr : __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return malloc_fails(bytes) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  void* const made = malloc_fails(bytes) ? nullptr : __libc_memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *to = made;
  return 0;
}

ssize_t write(int fd, const void* bytes, std::size_t size) {
  return write_fails(fd) ? -1 : real<decltype(write)>("write")(fd, bytes, size);
}
ssize_t pwrite64(int fd, const void* bytes, std::size_t size, off64_t at) {
  return write_fails(fd) ? -1 : real<decltype(pwrite64)>("pwrite64")(fd, bytes, size, at);
}
ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t at) {
  return write_fails(fd) ? -1 : real<decltype(pwrite)>("pwrite")(fd, bytes, size, at);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  return write_fails(fd) ? -1 : real<decltype(writev)>("writev")(fd, parts, count);
}

int fsync(int fd) {
  return sync_fails() ? -1 : real<decltype(fsync)>("fsync")(fd);
}
int fdatasync(int fd) {
  return sync_fails() ? -1 : real<decltype(fdatasync)>("fdatasync")(fd);
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_in(flags, list);
  va_end(list);
  return open_fails(flags) ? -1 : real<int(const char*, int, ...)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_in(flags, list);
  va_end(list);
  return open_fails(flags) ? -1 : real<int(const char*, int, ...)>("open64")(path, flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_in(flags, list);
  va_end(list);
  return open_fails(flags)
             ? -1
             : real<int(int, const char*, int, ...)>("openat")(directory, path, flags, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  if (std::strpbrk(mode, "wa+") != nullptr && open_fails(O_WRONLY)) return nullptr;
  return real<decltype(fopen64)>("fopen64")(path, mode);
}
FILE* fopen(const char* path, const char* mode) {
  if (std::strpbrk(mode, "wa+") != nullptr && open_fails(O_WRONLY)) return nullptr;
  return real<decltype(fopen)>("fopen")(path, mode);
}

int rename(const char* from, const char* to) {
  return rename_fails() ? -1 : real<decltype(rename)>("rename")(from, to);
}

void* mmap(void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (mmap_fails(bytes, flags)) return MAP_FAILED;
  return real<decltype(mmap)>("mmap")(at, bytes, protection, flags, fd, offset);
}
void* mmap64(void* at, std::size_t bytes, int protection, int flags, int fd, off64_t offset) {
  if (mmap_fails(bytes, flags)) return MAP_FAILED;
  return real<decltype(mmap64)>("mmap64")(at, bytes, protection, flags, fd, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*),
                   void* argument) {
  if (fails(Call::kThread)) return EAGAIN;
  return real<decltype(pthread_create)>("pthread_create")(thread, attributes, begin, argument);
}

}  // extern "C"
