// The documented priority of bank paths.
#include "bank/location.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "bank/marker.h"
#include "base/error.h"

namespace aoe::bank {
namespace fs = std::filesystem;
namespace {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

/// HOME, else what the password file says of the user, as shells have ~ where nothing has set HOME; never the working
/// directory. "/nonexistent", as such files say of users without a home, when neither knows one.
std::string home_of_user() {
  if (const auto home = variable("HOME")) return *home;
  std::vector<char> room(std::size_t{64} << 10);
  passwd entry{}, *found = nullptr;
  ::getpwuid_r(::getuid(), &entry, room.data(), room.size(), &found);
  const bool has_home = found != nullptr && entry.pw_dir != nullptr && *entry.pw_dir != '\0';
  return has_home ? entry.pw_dir : "/nonexistent";
}

fs::path below(const fs::path& root, BankKind kind, const std::string& soc_version) {
  return root / name(kind) / soc_version;
}

/// A root that a user named has to be there: a typing error must not silently start an empty bank.
void require_usable(const std::string& root, const std::string& named_by, BankUse use) {
  std::error_code status;
  if (!fs::is_directory(root, status))
    throw Error(ExitCode::kBank,
                named_by + (fs::exists(root, status) ? " names a file, not a directory"
                                                     : " names a directory that does not exist"),
                root, "create it or correct " + named_by);
  const bool writes = use == BankUse::kTune;
  if (::access(root.c_str(), R_OK | X_OK | (writes ? W_OK : 0)) != 0)
    throw Error(ExitCode::kBank,
                named_by + " names a directory without " + (writes ? "rwx" : "r-x") + " permission",
                root, "grant the permission or choose another directory");
}

/// Users of services have a home that is not there, and is not to be; it may also be a typing error.
void require_home(const fs::path& home, BankUse use) {
  std::error_code status;
  if (use == BankUse::kTune && !fs::is_directory(home, status))
    throw Error(ExitCode::kBank, "the user's home is no directory that exists", home.string(),
                "name a place for the bank by TUNE_BANK_PATH, or correct HOME");
}

struct Root {
  std::optional<std::string> path;
  std::string named_by;
  fs::path suffix;
};

}  // namespace

const char* name(BankKind kind) {
  return kind == BankKind::kOp ? "op" : "graph";
}

BankEnvironment BankEnvironment::from_process(fs::path built_in_root) {
  return {variable("TUNE_BANK_PATH"), variable("ASCEND_CACHE_PATH"), home_of_user(),
          std::move(built_in_root)};
}

BankLocation custom_bank_location(BankKind kind, BankUse use, const std::string& soc_version,
                                  const BankEnvironment& environment, const std::string& flag) {
  const Root variable_root{environment.tune_bank_path, "TUNE_BANK_PATH", {}};
  const Root flag_root{flag.empty() ? std::nullopt : std::optional(flag),
                       kind == BankKind::kOp ? "--op_bank_path" : "--mdl_bank_path",
                       {}};
  const Root cache_root{environment.ascend_cache_path, "ASCEND_CACHE_PATH", "aoe_data"};
  const std::vector<Root> order = kind == BankKind::kOp
                                      ? std::vector<Root>{variable_root, flag_root, cache_root}
                                      : std::vector<Root>{flag_root, variable_root, cache_root};
  for (const Root& root : order) {
    if (!root.path) continue;
    require_usable(*root.path, root.named_by, use);
    return {below(fs::absolute(*root.path) / root.suffix, kind, soc_version), root.named_by};
  }
  require_home(environment.home, use);
  return {below(fs::path(environment.home) / "Ascend/latest/data/aoe/custom", kind, soc_version),
          "default"};
}

std::optional<std::string> stated_soc_version(const fs::path& directory) {
  try {
    const std::optional<Marker> marker = read_marker(directory);
    return marker ? std::optional(marker->soc_version) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<BankLocation> built_in_bank_location(BankKind kind, const std::string& soc_version,
                                                   const BankEnvironment& environment) {
  if (environment.built_in_root.empty()) return std::nullopt;
  const fs::path directory = below(environment.built_in_root, kind, soc_version);
  std::error_code status;
  if (!fs::is_directory(directory, status)) return std::nullopt;
  return BankLocation{directory, "built-in"};
}

}  // namespace aoe::bank
