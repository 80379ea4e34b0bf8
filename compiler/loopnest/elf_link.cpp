// See elf_link.h. lld wants paths: it gets those of files in memory, so that a link leaves nothing behind, however it ends, and needs
// no directory for temporary files.
#include "compiler/loopnest/elf_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <lld/Common/Filesystem.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory_file.h"
#include "base/system_calls.h"
#include "compiler/loopnest/llvm_wall.h"

LLD_HAS_DRIVER(elf)

// All of liblldCommon's Filesystem.cpp: the linker takes these and leaves that out. Its own ones try an output by a file beside it,
// which /proc does not take; ours is there and open.
namespace lld {
void unlinkAsync(StringRef) {
}
std::error_code tryCreateFile(StringRef) {
  return {};
}
std::unique_ptr<llvm::raw_fd_ostream> openFile(StringRef) {
  return nullptr;  // of reports that nobody asks for
}
std::unique_ptr<llvm::raw_fd_ostream> openLTOOutputFile(StringRef) {
  return nullptr;
}
}  // namespace lld

namespace aoe::compiler::loopnest {
namespace {

const char* advice_for(int error) {
  switch (error) {
    case EFBIG:
      return "raise the limit of file sizes (ulimit -f)";
    case EMFILE:
      return "raise the limit of open files (ulimit -n)";
    case ENOENT:
      return "mount /proc, by which lld finds its files";
    default:
      return "";
  }
}

[[noreturn]] void refuse(int error) {
  throw Error(ExitCode::kFailure,
              std::string("generated code cannot be linked: ") + std::strerror(error), {},
              advice_for(error));
}

/// What lld's complaint comes of when it is the system or a limit, not what it links; otherwise 0.
int cause_in_system(const std::string& complaint) {
  constexpr int kErrors[] = {ENOENT, ENOSPC, EIO, EFBIG, EACCES, EMFILE, ENFILE, ENOMEM};
  const auto* found = std::ranges::find_if(kErrors, [&](int error) {
    return complaint.find(std::strerror(error)) != std::string::npos;
  });
  return found == std::end(kErrors) ? 0 : *found;
}

/// What is written to it, in memory.
Descriptor memory_file(std::span<const std::string_view> pieces) {
  Descriptor file = make_memory_file("aoe_link");
  if (!file.is_open()) refuse(errno);
  for (const std::string_view piece : pieces)
    if (!write_all(file.number(), piece)) refuse(errno);
  return file;
}

/// One file for all, as `ar` writes it: a model may have more functions than a process may have open files.
Descriptor archive_of(std::span<const std::string> objects) {
  std::vector<std::string> headers;
  for (const std::string& object : objects)
    headers.push_back(fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "kernel.o/", 0, 0, 0, 644,
                                  object.size()));
  std::vector<std::string_view> pieces = {"!<arch>\n"};
  for (std::size_t i = 0; i < objects.size(); ++i) {
    pieces.insert(pieces.end(), {headers[i], objects[i]});
    if (objects[i].size() % 2 != 0) pieces.emplace_back("\n");
  }
  return memory_file(pieces);
}

/// Where lld will write what it makes of `objects`. It ends the process where it cannot open the path, or not write as much as it
/// has; so both are tried before.
Descriptor output_for(std::span<const std::string> objects) {
  Descriptor file = memory_file({});
  const Descriptor again(::open(path_in_proc(file).c_str(), O_WRONLY | O_CLOEXEC));
  if (!again.is_open()) refuse(errno);
  std::size_t most = 1 << 16;
  for (const std::string& object : objects) most += 2 * object.size();
  if (::ftruncate(file.number(), static_cast<off_t>(most)) != 0) refuse(errno);
  return file;
}

}  // namespace

std::shared_mutex& llvm_options_mutex() {
  static std::shared_mutex mutex;
  return mutex;
}

std::string link_shared_object(std::span<const std::string> objects) {
  const Descriptor archive = archive_of(objects), output = output_for(objects);
  const std::string input_path = path_in_proc(archive), output_path = path_in_proc(output);
  const std::vector<const char*> args = {
      "ld.lld", "-shared", "--gc-sections", "--no-undefined", "--hash-style=gnu", "--build-id=none",
      "--threads=1", "-z", "max-page-size=4096", "-z", "noexecstack",
      // It would make a file beside the output, and map it.
      "--no-mmap-output-file",
      // lld resets all of LLVM's options; this is the one that Target::make_machine() sets, see there.
      "-mllvm", "-disable-lsr", "-o", output_path.c_str(), "--whole-archive", input_path.c_str()};

  const std::unique_lock lock(llvm_options_mutex());
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  bool is_linked = false;
  // Sections of its inputs stay in memory of the thread that links, until it ends: some kilobytes a link, for ever in a program that
  // tunes on its main thread.
  const auto link_all = [&] {
    is_linked = within_llvm([&] {
      const bool done = lld::elf::link(args, stream, stream, false, false);
      lld::CommonLinkerContext::destroy();
      return done;
    });
  };
  try {
    std::thread(link_all).join();
  } catch (const std::system_error&) {  // no thread is to be had
    link_all();
  }
  const std::string first_line = complaint.substr(0, complaint.find('\n'));
  if (const int cause = is_linked ? 0 : cause_in_system(first_line)) refuse(cause);
  AOE_CHECK(is_linked, "lld refuses generated code: " + first_line);
  return read_file(output_path, ExitCode::kFailure);
}

}  // namespace aoe::compiler::loopnest
