// Building the parameters of oneDNN primitives; post-ops stand in onednn_epilogue.cpp.
#include "compiler/onednn/onednn_params.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/ceil_div.h"
#include "base/check.h"
#include "compiler/roofline.h"
#include "runtime/aligned_memory.h"
#include "runtime/isa.h"

namespace aoe::compiler {
namespace {

using nlohmann::json;

constexpr double kPrimitiveCallNs = 1500;  ///< oneDNN's own way from execute() to the kernel
constexpr std::size_t kAlignmentBytes = 64;

std::size_t aligned(std::size_t bytes) {
  return round_up(bytes, kAlignmentBytes);
}

/// Where an argument lies, as runtime/onednn/onednn_primitive.h writes it.
json place(std::size_t buffer, std::size_t offset_bytes) {
  return offset_bytes == 0 ? json(buffer) : json{buffer, offset_bytes};
}

/// oneDNN calls its recurrent primitives "ref" where they are built of its fast matrix products and generated cells.
bool is_slow(const json& stage, const std::string& implementation) {
  constexpr const char* kRecurrent[] = {"lstm", "gru", "lbr_gru", "vanilla_rnn"};
  return implementation.starts_with("ref") &&
         std::ranges::find(kRecurrent, stage.at("primitive").get<std::string>()) ==
             std::end(kRecurrent);
}

/// Every member of its team is waited for, and of many cores one is needed elsewhere now and then, for 4 ms and more: on 16 of them steps
/// of 0.06 and 0.9 ms took 20 and 36 (docs/measurements.md).
double late_member_ns(const Soc& soc) {
  constexpr int kRareBelow = 3;
  constexpr double kNsPerMember = 20'000;
  return kNsPerMember * std::max(0, soc.threads - kRareBelow);
}

}  // namespace

json onednn_tensor(const TensorDesc& desc, Format format, const Soc& soc) {
  json j = onednn_dense(desc.shape);
  if (format == Format::kNC1HWC0) j["tag"] = "aBcd" + std::to_string(soc.vector_lanes()) + "b";
  if (format == Format::kNHWC) j["tag"] = "acdb";
  return j;
}

json onednn_dense(const Shape& dims) {
  constexpr const char* kDense[] = {"a", "a", "ab", "abc", "abcd", "abcde"};
  AOE_CHECK(dims.size() <= 5, "oneDNN tensors have at most 5 dimensions here");
  return {{"dims", dims.empty() ? Shape{1} : dims}, {"dtype", "f32"}, {"tag", kDense[dims.size()]}};
}

json onednn_strided(const Shape& dims, const Shape& strides) {
  return {{"dims", dims}, {"dtype", "f32"}, {"strides", strides}};
}

Result<void> supports_onednn(const Task& task, const Soc& soc, std::size_t most_outputs) {
  const std::string isa(soc.target->name());
  if (!runtime::best_host_isa().starts_with(isa))
    return Unexpected("code for " + isa +
                      " is wanted, oneDNN picks for this machine: " + runtime::best_host_isa());
  if (task.outputs.size() > most_outputs)
    return Unexpected(std::to_string(task.outputs.size()) + " outputs, at most " +
                      std::to_string(most_outputs));
  const auto check = [](const TensorDesc& desc) -> Result<void> {
    if (desc.dtype != DataType::kFloat) return Unexpected(to_string(desc) + ", needs float32");
    if (desc.shape.size() > 5) return Unexpected(to_string(desc) + ", at most 5 dimensions");
    return {};
  };
  for (const TaskInput& input : task.inputs)
    if (input.is_present() && !input.constant)
      if (Result<void> checked = check(input.desc); !checked) return checked;
  for (const TensorDesc& output : task.outputs)
    if (output.dtype != DataType::kUndefined)
      if (Result<void> checked = check(output); !checked) return checked;
  return {};
}

OneDnnDraft::OneDnnDraft(const Task& task, FormatChoice format, const Soc& soc,
                         const std::string& primitive)
    : task_(task), format_(std::move(format)), soc_(soc) {
  stages_.push_back({.params = {{"primitive", primitive}}});
}

std::size_t OneDnnDraft::buffer_of_input(std::size_t i) const {
  return static_cast<std::size_t>(
      std::count_if(task_.inputs.begin(), task_.inputs.begin() + static_cast<std::ptrdiff_t>(i),
                    [](const TaskInput& each) { return each.is_present() && !each.constant; }));
}

void OneDnnDraft::input(const std::string& argument, std::size_t i, json desc,
                        std::size_t offset_bytes) {
  AOE_CHECK(!task_.inputs[i].constant, "constants are packed");
  if (desc.is_null()) desc = onednn_tensor(task_.in(i), format_.inputs[i], soc_);
  stage().params[argument] = std::move(desc);
  stage().args[argument] = place(buffer_of_input(i), offset_bytes);
}

void OneDnnDraft::output(const std::string& argument, std::size_t o, json desc,
                         std::size_t offset_bytes) {
  if (desc.is_null()) desc = onednn_tensor(task_.out(o), format_.outputs[o], soc_);
  if (argument == "dst") stage().output = desc.at("dims").get<Shape>();
  stage().params[argument] = std::move(desc);
  stage().args[argument] = place(buffer_of_input(task_.inputs.size()) + o, offset_bytes);
}

void OneDnnDraft::constant(const std::string& argument, PackedConstant packed) {
  stage().constants[argument] = std::move(packed);
}

PackedConstant OneDnnDraft::packed_input(std::size_t i, float factor) const {
  const ConstantPtr value = task_.inputs[i].constant;
  return {value->size_bytes(), [value, factor](void* destination) {
            const auto* from = value->view().as<float>();
            auto* to = static_cast<float*>(destination);
            std::transform(from, from + element_count(value->desc().shape), to,
                           [factor](float x) { return factor * x; });
          }};
}

void OneDnnDraft::plain_constant(const std::string& argument, std::size_t i, float factor) {
  constant(argument, packed_input(i, factor));
}

void OneDnnDraft::any_input(const std::string& argument, std::size_t i, const json& desc) {
  if (!task_.inputs[i].constant) return input(argument, i, desc);
  params()[argument] = desc;
  plain_constant(argument, i);
}

void OneDnnDraft::weights(const std::string& argument, const Shape& dims, const json& source,
                          PackedConstant packed) {
  params()[argument] = {{"dims", dims}, {"dtype", "f32"}, {"tag", "any"}};
  stage().weights[argument] = {source, std::move(packed)};
}

void OneDnnDraft::computed_weights(const std::string& argument, std::size_t i, const json& plain,
                                   const runtime::OneDnnLayout& layout) {
  if (layout.desc.is_null()) return input(argument, i, plain);
  const json params = this->params();
  stages_.front() = {.params = {{"primitive", "reorder"}}};
  input("src", i, plain);
  this->params()["dst"] = layout.desc;
  stage().temporaries["dst"] = layout.size_bytes;
  then(params.at("primitive"), argument);
  this->params().update(params);
}

void OneDnnDraft::temporary(const std::string& argument, const json& desc, std::size_t bytes) {
  params()[argument] = desc;
  stage().temporaries[argument] =
      bytes != 0
          ? bytes
          : sizeof(float) * static_cast<std::size_t>(element_count(desc.at("dims").get<Shape>()));
}

void OneDnnDraft::then(const std::string& primitive, const std::string& argument) {
  const Stage& before = stages_.back();
  Stage next{.params = {{"primitive", primitive}, {argument, before.params.at("dst")}}};
  if (before.args.contains("dst")) next.args[argument] = before.args.at("dst");
  const auto kept = before.temporaries.find("dst");
  if (kept != before.temporaries.end()) {
    next.temporaries[argument] = kept->second;
    next.handed = argument;
  }
  stages_.push_back(std::move(next));
}

void OneDnnDraft::also(const std::string& primitive) {
  stages_.push_back({.params = {{"primitive", primitive}}});
}

Result<std::vector<runtime::OneDnnChoice>> OneDnnDraft::probe() const {
  std::vector<runtime::OneDnnChoice> choices;
  for (const Stage& each : stages_) {
    Result<runtime::OneDnnChoice> choice = runtime::probe(each.params, soc_.threads);
    if (!choice) return Unexpected(choice.error());
    if (is_slow(each.params, choice->implementation))
      return Unexpected("oneDNN has only reference code for it (" + choice->implementation + ")");
    choices.push_back(std::move(*choice));
  }
  return choices;
}

/// What is handed on stays where it lies, and a stage's own temporaries lie behind it; behind those of the stage that reaches
/// furthest lies the scratchpad of whichever stage runs.
void OneDnnDraft::place_workspace(const std::vector<runtime::OneDnnChoice>& choices,
                                  Kernel& kernel) {
  const std::size_t buffer =
      buffer_of_input(task_.inputs.size()) + task_.outputs.size() + kernel.constants.size();
  std::size_t temporary_bytes = 0, scratchpad_bytes = 0;
  std::size_t handed_at = 0;
  for (Stage& each : stages_) {
    std::size_t offset_bytes = 0;
    if (!each.handed.empty()) {
      each.args[each.handed] = place(buffer, handed_at);
      offset_bytes = handed_at + aligned(each.temporaries.at(each.handed));
    }
    for (const auto& [argument, bytes] : each.temporaries) {
      if (argument == each.handed) continue;
      each.args[argument] = place(buffer, offset_bytes);
      if (argument == "dst") handed_at = offset_bytes;
      offset_bytes += aligned(bytes);
    }
    temporary_bytes = std::max(temporary_bytes, offset_bytes);
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (choices[i].scratchpad_bytes == 0) continue;
    stages_[i].args["scratchpad"] = {buffer, temporary_bytes};
    scratchpad_bytes = std::max(scratchpad_bytes, choices[i].scratchpad_bytes);
  }
  kernel.workspace_bytes = temporary_bytes + scratchpad_bytes;
}

PackedConstant OneDnnDraft::repacked(const Weights& weights, const runtime::OneDnnLayout& layout) {
  return {layout.size_bytes, [weights, to = layout.desc](void* destination) {
            const runtime::AlignedMemory plain(weights.packed.size_bytes);
            weights.packed.pack(plain.data());
            runtime::repack(weights.source, plain.data(), to, destination);
          }};
}

Kernel OneDnnDraft::finish() {
  const Result<std::vector<runtime::OneDnnChoice>> choices = probe();
  AOE_CHECK(choices.has_value(), "finish() of a draft that oneDNN refuses");
  Kernel kernel = kernel_for("onednn");
  const std::size_t first_constant = buffer_of_input(task_.inputs.size()) + task_.outputs.size();
  const auto add_constant = [&](Stage& stage, const std::string& argument, PackedConstant packed) {
    stage.args[argument] = first_constant + kernel.constants.size();
    kernel.constants.push_back(std::move(packed));
  };
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& each = stages_[i];
    for (auto& [argument, packed] : each.constants) add_constant(each, argument, std::move(packed));
    for (const auto& [argument, weights] : each.weights) {
      const runtime::OneDnnLayout& layout = (*choices)[i].weights.at(argument);
      const bool has_name = !layout.desc.is_null();
      each.params["stored"][argument] = has_name ? layout.desc : weights.source;
      add_constant(each, argument, has_name ? repacked(weights, layout) : weights.packed);
    }
  }
  place_workspace(*choices, kernel);
  json stages = json::array();
  for (Stage& each : stages_) {
    each.params["args"] = std::move(each.args);
    stages.push_back(std::move(each.params));
  }
  kernel.params = {{"stages", std::move(stages)}};
  kernel.overwrites_input = residual_;
  if (residual_ >= 0)
    kernel.params["residual"] = buffer_of_input(static_cast<std::size_t>(residual_));
  return kernel;
}

double onednn_launch_ns(const Soc& soc) {
  return launch_ns(soc) + kPrimitiveCallNs + late_member_ns(soc);
}

double onednn_estimate_ns(const Task& task, const Soc& soc, double flops, double efficiency) {
  return onednn_launch_ns(soc) +
         std::max(compute_ns(soc, flops, efficiency), memory_ns(soc, bytes_moved(task)));
}

}  // namespace aoe::compiler
