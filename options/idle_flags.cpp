// The table of aoe and atc, and how such tables are read.
#include "options/idle_flags.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/to_number.h"
#include "options/flags.h"

namespace aoe::options {
namespace {

constexpr IdleFlag kOfBoth[] = {
    {"weight,w", "FILE", "", "belongs to Caffe models; export the model to ONNX", true},
    {"op_name_map", "FILE", "", "extended operators are of Caffe"},
    {"enable_scope_fusion_passes", "TEXT", "", "scopes are of TensorFlow"},
    {"host_env_os", "TEXT", "linux", "oms run on Linux; use linux", true},
    {"host_env_cpu", "TEXT", "x86_64",
     "code is generated for x86-64; use x86_64, and --soc_version for the core", true},
    {"virtual_type", "0|1", "0", "a CPU is not cut into virtual devices; --aicore_num cuts"},
    {"core_type", "AiCore|VectorCore", "AiCore", "a CPU has one kind of core"},
    {"enable_single_stream", "true|false", "true|false", ""},
    {"enable_small_channel", "0|1", "0", "layers of few channels have Impls of their own anyway"},
    {"enable_compress_weight", "true|false", "false", "weights are stored as kernels read them"},
    {"compress_weight_conf", "FILE", "", "weights are stored as kernels read them"},
    {"compression_optimize_conf", "FILE", "", "models are quantised before, by aoe_quantize", true},
    {"sparsity", "0|1", "0", "CPUs have no products of structured sparse matrices"},
    {"is_input_adjust_hw_layout", "true|false", "false",
     "programs give and get dense tensors; for float16 use --input_fp16_nodes", true},
    {"is_output_adjust_hw_layout", "true|false", "false",
     "programs give and get dense tensors; for float16 use --output_type=FP16", true},
};

bool is_number_in(const std::string& value, std::string_view range) {
  const std::size_t dots = range.find("..");
  const auto least = to_number<int>(range.substr(0, dots));
  const auto most = to_number<int>(range.substr(dots + 2));
  const auto given = to_number<int>(value);
  return least && most && given && *given >= *least && *given <= *most;
}

bool matches(const std::string& value, const std::string& values) {
  if (values == "TEXT") return !value.empty();
  if (values == "FILE") return std::filesystem::is_regular_file(value);
  if (values.find("..") != std::string::npos) return is_number_in(value, values);
  std::istringstream words(values);
  for (std::string word; std::getline(words, word, '|');)
    if (word == value) return true;
  return false;
}

std::string meaning(const IdleFlag& flag) {
  const std::string reason = flag.reason;
  if (reason.empty()) return "accepted: it is so anyway";
  return (flag.is_refused ? "known, but refused: " : "accepted, without effect: ") + reason;
}

/// Without its letter.
std::string long_name(const IdleFlag& flag) {
  const std::string name = flag.name;
  return name.substr(0, name.find(','));
}

/// A switch is given by its name alone.
bool is_switch(const IdleFlag& flag) {
  return *flag.values == '\0';
}

void check_switch(const IdleFlag& flag, bool is_on) {
  const std::string name = "--" + long_name(flag);
  if (!is_on) return;
  if (flag.is_refused) reject(name, "is not for a CPU", flag.reason);
  logger("flags")->warn("{} has no effect: {}", name, flag.reason);
}

void check(const IdleFlag& flag, const std::string& value) {
  const std::string name = "--" + long_name(flag);
  if (!matches(value, flag.values)) {
    const bool is_file = std::string_view(flag.values) == "FILE";
    reject(name, "'" + value + "' is no " + (is_file ? "file" : "value of it"),
           is_file ? "" : "use " + std::string(flag.values));
  }
  if (matches(value, flag.silent)) return;
  if (flag.is_refused) reject(name, "'" + value + "' is not for a CPU", flag.reason);
  logger("flags")->warn("{}={} has no effect: {}", name, value, flag.reason);
}

}  // namespace

const std::span<const IdleFlag> kIdleFlags = kOfBoth;

void add_idle_flags(po::options_description& flags, std::span<const IdleFlag> known) {
  for (const IdleFlag& flag : known) {
    if (is_switch(flag))
      flags.add_options()(flag.name, po::bool_switch(), meaning(flag).c_str());
    else
      flags.add_options()(flag.name, text(flag.values), meaning(flag).c_str());
  }
}

void check_idle_flags(const po::variables_map& flags, std::span<const IdleFlag> known) {
  for (const IdleFlag& flag : known) {
    if (is_switch(flag))
      check_switch(flag, flags[long_name(flag)].as<bool>());
    else if (flags.contains(long_name(flag)))
      check(flag, flags[long_name(flag)].as<std::string>());
  }
}

}  // namespace aoe::options
