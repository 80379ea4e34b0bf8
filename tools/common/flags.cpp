// Values of flags, checked where they are read.
#include "tools/common/flags.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/check.h"
#include "base/error.h"

namespace aoe::tools {

void reject(const std::string& flag, const std::string& what, const std::string& advice) {
  throw Error(ExitCode::kUsage, what, flag, advice);
}

po::typed_value<std::string>* text(const char* value_name) {
  return po::value<std::string>()->value_name(value_name);
}

po::typed_value<std::string>* text_or(const char* fallback, const char* value_name) {
  return text(value_name)->default_value(fallback);
}

po::typed_value<int>* number_or(int fallback, const char* value_name) {
  return po::value<int>()->default_value(fallback)->value_name(value_name);
}

std::string text_of(const po::variables_map& flags, const std::string& name) {
  return flags.contains(name) ? flags[name].as<std::string>() : std::string();
}

std::string value_text(const po::variable_value& value) {
  if (const auto* as_text = boost::any_cast<std::string>(&value.value())) return *as_text;
  if (const auto* number = boost::any_cast<int>(&value.value())) return std::to_string(*number);
  if (const auto* number = boost::any_cast<std::int64_t>(&value.value()))
    return std::to_string(*number);
  if (const auto* number = boost::any_cast<std::uint64_t>(&value.value()))
    return std::to_string(*number);
  if (const auto* number = boost::any_cast<double>(&value.value()))
    return fmt::format("{}", *number);
  const auto* is_on = boost::any_cast<bool>(&value.value());
  AOE_CHECK(is_on != nullptr, "a flag of a type that nothing writes");
  return *is_on ? "true" : "false";
}

std::optional<int> number_of(const po::variables_map& flags, const std::string& name, int least,
                             int most) {
  if (!flags.contains(name)) return std::nullopt;
  const int value = flags[name].as<int>();
  if (value < least || value > most)
    reject("--" + name, std::to_string(value) + " is out of range",
           "use " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

void add_threads_flag(po::options_description& flags, const char* meaning) {
  flags.add_options()("threads", po::value<int>()->value_name("N"), meaning);
}

int threads_of(const po::variables_map& flags) {
  constexpr int kMostThreads = 1024;
  const auto threads = number_of(flags, "threads", 1, kMostThreads);
  const auto cores = number_of(flags, "aicore_num", 1, kMostThreads);
  if (threads && cores && *threads != *cores)
    reject("--aicore_num", "means the same as --threads, which says " + std::to_string(*threads),
           "give one of the two");
  return threads.value_or(cores.value_or(0));
}

}  // namespace aoe::tools
