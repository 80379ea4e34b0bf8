// Where banks are: which directory wins, from the documented variables and flags. Reads no
// environment by itself.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace aoe::bank {

enum class BankKind { kOp, kGraph };
/// "op", "graph": of folders and exported files.
const char* name(BankKind kind);
enum class BankUse { kRead, kTune };  ///< tuning writes

/// The variables that decide; tools fill it from the process, tests by hand.
struct BankEnvironment {
  std::optional<std::string> tune_bank_path;     ///< TUNE_BANK_PATH
  std::optional<std::string> ascend_cache_path;  ///< ASCEND_CACHE_PATH
  std::string home;                              ///< HOME, else the user's in the password file
  std::filesystem::path built_in_root;           ///< installed with the product; empty: none
  static BankEnvironment from_process(std::filesystem::path built_in_root = {});
};

struct BankLocation {
  std::filesystem::path directory;
  std::string chosen_by;  ///< "TUNE_BANK_PATH", "--op_bank_path", "ASCEND_CACHE_PATH", "default"
};

/// The custom bank. `flag` is --op_bank_path or --mdl_bank_path, empty when not given. Priority,
/// high to low:
///   op:    TUNE_BANK_PATH, flag, ASCEND_CACHE_PATH, default
///   graph: flag, TUNE_BANK_PATH, ASCEND_CACHE_PATH, default
/// The directory is <root>/{op|graph}/<soc_version> with root = $TUNE_BANK_PATH, the flag,
/// $ASCEND_CACHE_PATH/aoe_data or <home>/Ascend/latest/data/aoe/custom. A root that was named
/// explicitly must exist and be readable and searchable, for tuning writable as well, else
/// Error(kBank); the default root is made on the first commit.
BankLocation custom_bank_location(BankKind kind, BankUse use, const std::string& soc_version,
                                  const BankEnvironment& environment, const std::string& flag = {});

/// The soc_version that the bank in this directory states; nullopt: it states none that can be read,
/// and opening it says why.
std::optional<std::string> stated_soc_version(const std::filesystem::path& directory);

/// The bank that ships with the product; nullopt when there is none for this soc_version.
std::optional<BankLocation> built_in_bank_location(BankKind kind, const std::string& soc_version,
                                                   const BankEnvironment& environment);

}  // namespace aoe::bank
