// Values of flags, checked where they are read.
#include "options/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/near_names.h"

namespace aoe::options {
namespace {

/// What the libraries that read numbers take without a word: a number below 0 for one that has no sign, and no number at all.
void check_number(const std::string& flag, const std::string& text,
                  const po::value_semantic& type) {
  const bool is_count = dynamic_cast<const po::typed_value<std::uint64_t>*>(&type) != nullptr;
  if (is_count && text.find('-') != std::string::npos)
    throw Error(ExitCode::kUsage, "'" + text + "' is below 0", "--" + flag, "see --help");
  if (dynamic_cast<const po::typed_value<double>*>(&type) == nullptr) return;
  char* end = nullptr;
  if (!std::isfinite(std::strtod(text.c_str(), &end)))
    throw Error(ExitCode::kUsage, "'" + text + "' is no number", "--" + flag, "see --help");
}

/// Opens what the library keeps for classes derived from its errors: what the placeholders of a message stand for.
struct NamedError : po::error_with_option_name {
  static std::map<std::string, std::string>& values_in(po::error_with_option_name& error) {
    return error.*&NamedError::m_substitutions;
  }
};

}  // namespace

std::string text_of(po::error& error) {
  auto* named = dynamic_cast<po::error_with_option_name*>(&error);
  if (named == nullptr) return error.what();
  constexpr char kPercentOfUser = '\1';
  for (auto& [placeholder, value] : NamedError::values_in(*named))
    std::ranges::replace(value, '%', kPercentOfUser);
  std::string text = named->what();
  std::ranges::replace(text, kPercentOfUser, '%');
  return text;
}

void check_numbers(const po::parsed_options& parsed, const po::options_description& all_flags) {
  for (const auto& option : parsed.options) {
    const auto* const known = all_flags.find_nothrow(option.string_key, false);
    if (known == nullptr) continue;
    for (const std::string& text : option.value)
      check_number(option.string_key, text, *known->semantic());
  }
}

std::string advice_for_unknown(std::string given, const po::options_description& known) {
  given.erase(0, given.find_first_not_of('-'));
  std::vector<std::string> names;
  for (const auto& option : known.options()) names.push_back("--" + option->long_name());
  const std::vector<std::string> nearest = near_names("--" + given, names, 1);
  return nearest.empty() ? "see --help" : did_you_mean(nearest);
}

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

bool is_on(const po::variables_map& flags, const std::string& name) {
  const std::string value = text_of(flags, name);
  if (value != "on" && value != "off")
    reject("--" + name, "'" + value + "' is unknown", "use on or off");
  return value == "on";
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

}  // namespace aoe::options
