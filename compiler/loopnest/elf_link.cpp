// See elf_link.h. lld wants real paths: objects and result stand in a private directory for the
// moment of the link.
#include "compiler/loopnest/elf_link.h"

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/file.h"
#include "base/temporary_directory.h"
#include "compiler/loopnest/llvm_wall.h"

LLD_HAS_DRIVER(elf)

namespace aoe::compiler::loopnest {
namespace {

/// Whether lld complains of the disk or of limits of the process, not of what it links.
bool is_of_the_system(const std::string& complaint) {
  constexpr int kErrors[] = {ENOSPC, EDQUOT, EIO, EFBIG, EROFS, EACCES, EMFILE, ENFILE, ENOMEM};
  const auto says = [&](std::string_view words) {
    return complaint.find(words) != std::string::npos;
  };
  return says("output file") ||
         std::ranges::any_of(kErrors, [&](int error) { return says(std::strerror(error)); });
}

}  // namespace

std::shared_mutex& llvm_options_mutex() {
  static std::shared_mutex mutex;
  return mutex;
}

std::string link_shared_object(std::span<const std::string> objects) {
  const TemporaryDirectory directory("aoe-link");
  const std::string output = directory.path() / "kernels.so";
  std::vector<std::string> inputs;
  for (const std::string& object : objects) {
    inputs.push_back(directory.path() / (std::to_string(inputs.size()) + ".o"));
    write_file_atomically(inputs.back(), object);
  }
  std::vector<const char*> args = {"ld.lld", "-shared", "--gc-sections", "--no-undefined",
                                   "--hash-style=gnu", "--build-id=none", "--threads=1", "-z",
                                   "max-page-size=4096", "-z", "noexecstack",
                                   // lld resets all of LLVM's options; this is the one that
                                   // Target::make_machine() sets, see there.
                                   "-mllvm", "-disable-lsr", "-o", output.c_str()};
  for (const std::string& input : inputs) args.push_back(input.c_str());

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
  if (!is_linked && is_of_the_system(first_line))
    throw Error(ExitCode::kOutput, first_line, directory.path().string(),
                "set TMPDIR to a directory that can be written");
  AOE_CHECK(is_linked, "lld refuses generated code: " + first_line);
  return read_file(output, ExitCode::kOutput);
}

}  // namespace aoe::compiler::loopnest
