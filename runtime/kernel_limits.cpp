// Limits behind the code: CBOR, its size in 8 bytes, a word. Tested by tests/runtime/om_verify_test.cpp.
#include "runtime/kernel_limits.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "base/nesting.h"
#include "runtime/step_buffers.h"

namespace aoe::runtime {
namespace {

using nlohmann::json;

constexpr std::string_view kWord = "AOELIMIT";

json to_json(const BufferLimits& use) {
  return {{"bytes", use.bytes}, {"written", use.written}, {"tables", use.table_crc}};
}

BufferLimits use_from_json(const json& j) {
  BufferLimits use;
  j.at("bytes").get_to(use.bytes);
  j.at("written").get_to(use.written);
  j.at("tables").get_to(use.table_crc);
  return use;
}

LimitsBySymbol limits_from_cbor(std::string_view bytes) {
  if (!nests_little_cbor(bytes))
    throw Error(ExitCode::kOm, "the limits in the code section nest too deeply");
  try {
    LimitsBySymbol limits;
    const json all = parse_cbor(bytes);
    for (const auto& [symbol, j] : all.items()) {
      KernelLimits& kernel = limits[symbol];
      j.at("extent").get_to(kernel.extent);
      kernel.rounds = j.value("rounds", std::int64_t{1});
      if (kernel.rounds < 1)
        throw Error(ExitCode::kOm, "the limits of '" + symbol + "' have no rounds");
      j.at("scratch").get_to(kernel.scratch_bytes);
      for (const json& use : j.at("uses")) kernel.uses.push_back(use_from_json(use));
    }
    return limits;
  } catch (const json::exception& e) {
    throw Error(ExitCode::kOm,
                std::string("the limits in the code section are malformed: ") + e.what());
  }
}

/// Whether the step's buffers are those of this use.
class Fit {
 public:
  Fit(const Om& om, const OmStep& step) : om_(om), ids_(buffer_tensors(step)) {
    for (const int id : step.outputs) writes_.push_back(id);
    if (step.workspace >= 0) writes_.push_back(step.workspace);
  }

  std::size_t buffers() const { return ids_.size(); }

  bool fits(const BufferLimits& use) const {
    if (use.bytes.size() != ids_.size()) return false;
    for (std::size_t i = 0; i < ids_.size(); ++i)
      if (use.bytes[i] > bytes(ids_[i])) return false;
    const auto is_writable = [&](int buffer) {
      return buffer >= 0 && buffer < std::ssize(ids_) &&
             std::ranges::count(writes_, ids_[static_cast<std::size_t>(buffer)]) > 0;
    };
    return std::ranges::all_of(use.written, is_writable) &&
           std::ranges::all_of(use.table_crc, [&](const auto& table) { return is_table(table); });
  }

 private:
  std::uint64_t bytes(int id) const { return id < 0 ? 0 : storage_bytes(om_.tensors[id].desc); }

  bool is_table(const std::pair<const int, std::uint32_t>& table) const {
    if (table.first < 0 || table.first >= std::ssize(ids_)) return false;
    const int id = ids_[static_cast<std::size_t>(table.first)];
    if (id < 0 || om_.tensors[id].place != Place::kWeight) return false;
    return crc32c(om_.weights_view.data() + om_.tensors[id].offset, bytes(id)) == table.second;
  }

  const Om& om_;
  std::vector<int> ids_, writes_;
};

}  // namespace

BufferLimits buffer_limits(const Om& om, const OmStep& step) {
  BufferLimits limits;
  const std::vector<int> ids = buffer_tensors(step);
  for (const std::size_t bytes : StepBuffers::bytes_of(om, step)) limits.bytes.push_back(bytes);
  const auto inputs = std::ranges::count_if(step.inputs, [](int id) { return id >= 0; });
  for (int i = 0; i < std::ssize(ids); ++i) {
    const bool is_output = i >= inputs && i < inputs + std::ssize(step.outputs);
    const bool is_workspace = step.workspace >= 0 && i + 1 == std::ssize(ids);
    if (ids[static_cast<std::size_t>(i)] >= 0 && (is_output || is_workspace))
      limits.written.push_back(i);
  }
  return limits;
}

std::string code_with_limits(std::string elf, const LimitsBySymbol& limits) {
  json all = json::object();
  for (const auto& [symbol, kernel] : limits) {
    json uses = json::array();
    for (const BufferLimits& use : kernel.uses) uses.push_back(to_json(use));
    all[symbol] = {
        {"extent", kernel.extent}, {"scratch", kernel.scratch_bytes}, {"uses", std::move(uses)}};
    if (kernel.rounds != 1) all[symbol]["rounds"] = kernel.rounds;
  }
  const std::string bytes = cbor_bytes(all);
  const std::uint64_t size = bytes.size();
  elf += bytes;
  elf.append(reinterpret_cast<const char*>(&size), sizeof size);
  return elf.append(kWord);
}

std::optional<LimitsBySymbol> limits_of(std::string_view code) {
  std::uint64_t size = 0;
  if (!code.ends_with(kWord) || code.size() < kWord.size() + sizeof size) return std::nullopt;
  code.remove_suffix(kWord.size());
  std::memcpy(&size, code.data() + code.size() - sizeof size, sizeof size);
  code.remove_suffix(sizeof size);
  if (size > code.size())
    throw Error(ExitCode::kOm, "the limits in the code section are larger than it");
  return limits_from_cbor(code.substr(code.size() - size));
}

std::string beyond_limits(const Om& om, const OmStep& step, const LimitsBySymbol& limits) {
  const Fit fit(om, step);
  for (const OmStage& stage : step.stages) {
    const auto found = limits.find(stage.symbol);
    if (found == limits.end()) return "runs '" + stage.symbol + "', which its code does not have";
    const KernelLimits& kernel = found->second;
    const std::string name = "runs '" + stage.symbol + "'";
    if (stage.rounds != kernel.rounds)
      return name + " in " + std::to_string(stage.rounds) + " rounds, it has " +
             std::to_string(kernel.rounds);
    if (const std::int64_t extent = kernel.extent / kernel.rounds; stage.extent != extent)
      return name + " for " + std::to_string(stage.extent) + " iterations, it has " +
             std::to_string(extent);
    if (step.scratch_bytes < kernel.scratch_bytes)
      return name + " with " + std::to_string(step.scratch_bytes) + " bytes of scratch, it needs " +
             std::to_string(kernel.scratch_bytes);
    const auto fits = [&](const BufferLimits& use) { return fit.fits(use); };
    if (std::ranges::none_of(kernel.uses, fits))
      return name + " on " + std::to_string(fit.buffers()) +
             " buffers that it was not generated for";
  }
  return {};
}

}  // namespace aoe::runtime
