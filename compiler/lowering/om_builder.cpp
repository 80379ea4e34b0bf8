// Assembles an om. Equal loop nests are compiled once; equal constants are stored once.
#include "compiler/lowering/om_builder.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "compiler/copy/flat_copy.h"
#include "compiler/loopnest/codegen.h"
#include "compiler/loopnest/index_buffers.h"
#include "compiler/lowering/placement.h"
#include "compiler/lowering/weights_section.h"
#include "compiler/roofline.h"
#include "runtime/backend.h"
#include "runtime/kernel_limits.h"
#include "runtime/om/om_bodies.h"

namespace aoe::compiler {
namespace {

using runtime::Om;
using runtime::OmStep;
using runtime::Place;

constexpr std::size_t kConstantAlignment = 64;

/// What a step keeps of a loop nest, of which equal ones are kept once: a model's nests all together are large.
struct Stage {
  std::string symbol;
  std::int64_t extent = 0, rounds = 1;
  std::uint64_t scratch_bytes = 0;
  std::vector<int> index_buffers;  ///< see loopnest/index_buffers.h
};

class OmBuilder {
 public:
  OmBuilder(const std::string& name, Lowered lowered, const CompileOptions& options)
      : lowered_(std::move(lowered)), options_(options) {
    om_.name = name;
    om_.soc_version = options.soc.version;
    om_.threads = options.soc.threads;
    const auto measured =
        options.strategies != nullptr ? options.strategies->roofs() : std::nullopt;
    om_.peak_gflops = measured ? measured->peak_gflops : peak_gflops(options.soc);
    om_.memory_gb_s = measured ? measured->memory_gb_s : memory_gb_s(options.soc);
    om_.has_measured_roofs = measured.has_value();
    om_.c0 = options.soc.vector_lanes();
  }

  BuiltOm run() {
    for (const LoweredStep& step : lowered_.steps) {
      check_cut_off(options_.is_cut_off);
      kernels_.push_back(build_kernel(step));
      stages_.push_back(without_copies(kernels_.back().stages));
    }
    runtime::FeatureSet needs;
    for (const Kernel& kernel : kernels_) needs.add(kernel.needs);
    om_.isa = runtime::isa_word(options_.soc.target->name(), needs);
    placement_ = place_tensors(lowered_, kernels_, options_.reuse_memory);
    for (const int s : placement_.run_by_reference) leave_to_reference(s);
    add_tensors();
    auto copy = placement_.copies.begin();
    for (std::size_t s = 0; s < kernels_.size(); ++s) {
      for (; copy != placement_.copies.end() && copy->step == static_cast<int>(s); ++copy)
        add_copy(*copy);
      add_step(s);
      // Constants live on in what packs them, and no longer than that.
      kernels_[s].constants.clear();
      lowered_.steps[s].task = {};
      lowered_.steps[s].bodies.clear();
    }
    for (LoweredTensor& tensor : lowered_.tensors) tensor.constant.reset();
    om_.inputs = lowered_.inputs;
    om_.outputs = lowered_.outputs;
    om_.arena_bytes = placement_.arena_bytes;
    std::erase_if(functions_, [&](const auto& f) { return !limits_.contains(f.name); });
    if (options_.on_kernel)
      for (const loopnest::Function& function : functions_) options_.on_kernel(function);
    std::vector<PackedConstant> left;
    if (options_.leaves_weights)
      left = leave_weights();
    else
      pack_weights();
    om_.code = loopnest::compile_shared_object(functions_, options_.soc, options_.compile_threads,
                                               options_.is_cut_off);
    if (!om_.code.empty()) om_.code = runtime::code_with_limits(std::move(om_.code), limits_);
    return {std::move(om_), std::move(sources_), std::move(left)};
  }

 private:
  void pack_weights() {
    om_.weights = weights_.pack(options_.compile_threads, options_.is_cut_off);
    for (const auto& [tensor, item] : weight_items_)
      om_.tensors[tensor].offset = weights_.offset(item);
  }

  std::vector<PackedConstant> leave_weights() {
    std::ranges::sort(weight_items_);  // by tensor
    std::vector<PackedConstant> left;
    for (const auto& [tensor, item] : weight_items_)
      if (runtime::is_lent(om_.tensors[tensor])) left.push_back(weights_.item(item));
    return left;
  }

  Kernel build_kernel(const LoweredStep& step) const {
    if (!step.bodies.empty()) return kernel_for("control");
    if (step.candidate.impl == nullptr) {
      Kernel view = kernel_for("none");
      view.sharing.offsets = {0};
      return view;
    }
    return step.candidate.impl->plan(step.task, step.candidate.format, options_.soc)
        ->build(step.candidate.schedule);
  }

  void add_tensors() {
    std::vector<bool> is_needed = constants_needed();
    for (std::size_t id = 0; id < placement_.places.size(); ++id) {
      const LoweredTensor& from = lowered_tensor(id);
      runtime::OmTensor tensor{from.name, from.desc, placement_.places[id], placement_.offsets[id],
                               from.memory};
      if (from.constant && is_needed[id]) {
        weight_items_.emplace_back(id, weights_.add(from.constant));
      } else if (from.constant) {
        // Packed by its kernels; nobody reads the original.
        tensor.desc.shape = {0};
      }
      om_.tensors.push_back(std::move(tensor));
    }
  }

  /// Those of copies follow those of the lowered model.
  const LoweredTensor& lowered_tensor(std::size_t id) const {
    const std::size_t count = lowered_.tensors.size();
    return id < count ? lowered_.tensors[id] : placement_.copy_targets[id - count];
  }

  /// Constants that a step or the caller reads as they are.
  std::vector<bool> constants_needed() const {
    std::vector<bool> is_needed(lowered_.tensors.size(), false);
    for (std::size_t s = 0; s < kernels_.size(); ++s)
      if (kernels_[s].backend->traits().reads_constants)
        for (const int id : lowered_.steps[s].inputs)
          if (id >= 0) is_needed[id] = true;
    for (const int id : lowered_.outputs) is_needed[id] = true;
    for (const Copy& copy : placement_.copies)
      if (copy.from < static_cast<int>(is_needed.size())) is_needed[copy.from] = true;
    return is_needed;
  }

  int add_tensor(std::string name, std::uint64_t size_bytes, Place place, std::uint64_t offset) {
    const TensorDesc desc{DataType::kUint8, {static_cast<std::int64_t>(size_bytes)}, Format::kND};
    om_.tensors.push_back({std::move(name), desc, place, offset});
    return static_cast<int>(om_.tensors.size()) - 1;
  }

  /// Nests that no other step has are not compiled.
  void leave_to_reference(int step) {
    kernels_[step] = kernel_for("reference");
    stages_[step].clear();
  }

  /// Takes the functions: those that are new are kept to be compiled.
  std::vector<Stage> without_copies(std::vector<loopnest::Function>& functions) {
    std::vector<Stage> stages;
    for (loopnest::Function& function : functions) {
      const std::string text = loopnest::to_text(function);
      // By content: what else the model has does not change a function's object code, which is found again then.
      const auto [at, is_new] = symbols_.try_emplace(text);
      if (is_new)
        at->second = {"k" + to_hex(hash128(text)), function.parallel_extent, function.rounds,
                      static_cast<std::uint64_t>(function.scratch_bytes),
                      loopnest::index_buffers(function)};
      stages.push_back(at->second);
      if (!is_new) continue;
      functions_.push_back(std::move(function));
      functions_.back().name = at->second.symbol;
    }
    functions.clear();
    return stages;
  }

  void add_stages(const std::vector<Stage>& stages, OmStep& step,
                  std::span<const PackedConstant> constants = {}) {
    for (const Stage& stage : stages) {
      step.stages.push_back({stage.symbol, stage.extent, stage.rounds});
      step.scratch_bytes = std::max(step.scratch_bytes, stage.scratch_bytes);

      runtime::KernelLimits& limits = limits_[stage.symbol];
      limits.extent = stage.rounds * stage.extent;
      limits.rounds = stage.rounds;
      limits.scratch_bytes = stage.scratch_bytes;
      runtime::BufferLimits use = buffer_limits(om_, step);
      add_tables(stage, step, constants, use);
      if (std::ranges::find(limits.uses, use) == limits.uses.end())
        limits.uses.push_back(std::move(use));
    }
  }

  /// Those of its buffers that are constants and say where it reads.
  static void add_tables(const Stage& stage, const OmStep& step,
                         std::span<const PackedConstant> constants, runtime::BufferLimits& use) {
    const auto first = std::ranges::count_if(step.inputs, [](int id) { return id >= 0; }) +
                       std::ssize(step.outputs);
    for (const int buffer : stage.index_buffers) {
      const auto constant = buffer - first;
      if (constant < 0 || constant >= std::ssize(constants)) continue;
      const PackedConstant& packed = constants[static_cast<std::size_t>(constant)];
      std::string bytes(packed.size_bytes + kConstantAlignment, '\0');
      void* place = bytes.data();
      std::size_t room = bytes.size();
      std::align(kConstantAlignment, packed.size_bytes, place, room);
      packed.pack(place);
      use.table_crc[buffer] = crc32c(place, packed.size_bytes);
    }
  }

  void add_copy(const Copy& copy) {
    const TensorDesc& desc = om_.tensors[copy.from].desc;
    OmStep step{.name = om_.tensors[copy.to].name,
                .op_types = {"TransData"},
                .backend = &runtime::backend("jit"),
                .inputs = {copy.from},
                .outputs = {copy.to}};
    step.call.type = "TransData";
    step.bytes = 2.0 * static_cast<double>(storage_bytes(desc));
    std::vector<loopnest::Function> copies = {flat_copy_function(storage_bytes(desc))};
    add_stages(without_copies(copies), step);
    om_.steps.push_back(std::move(step));
    sources_.push_back({.converted = lowered_tensor(copy.to).value});
  }

  void add_step(std::size_t s) {
    const LoweredStep& lowered = lowered_.steps[s];
    const Kernel& kernel = kernels_[s];
    OmStep step{.name = lowered.name,
                .op_types = reference::op_types(lowered.task.op),
                .origins = lowered.origins,
                .backend = kernel.backend,
                .call = lowered.task.op,
                .params = kernel.params,
                .outputs = lowered.outputs};
    const bool reads_constants = kernel.backend->traits().reads_constants;
    for (const int id : lowered.inputs)
      if (reads_constants || (id >= 0 && !lowered_.tensors[id].constant)) step.inputs.push_back(id);
    for (std::size_t c = 0; c < kernel.constants.size(); ++c)
      add_constant(lowered.name + ":constant" + std::to_string(c), kernel.constants[c].size_bytes,
                   kernel.constants[c].pack, step);
    if (!lowered.bodies.empty()) add_bodies(lowered, step);
    if (kernel.workspace_bytes > 0)
      step.workspace = add_tensor(lowered.name + ":workspace", kernel.workspace_bytes,
                                  Place::kArena, placement_.workspace_offsets[s]);
    if (lowered.task.is_static()) {
      step.flops = flops(lowered.task);
      step.bytes = bytes_moved(lowered.task);
    }
    add_stages(stages_[s], step, kernel.constants);
    om_.steps.push_back(std::move(step));
    sources_.push_back(lowered.source);
  }

  void add_constant(std::string name, std::size_t size_bytes, std::function<void(void*)> pack,
                    OmStep& step) {
    const int id = add_tensor(std::move(name), size_bytes, Place::kWeight, 0);
    weight_items_.emplace_back(id, weights_.add(size_bytes, std::move(pack)));
    step.constants.push_back(id);
  }

  /// Behind the bodies stand their weights (runtime/om/om_bodies.h).
  void add_bodies(const LoweredStep& lowered, OmStep& step) {
    step.call.attrs.set("bodies", std::ssize(lowered.bodies));
    const auto name_of = [&](std::size_t b) { return lowered.name + ":body" + std::to_string(b); };
    for (std::size_t b = 0; b < lowered.bodies.size(); ++b) {
      const auto file =
          std::make_shared<const std::string>(runtime::file_without_weights(lowered.bodies[b].om));
      add_constant(
          name_of(b), file->size(),
          [file](void* to) { std::memcpy(to, file->data(), file->size()); }, step);
    }
    for (std::size_t b = 0; b < lowered.bodies.size(); ++b) {
      const Compilation& body = lowered.bodies[b];
      auto weight = body.weights.begin();
      for (const runtime::OmTensor& tensor : body.om.tensors) {
        if (!runtime::is_lent(tensor)) continue;
        AOE_CHECK(weight != body.weights.end(), "what packs each weight of a body");
        add_constant(name_of(b) + ":" + tensor.name, weight->size_bytes, weight->pack, step);
        ++weight;
      }
      AOE_CHECK(weight == body.weights.end(), "a weight for each tensor of a body");
    }
  }

  Lowered lowered_;
  const CompileOptions& options_;
  std::vector<Kernel> kernels_;             ///< by step, without their stages
  std::vector<std::vector<Stage>> stages_;  ///< by step
  Placement placement_;
  WeightsSection weights_;
  std::vector<std::pair<std::size_t, std::size_t>> weight_items_;  ///< tensor id, item
  std::vector<loopnest::Function> functions_;
  std::map<std::string, Stage> symbols_;  ///< by the text of a loop nest
  runtime::LimitsBySymbol limits_;
  Om om_;
  std::vector<StepSource> sources_;  ///< by step of the om
};

}  // namespace

BuiltOm build_om(const std::string& name, Lowered lowered, const CompileOptions& options) {
  return OmBuilder(name, std::move(lowered), options).run();
}

}  // namespace aoe::compiler
