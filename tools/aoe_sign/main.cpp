// aoe_sign: makes keys, signs oms, and says who signed them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "runtime/om/om_signature.h"
#include "tools/common/commands.h"

namespace aoe::tools {
namespace {

/// A new file that nobody but its owner may read: one that is there is never overwritten, it may be the only one.
void write_new_file(const std::string& path, const std::string& text, mode_t mode) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  bool is_written = false;
  if (file.is_open()) {
    is_written =
        ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        ::fsync(file.number()) == 0;
    const int cause = errno;
    file.reset();
    if (!is_written) ::unlink(path.c_str());
    errno = cause;
  }
  if (!is_written)
    throw Error(ExitCode::kOutput, std::string("cannot be written: ") + std::strerror(errno), path,
                errno == EEXIST ? "a key is never overwritten: give another name"
                                : "choose a writable place with enough space");
}

void make_keys(const po::variables_map&, const Words& words) {
  const runtime::KeyPair pair = runtime::make_key_pair();
  const std::string secret = words.front() + ".key", open = words.front() + ".pub";
  write_new_file(secret, runtime::secret_key_text(pair.secret_key), S_IRUSR | S_IWUSR);
  try {
    write_new_file(open, runtime::public_key_text(pair.public_key), 0666);
  } catch (const Error&) {
    ::unlink(secret.c_str());  // of no use alone
    throw;
  }
  std::cout << secret << "\n" << open << "\n";
}

void sign(const po::variables_map& flags, const Words& words) {
  if (!flags.contains("key"))
    throw Error(ExitCode::kUsage, "sign needs --key", {}, "give the .key file of aoe_sign keygen");
  const runtime::SecretKey key = runtime::read_secret_key(text_of(flags, "key"));
  for (const std::string& path : words)
    write_file_atomically(path, runtime::sign_om(read_file(path, ExitCode::kOm), key, path));
}

void verify(const po::variables_map& flags, const Words& words) {
  if (!flags.contains("om_key"))
    throw Error(ExitCode::kUsage, "verify needs --om_key", {},
                "give the .pub file of aoe_sign keygen");
  const runtime::OmKeys keys = runtime::OmKeys::read(text_of(flags, "om_key"));
  for (const std::string& path : words) {
    keys.check(read_file(path, ExitCode::kOm), path);
    std::cout << path << ": signed\n";
  }
}

struct Command : CommandWords {
  void (*run)(const po::variables_map&, const Words&);
};
constexpr Command kCommands[] = {
    {{"keygen", 1, 1, "a name for the two files"}, make_keys},
    {{"sign", 1, kAnyWords, "oms"}, sign},
    {{"verify", 1, kAnyWords, "oms"}, verify},
};
constexpr FlagOfCommands kOwnFlags[] = {{"key", "sign"}, {"om_key", "verify"}};

ExitCode run(const po::variables_map& flags) {
  const Command& command = command_of(flags, kCommands);
  check_flags_of(command, flags, kOwnFlags);
  command.run(flags, words_of(flags, command));
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{
      .name = "aoe_sign",
      .synopsis = "aoe_sign COMMAND WORDS [flags]",
      .summary =
          "Signs oms, so that a site loads only what it signed.\n"
          "  keygen NAME            makes NAME.key, which signs, and NAME.pub, which is given out\n"
          "  sign --key=K M.om..    signs oms where they lie\n"
          "  verify --om_key=P M.om..  exit code 4 unless the key has signed them all",
      .examples =
          "  aoe_sign keygen site\n"
          "  aoe_sign sign --key=site.key resnet50.om\n"
          "  aoe_sign verify --om_key=site.pub resnet50.om\n"
          "  aoe_run --model=resnet50.om --om_key=site.pub\n"};
  add_command_flags(tool);
  auto add = tool.flags.add_options();
  add("key", text("FILE.key"), "sign: the secret key");
  add("om_key", text("FILE.pub"), "verify: one or more public keys, one a line");
  tool.run = aoe::tools::run;
  return run_tool(argc, argv, std::move(tool));
}
