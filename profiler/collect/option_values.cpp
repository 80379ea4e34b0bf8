// Parsing, with one wording of each complaint.
#include "profiler/collect/option_values.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "base/to_number.h"
#include "base/words.h"
#include "profiler/collect/metric_groups.h"

namespace aoe::profiler {
namespace {

/// Applies `use` to each word of a list; the words it refuses come back.
template <typename Use>
std::string for_each_word(const GivenValue& words, Use&& use) {
  std::string refused;
  std::istringstream list(words.text);
  for (std::string word; std::getline(list, word, ',');) {
    if (use(word)) continue;
    if (word != "disk" && word != "network" && word != "osrt" && word != "numa")
      reject_value(words, "'" + word + "' is no kind of system data", "use cpu and mem");
    refused += (refused.empty() ? "" : ",") + word;
  }
  return refused;
}

}  // namespace

void reject_value(const GivenValue& given, const std::string& what, const std::string& advice) {
  throw Error(ExitCode::kUsage, what, given.where, advice);
}

bool on_or_off(const GivenValue& given) {
  return one_of(given, {"on", "off"}) == "on";
}

const std::string& one_of(const GivenValue& given, std::initializer_list<std::string_view> words) {
  if (std::find(words.begin(), words.end(), given.text) != words.end()) return given.text;
  reject_value(given, "'" + given.text + "' is not known", "use " + joined(words, ", "));
}

int whole_number(const GivenValue& given, int least, int most) {
  const auto value = to_number<int>(given.text);
  if (!value || *value < least || *value > most)
    reject_value(given, "'" + given.text + "' is no number in range",
                 "use " + std::to_string(least) + " to " + std::to_string(most));
  return *value;
}

double number(const GivenValue& given, double least, double most) {
  std::istringstream in(given.text);
  double value = 0;
  if (!(in >> value) || !in.eof() || !(value >= least) || !(value <= most)) {
    std::ostringstream range;
    range.precision(std::numeric_limits<std::int64_t>::digits10);  // seconds of a month in full
    range << "use " << least << " to " << most;
    reject_value(given, "'" + given.text + "' is out of range", range.str());
  }
  return value;
}

TaskTime task_time(const GivenValue& given) {
  const std::string& level = one_of(given, {"on", "off", "l0", "l1", "l2", "l3"});
  if (level == "off") return TaskTime::kOff;
  return level == "l0" ? TaskTime::kL0 : TaskTime::kL1;
}

const std::string& metrics(const GivenValue& given) {
  if (const std::string flaw = flaw_of_metrics(given.text); !flaw.empty())
    reject_value(given, flaw);
  return given.text;
}

std::uint64_t storage_limit(const GivenValue& given) {
  constexpr std::uint64_t kLeastMb = 200;
  constexpr std::uint64_t kMostMb = 4294967295;
  constexpr std::string_view kUnit = "MB";
  std::string_view digits = given.text;
  if (digits.ends_with(kUnit)) digits.remove_suffix(kUnit.size());
  const auto megabytes = to_number<std::uint64_t>(digits);
  if (!given.text.ends_with(kUnit) || !megabytes || *megabytes < kLeastMb || *megabytes > kMostMb)
    reject_value(given, "'" + given.text + "' is no limit", "use 200MB to 4294967295MB");
  return *megabytes << 20;
}

std::filesystem::path output_path(const GivenValue& given) {
  constexpr std::string_view kForbidden = "\n\f\r\b\t\v\x7f\"'\\%><|&$;`";
  if (given.text.empty()) reject_value(given, "is empty", "name a directory");
  const std::size_t at = given.text.find_first_of(kForbidden);
  if (at != std::string::npos)
    reject_value(given,
                 "the path has a character that is not allowed, at position " + std::to_string(at),
                 "do without quotes, backslashes, control characters and % > < | & $ ; `");
  return given.text;
}

std::string apply_host_sys(const GivenValue& words, SystemSampling& system) {
  return for_each_word(words, [&](const std::string& word) {
    if (word == "cpu") system.process_cpu = true;
    if (word == "mem") system.process_memory = true;
    return word == "cpu" || word == "mem";
  });
}

std::string apply_host_sys_usage(const GivenValue& words, SystemSampling& system) {
  return for_each_word(words, [&](const std::string& word) {
    if (word == "cpu") system.process_cpu = system.system_cpu = true;
    if (word == "mem") system.process_memory = system.system_memory = true;
    return word == "cpu" || word == "mem";
  });
}

}  // namespace aoe::profiler
