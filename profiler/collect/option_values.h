// What users write as the value of an option, whichever way they give it: acl.json, a flag of msprof, PROFILING_OPTIONS,
// aclprofSetConfig(). Every function throws Error(kUsage) that names `where` when the text is none of its values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "profiler/collect/options.h"

namespace aoe::profiler {

struct GivenValue {
  std::string where;  ///< as the user knows it: "--task-time", "profiler.task_time"
  std::string text;
};

[[noreturn]] void reject_value(const GivenValue& given, const std::string& what,
                               const std::string& advice = {});

bool on_or_off(const GivenValue& given);
const std::string& one_of(const GivenValue& given, std::initializer_list<std::string_view> words);
int whole_number(const GivenValue& given, int least, int most);
double number(const GivenValue& given, double least, double most);

/// on (= l1), off, l0, l1, l2, l3; there is nothing beyond l1 here.
TaskTime task_time(const GivenValue& given);
/// The name of a metric group, or "Custom:0x49,0x8".
const std::string& metrics(const GivenValue& given);
/// "200MB" to "4294967295MB", in bytes.
std::uint64_t storage_limit(const GivenValue& given);
/// A path without the characters that the tooling forbids.
std::filesystem::path output_path(const GivenValue& given);

/// Sets what a list such as "cpu,mem" of host_sys (process) or host_sys_usage (machine and process) asks for. The words that
/// are not collected here come back, joined by ','.
std::string apply_host_sys(const GivenValue& words, SystemSampling& system);
std::string apply_host_sys_usage(const GivenValue& words, SystemSampling& system);

}  // namespace aoe::profiler
