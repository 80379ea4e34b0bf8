// The options by the names that acl.json and PROFILING_OPTIONS have for them: one table row each. aclprofSetConfig() and
// msprof's flags are other spellings of the same.
#pragma once

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
};

struct OptionKey {
  const char* name;
  unsigned fronts;
  /// What is without effect on this machine goes into `unused`, as the user wrote it. Throws Error(kUsage).
  void (*apply)(CollectOptions& options, const GivenValue& given, std::vector<std::string>& unused);
};

/// nullptr when that front has none of this name.
const OptionKey* find_option_key(std::string_view name, unsigned fronts);

/// Logs what is without effect: each once in the life of the process.
void warn_of_unused(const std::vector<std::string>& unused);

}  // namespace aoe::profiler
