// Reading acl.json's profiler object: one table row for each key of each generation.
#include "profiler/collect/acl_config.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/log.h"
#include "profiler/collect/metric_groups.h"

namespace aoe::profiler {
namespace {

using nlohmann::json;

[[noreturn]] void reject(const std::string& key, const std::string& what) {
  throw Error(ExitCode::kUsage, what, "profiler." + key);
}

bool on_or_off(const std::string& key, const std::string& text) {
  if (text != "on" && text != "off") reject(key, "'" + text + "' is neither on nor off");
  return text == "on";
}

int number_in(const std::string& key, const std::string& text, int least, int most) {
  int number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || stop != text.data() + text.size() || number < least || number > most)
    reject(key, "'" + text + "' is no number from " + std::to_string(least) + " to " +
                    std::to_string(most));
  return number;
}

TaskTime task_time_of(const std::string& key, const std::string& text) {
  if (text == "off") return TaskTime::kOff;
  if (text == "l0") return TaskTime::kL0;
  if (text == "on" || text == "l1" || text == "l2" || text == "l3") return TaskTime::kL1;
  reject(key, "'" + text + "' is none of on, off, l0, l1, l2, l3");
}

std::string metrics_of(const std::string& key, const std::string& text) {
  const std::string flaw = flaw_of_metrics(text);
  if (!flaw.empty()) reject(key, flaw);
  return text;
}

using Apply = void (*)(CollectOptions&, const std::string& key, const std::string& value);

/// Checked, and without effect: this hardware has nothing of the kind.
void switch_without_effect(CollectOptions&, const std::string& key, const std::string& value) {
  if (on_or_off(key, value))
    logger("profiler")->warn("profiler.{} has no effect: this processor has nothing of it", key);
}
template <int kLeast, int kMost>
void frequency_without_effect(CollectOptions&, const std::string& key, const std::string& value) {
  number_in(key, value, kLeast, kMost);
  logger("profiler")->warn("profiler.{} has no effect: this processor has nothing of it", key);
}
void text_without_effect(CollectOptions&, const std::string& key, const std::string&) {
  logger("profiler")->warn("profiler.{} has no effect: this processor has nothing of it", key);
}

void warn_of_words(const std::string& key, const std::string& words) {
  if (!words.empty()) logger("profiler")->warn("profiler.{}: {} is not collected here", key, words);
}

void apply_switch(CollectOptions&, const std::string&, const std::string&) {
}
void apply_output(CollectOptions& options, const std::string& key, const std::string& value) {
  if (value.empty()) reject(key, "is empty");
  check_path_characters(value, "profiler." + key);
  options.output = value;
}
void apply_acl_api(CollectOptions& options, const std::string& key, const std::string& value) {
  options.acl_api = on_or_off(key, value);
}
void apply_aicpu(CollectOptions& options, const std::string& key, const std::string& value) {
  options.aicpu = on_or_off(key, value);
}

struct Key {
  const char* name;
  Apply apply;
};

constexpr Key kCurrentKeys[] = {
    {"switch", apply_switch},
    {"output", apply_output},
    {"storage_limit",
     [](CollectOptions& o, const std::string& key, const std::string& value) {
       o.storage_limit_bytes = storage_limit_from(value, "profiler." + key);
     }},
    {"aic_metrics", [](CollectOptions& o, const std::string& key,
                       const std::string& value) { o.aic_metrics = metrics_of(key, value); }},
    {"aicpu", apply_aicpu},
    {"task_time", [](CollectOptions& o, const std::string& key,
                     const std::string& value) { o.task_time = task_time_of(key, value); }},
    {"ascendcl", apply_acl_api},
    {"runtime_api", [](CollectOptions& o, const std::string& key,
                       const std::string& value) { o.runtime_api = on_or_off(key, value); }},
    {"task_memory", [](CollectOptions& o, const std::string& key,
                       const std::string& value) { o.task_memory = on_or_off(key, value); }},
    {"host_sys",
     [](CollectOptions& o, const std::string& key, const std::string& value) {
       warn_of_words(key, apply_host_sys(value, o.system));
     }},
    {"host_sys_usage",
     [](CollectOptions& o, const std::string& key, const std::string& value) {
       warn_of_words(key, apply_host_sys_usage(value, o.system));
     }},
    {"host_sys_usage_freq",
     [](CollectOptions& o, const std::string& key, const std::string& value) {
       o.system.frequency_hz = number_in(key, value, 1, 50);
     }},
    {"sys_cpu_freq",
     [](CollectOptions& o, const std::string& key, const std::string& value) {
       o.system.system_cpu = true;
       o.system.frequency_hz = number_in(key, value, 1, 50);
     }},
    {"l2", switch_without_effect},
    {"hccl", switch_without_effect},
    {"ge_api",
     [](CollectOptions& o, const std::string& key, const std::string& value) {
       if (value != "l0" && value != "l1")
         switch_without_effect(o, key, value);
       else
         text_without_effect(o, key, value);
     }},
    {"msproftx", switch_without_effect},
    {"task_tsfw", switch_without_effect},
    {"sys_hardware_mem_freq", frequency_without_effect<1, 100>},
    {"sys_io_sampling_freq", frequency_without_effect<1, 100>},
    {"sys_interconnection_freq", frequency_without_effect<1, 50>},
    {"dvpp_freq", frequency_without_effect<1, 100>},
    {"sys_lp_freq", frequency_without_effect<1, 100>},
    {"instr_profiling_freq", frequency_without_effect<300, 30000>},
    {"instr_profiling", text_without_effect},
    {"llc_profiling", text_without_effect},
    {"sys_mem_serviceflow", text_without_effect},
    {"optype", text_without_effect},
};

constexpr Key kSs928Keys[] = {
    {"switch", apply_switch},
    {"output", apply_output},
    {"aacpu", apply_aicpu},
    {"aac_metrics",
     [](CollectOptions& o, const std::string&, const std::string& value) {
       // "other = none" is the tool's rule.
       o.aic_metrics = value == "ArithmeticUtilization" ? value : std::string();
     }},
    {"acl_api", apply_acl_api},
    {"interval",
     [](CollectOptions& o, const std::string& key, const std::string& value) {
       o.interval = number_in(key, value, 0, 1'000'000'000);
     }},
};

const Key* find_key(std::span<const Key> keys, const std::string& name) {
  for (const Key& key : keys)
    if (name == key.name) return &key;
  return nullptr;
}

std::string text_of(const std::string& key, const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  reject(key, "is neither a string nor a number");
}

bool has_key_of_ss928_alone(const json& profiler) {
  for (const Key& key : kSs928Keys)
    if (profiler.contains(key.name) && find_key(kCurrentKeys, key.name) == nullptr) return true;
  return false;
}

/// Applies `use` to each word of a list; the words it refuses come back.
template <typename Use>
std::string for_each_word(const std::string& words, const char* where, Use&& use) {
  std::string refused;
  std::istringstream list(words);
  for (std::string word; std::getline(list, word, ',');) {
    if (use(word)) continue;
    if (word != "disk" && word != "network" && word != "osrt" && word != "numa")
      throw Error(ExitCode::kUsage, "'" + word + "' is no kind of system data", where,
                  "use cpu and mem");
    refused += (refused.empty() ? "" : ",") + word;
  }
  return refused;
}

}  // namespace

std::string apply_host_sys(const std::string& words, SystemSampling& system) {
  return for_each_word(words, "host_sys", [&](const std::string& word) {
    if (word == "cpu") system.process_cpu = true;
    if (word == "mem") system.process_memory = true;
    return word == "cpu" || word == "mem";
  });
}

std::string apply_host_sys_usage(const std::string& words, SystemSampling& system) {
  return for_each_word(words, "host_sys_usage", [&](const std::string& word) {
    if (word == "cpu") system.process_cpu = system.system_cpu = true;
    if (word == "mem") system.process_memory = system.system_memory = true;
    return word == "cpu" || word == "mem";
  });
}

void check_path_characters(const std::string& path, const std::string& where) {
  constexpr std::string_view kForbidden = "\n\f\r\b\t\v\x7f\"'\\%><|&$;`";
  const std::size_t at = path.find_first_of(kForbidden);
  if (at != std::string::npos)
    throw Error(ExitCode::kUsage,
                "the path has a character that is not allowed, at position " + std::to_string(at),
                where, "do without quotes, backslashes, control characters and % > < | & $ ; `");
}

std::optional<CollectOptions> options_from_acl_json(const json& profiler,
                                                    const std::filesystem::path& default_output) {
  if (!profiler.is_object()) throw Error(ExitCode::kUsage, "is no object", "profiler");
  if (!profiler.contains("switch") || text_of("switch", profiler["switch"]) != "on")
    return std::nullopt;
  const bool is_ss928 = has_key_of_ss928_alone(profiler);
  CollectOptions options{.generation = is_ss928 ? Generation::kJob : Generation::kProf,
                         .output = default_output,
                         .runtime_api = !is_ss928,
                         .aicpu = is_ss928,
                         .aic_metrics = is_ss928 ? "" : "PipeUtilization"};
  const std::span<const Key> keys =
      is_ss928 ? std::span<const Key>(kSs928Keys) : std::span<const Key>(kCurrentKeys);
  for (const auto& [name, value] : profiler.items()) {
    const Key* const key = find_key(keys, name);
    if (key == nullptr && is_ss928 && find_key(kCurrentKeys, name) != nullptr)
      reject(name, "is a key of the current generation, beside keys of SS928");
    if (key == nullptr) reject(name, "is no key of the profiler object");
    key->apply(options, name, text_of(name, value));
  }
  std::error_code ignored;
  if (is_ss928 && !std::filesystem::is_directory(options.output, ignored))
    throw Error(ExitCode::kUsage, options.output.string() + " is no directory", "profiler.output",
                "make it first");
  return options;
}

}  // namespace aoe::profiler
