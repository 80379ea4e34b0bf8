// The table of calls and modes.
#include "runtime/acl/prof_mode.h"

#include "runtime/acl/wall.h"

namespace aoe::runtime::acl {
namespace {

struct Rule {
  aclError code;
  const char* why;
};
constexpr Rule kFine = {ACL_SUCCESS, ""};
constexpr Rule kNotRun = {ACL_ERROR_PROF_NOT_RUN, "aclprofInit was not called"};
constexpr Rule kRepeated = {ACL_ERROR_REPEAT_INITIALIZE, "aclprofInit was called already"};
constexpr Rule kCommandRuns = {ACL_ERROR_PROF_ALREADY_RUN,
                               "acl.json, msprof or PROFILING_MODE collects already"};
constexpr Rule kRuns = {ACL_ERROR_PROF_ALREADY_RUN, "the program itself profiles already"};
constexpr Rule kSubscribed = {ACL_ERROR_PROF_API_CONFLICT,
                              "a model is subscribed to; call aclprofModelUnSubscribe first"};
constexpr Rule kCollects = {ACL_ERROR_PROF_API_CONFLICT,
                            "between aclprofInit and aclprofFinalize nothing can be subscribed to"};

// Rows: ProfCall. Columns: ProfMode.
constexpr Rule kRules[5][4] = {
    // off     API         command       subscription
    {kFine, kRepeated, kCommandRuns, kSubscribed},  // kInit
    {kNotRun, kFine, kCommandRuns, kSubscribed},    // kCollect
    {kFine, kFine, kFine, kFine},                   // kConfigure
    {kFine, kCollects, kCommandRuns, kFine},        // kSubscribe
    {kFine, kRuns, kCommandRuns, kRuns},            // kCommand
};

}  // namespace

void ProfModes::require(ProfCall call) const {
  const Rule& rule = kRules[static_cast<int>(call)][static_cast<int>(mode_)];
  acl::require(rule.code == ACL_SUCCESS, rule.code, rule.why);
}

ProfModes& prof_modes() {
  static ProfModes instance;
  return instance;
}

}  // namespace aoe::runtime::acl
