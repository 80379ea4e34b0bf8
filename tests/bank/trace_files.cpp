// A library to preload: writes down everything that a process does to files below AOE_TRACE_ROOT, in
// the order in which it happens, to the file AOE_TRACE_LOG. power_loss_test.cpp makes of it what a
// disk would have if the power went at any of these moments.
//
// A line for each event, its data behind it: "<op> <inode> <size> <offset> <path> <path2>\n<data>".
//   create, mkdir: a new name      link, rename: path2 is the new name     unlink: file or directory
//   write, truncate: by inode      sync: fsync or fdatasync of that inode  ack: written to stdout
// What this cannot follow ends the process: a test must not pass because it looked away.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace {

std::recursive_mutex g_mutex;  ///< an event and what it tells of are one

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

const std::string& root() {
  static const std::string text = [] {
    const char* value = std::getenv("AOE_TRACE_ROOT");
    return std::string(value != nullptr ? value : "");
  }();
  return text;
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "trace_files: cannot follow %s\n", what);
  std::abort();
}

bool is_below_root(const std::string& path) {
  return !root().empty() && path.size() > root().size() && path.starts_with(root() + "/");
}

std::string path_of(int fd) {
  char text[4096];
  const ssize_t size =
      ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), text, sizeof text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

std::string absolute(int directory, const char* path) {
  if (path[0] == '/') return path;
  if (directory != AT_FDCWD) return path_of(directory) + "/" + path;
  char text[4096];
  return std::string(::getcwd(text, sizeof text) != nullptr ? text : "") + "/" + path;
}

unsigned long long inode_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

/// 0: not a file that is followed. `is_followed` is of its path.
unsigned long long inode_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) return 0;
  const std::string path = path_of(fd);
  return is_below_root(path) || path == root() ? status.st_ino : 0;
}

void tell(const char* op, unsigned long long inode, const std::string& path,
          const std::string& path2 = {}, const void* data = nullptr, std::size_t size = 0,
          long long offset = 0) {
  static const int log = [] {
    const char* name = std::getenv("AOE_TRACE_LOG");
    return real<int(const char*, int, ...)>("open")(
        name != nullptr ? name : "/dev/null", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  }();
  static const auto write = real<ssize_t(int, const void*, std::size_t)>("write");
  std::string event = std::string(op) + " " + std::to_string(inode) + " " + std::to_string(size) +
                      " " + std::to_string(offset) + " " + (path.empty() ? "-" : path) + " " +
                      (path2.empty() ? "-" : path2) + "\n";
  if (size > 0) event.append(static_cast<const char*>(data), size);
  if (write(log, event.data(), event.size()) != static_cast<ssize_t>(event.size()))
    give_up("a full disk");
}

template <typename Open>
int open_and_tell(const std::string& path, int flags, const Open& open) {
  if (!is_below_root(path)) return open();
  const std::lock_guard lock(g_mutex);
  const bool was_there = inode_of(path) != 0;
  const int fd = open();
  if (fd < 0) return fd;
  if (!was_there) tell("create", inode_of(path), path);
  if (was_there && (flags & O_TRUNC)) tell("truncate", inode_of(path), path);
  return fd;
}

mode_t mode_in(int flags, va_list arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

void tell_write(int fd, const void* data, ssize_t written, long long offset) {
  if (written <= 0) return;
  if (fd == STDOUT_FILENO) return tell("ack", 0, "", "", data, static_cast<std::size_t>(written));
  if (const auto inode = inode_of(fd))
    tell("write", inode, "", "", data, static_cast<std::size_t>(written), offset);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(flags, arguments);
  va_end(arguments);
  return open_and_tell(absolute(AT_FDCWD, path), flags,
                       [&] { return real<int(const char*, int, ...)>("open")(path, flags, mode); });
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(flags, arguments);
  va_end(arguments);
  return open(path, flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(flags, arguments);
  va_end(arguments);
  return open_and_tell(absolute(directory, path), flags, [&] {
    return real<int(int, const char*, int, ...)>("openat")(directory, path, flags, mode);
  });
}
int openat64(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(flags, arguments);
  va_end(arguments);
  return openat(directory, path, flags, mode);
}

ssize_t write(int fd, const void* data, std::size_t size) {
  const std::lock_guard lock(g_mutex);
  const bool appends = (::fcntl(fd, F_GETFL) & O_APPEND) != 0;
  const off_t offset = ::lseek(fd, 0, appends ? SEEK_END : SEEK_CUR);
  const ssize_t written = real<ssize_t(int, const void*, std::size_t)>("write")(fd, data, size);
  tell_write(fd, data, written, offset);
  return written;
}
ssize_t pwrite64(int fd, const void* data, std::size_t size, off_t offset) {
  const std::lock_guard lock(g_mutex);
  const ssize_t written =
      real<ssize_t(int, const void*, std::size_t, off_t)>("pwrite64")(fd, data, size, offset);
  tell_write(fd, data, written, offset);
  return written;
}
ssize_t pwrite(int fd, const void* data, std::size_t size, off_t offset) {
  return pwrite64(fd, data, size, offset);
}
int ftruncate64(int fd, off_t size) {
  const std::lock_guard lock(g_mutex);
  const int status = real<int(int, off_t)>("ftruncate64")(fd, size);
  if (const auto inode = inode_of(fd); status == 0 && inode != 0)
    tell("truncate", inode, "", "", nullptr, 0, size);
  return status;
}
int ftruncate(int fd, off_t size) {
  return ftruncate64(fd, size);
}
int fsync(int fd) {
  const std::lock_guard lock(g_mutex);
  const int status = real<int(int)>("fsync")(fd);
  if (const auto inode = inode_of(fd); status == 0 && inode != 0) tell("sync", inode, path_of(fd));
  return status;
}
int fdatasync(int fd) {
  const std::lock_guard lock(g_mutex);
  const int status = real<int(int)>("fdatasync")(fd);
  if (const auto inode = inode_of(fd); status == 0 && inode != 0) tell("sync", inode, path_of(fd));
  return status;
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to,
              unsigned flags) {
  const std::lock_guard lock(g_mutex);
  const std::string old_path = absolute(from_directory, from), path = absolute(to_directory, to);
  const auto inode = inode_of(old_path);
  const int status = real<int(int, const char*, int, const char*, unsigned)>("renameat2")(
      from_directory, from, to_directory, to, flags);
  if (status == 0 && is_below_root(path)) tell("rename", inode, old_path, path);
  return status;
}
int rename(const char* from, const char* to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  return renameat2(from_directory, from, to_directory, to, 0);
}
int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  const std::lock_guard lock(g_mutex);
  const int status = real<int(int, const char*, int, const char*, int)>("linkat")(
      from_directory, from, to_directory, to, flags);
  const std::string path = absolute(to_directory, to);
  if (status == 0 && is_below_root(path))
    tell("link", inode_of(path), absolute(from_directory, from), path);
  return status;
}
int link(const char* from, const char* to) {
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int unlinkat(int directory, const char* name, int flags) {
  const std::lock_guard lock(g_mutex);
  const std::string path = absolute(directory, name);
  const auto inode = inode_of(path);
  const int status = real<int(int, const char*, int)>("unlinkat")(directory, name, flags);
  if (status == 0 && is_below_root(path)) tell("unlink", inode, path);
  return status;
}
int unlink(const char* path) {
  return unlinkat(AT_FDCWD, path, 0);
}
int rmdir(const char* path) {
  return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
int remove(const char* path) {
  struct stat status {};
  if (::lstat(path, &status) != 0) return -1;
  return S_ISDIR(status.st_mode) ? rmdir(path) : unlink(path);
}
int mkdirat(int directory, const char* name, mode_t mode) {
  const std::lock_guard lock(g_mutex);
  const int status = real<int(int, const char*, mode_t)>("mkdirat")(directory, name, mode);
  const std::string path = absolute(directory, name);
  if (status == 0 && is_below_root(path)) tell("mkdir", inode_of(path), path);
  return status;
}
int mkdir(const char* path, mode_t mode) {
  return mkdirat(AT_FDCWD, path, mode);
}

// ---- what is not followed ----

ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, std::size_t size,
                        unsigned flags) {
  if (inode_of(to) != 0) give_up("copy_file_range");
  return real<ssize_t(int, off64_t*, int, off64_t*, std::size_t, unsigned)>("copy_file_range")(
      from, from_at, to, to_at, size, flags);
}
ssize_t sendfile(int to, int from, off_t* at, std::size_t size) {
  if (inode_of(to) != 0) give_up("sendfile");
  return real<ssize_t(int, int, off_t*, std::size_t)>("sendfile")(to, from, at, size);
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  if (inode_of(fd) != 0) give_up("writev");
  return real<ssize_t(int, const struct iovec*, int)>("writev")(fd, parts, count);
}
void* mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) {
  static const auto next = real<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  if (fd >= 0 && (protection & PROT_WRITE) && (flags & MAP_SHARED) && inode_of(fd) != 0)
    give_up("a mapping that is written");
  return next(address, size, protection, flags, fd, offset);
}

}  // extern "C"
