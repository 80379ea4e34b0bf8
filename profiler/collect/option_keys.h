// Every option of a collection: one table row each, whoever gives it. A front (acl.json, PROFILING_OPTIONS, aclprofSetConfig(),
// the bits of aclprofCreateConfig(), msprof's flags) finds a row by its own spelling of the name and applies it; what a value
// means is said here alone. What each front begins with: default_options().
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/collect/option_values.h"

namespace aoe::profiler {

/// Who has an option of this name.
enum OptionFront : unsigned {
  kAclJson = 1,           ///< the current generation's profiler object
  kProfilingOptions = 2,  ///< the TensorFlow adapter's JSON
  kSetConfig = 4,         ///< aclprofSetConfig()
  kConfigBits = 8,        ///< aclprofCreateConfig()
  kMsprof = 16,           ///< a flag, with '-' for '_'
  kSs928 = 32,            ///< the profiler object of that generation
};

struct OptionKey {
  const char* name;
  unsigned fronts;
  /// What is without effect on this machine goes into `unused`, as the user wrote it. Throws Error(kUsage).
  void (*apply)(CollectOptions& options, const GivenValue& given, std::vector<std::string>& unused);
  const char* values = "";  ///< for msprof's --help
  const char* meaning = "accepted, without effect on this hardware";
};

/// In the order in which msprof's --help has them, and in which a front that knows no order of its own applies them.
std::span<const OptionKey> option_keys();
/// nullptr when that front has none of this name.
const OptionKey* find_option_key(std::string_view name, unsigned fronts);

/// What the documents say of a front that is told nothing; `output` is empty.
CollectOptions default_options(OptionFront front);

/// Logs what is without effect: each once in the life of the process.
void warn_of_unused(const std::vector<std::string>& unused);

}  // namespace aoe::profiler
