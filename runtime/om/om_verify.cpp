// The checks on a graph section that parsed. What passes cannot make the executor leave its buffers: tensors lie inside what
// holds them, each backend has looked at its steps, and values flow in order. The code section is believed: it says itself
// what it may touch (kernel_limits.h). Tested by tests/runtime/om_verify_test.cpp.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "runtime/backend.h"
#include "runtime/isa.h"
#include "runtime/om/om_flow.h"
#include "runtime/om/om_graph.h"

namespace aoe::runtime {
namespace {

constexpr int kMostThreads = 1 << 16;
/// Per thread; kernels keep theirs in a cache.
constexpr std::uint64_t kMostScratchBytes = std::uint64_t{1} << 32;

class Verifier {
 public:
  Verifier(const Om& om, const std::string& where, LoadBudget& budget)
      : om_(om), where_(where), budget_(budget) {}

  void run() {
    if (find_isa(om_.isa) == nullptr) fail("needs the unknown instruction set '" + om_.isa + "'");
    if (om_.threads < 1 || om_.threads > kMostThreads)
      fail("was compiled for " + std::to_string(om_.threads) + " threads");
    for (const std::optional<double>& peak : {om_.peak_gflops, om_.memory_gb_s})
      if (peak && !(std::isfinite(*peak) && *peak > 0))
        fail("states a peak of " + std::to_string(*peak) + " for its machine");
    for (std::size_t i = 0; i < om_.tensors.size(); ++i) check_tensor(i);
    check_interface(om_.inputs, "input");
    check_interface(om_.outputs, "output");
    for (const int id : om_.inputs)
      if (om_.tensors[id].place != Place::kInput) fail(text(id) + " is a model input elsewhere");
    check_arena();
    for (const OmStep& step : om_.steps) check_step(step);
    for (const auto& backend : backends().all()) check_with(*backend);
    if (const auto fault = flow_fault(om_)) fail(*fault);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::kOm, "the graph section is inconsistent: " + what, where_,
                "compile the model again with atc");
  }

  std::string text(std::size_t id) const {
    return "tensor " + std::to_string(id) + " '" + om_.tensors[id].name + "'";
  }

  /// Without overflow, unlike storage_bytes(); nothing when a dimension is unknown.
  std::optional<std::uint64_t> bytes_of(std::size_t id) const {
    const TensorDesc& desc = om_.tensors[id].desc;
    std::uint64_t bytes = size_bytes(desc.dtype);
    for (std::size_t axis = 0; axis < desc.shape.size(); ++axis) {
      if (desc.shape[axis] == kUnknownDim) return std::nullopt;
      auto dim = static_cast<std::uint64_t>(desc.shape[axis]);
      if (desc.format == Format::kNC1HWC0 && axis == 1) {
        const auto c0 = static_cast<std::uint64_t>(desc.c0);
        dim = (dim + c0 - 1) / c0 * c0;
      }
      if (__builtin_mul_overflow(bytes, dim, &bytes) ||
          bytes > static_cast<std::uint64_t>(kMostBytes))
        fail(text(id) + " is larger than any memory");
    }
    return bytes;
  }

  void check_tensor(std::size_t id) const {
    const OmTensor& tensor = om_.tensors[id];
    const TensorDesc& desc = tensor.desc;
    if (size_bytes(desc.dtype) == 0) fail(text(id) + " has an element type that cannot be stored");
    if (name(desc.format) == "UNKNOWN") fail(text(id) + " has an unknown format");
    for (const std::int64_t dim : desc.shape)
      if (dim < kUnknownDim) fail(text(id) + " has the dimension " + std::to_string(dim));
    if (desc.format == Format::kNC1HWC0 && (desc.shape.size() < 2 || desc.c0 < 1))
      fail(text(id) + " is NC1HWC0 with " + std::to_string(desc.shape.size()) +
           " dimensions and c0 " + std::to_string(desc.c0));
    const auto has_memory = [&](const auto& each) {
      return each->traits().memory == tensor.memory;
    };
    if (std::ranges::none_of(backends().all(), has_memory))
      fail(text(id) + " lies in the memory of a " + std::string(name(tensor.memory)) +
           ", which nothing here has");
    check_place(id, bytes_of(id));
    const bool is_ours = tensor.place == Place::kWeight || tensor.place == Place::kArena;
    if (is_ours && tensor.offset % size_bytes(desc.dtype) != 0)
      fail(text(id) + " does not begin where an element may");
  }

  /// No larger than what lies in it, which the plan rounds up.
  void check_arena() const {
    std::uint64_t end = 0;
    for (std::size_t id = 0; id < om_.tensors.size(); ++id)
      if (om_.tensors[id].place == Place::kArena)
        end = std::max(end, om_.tensors[id].offset + bytes_of(id).value_or(0));
    constexpr std::uint64_t kSlack = 4096;
    if (om_.arena_bytes > end + kSlack)
      fail("the arena has " + std::to_string(om_.arena_bytes) + " bytes, its tensors end at " +
           std::to_string(end));
  }

  void check_place(std::size_t id, std::optional<std::uint64_t> bytes) const {
    const OmTensor& tensor = om_.tensors[id];
    const auto need_inside = [&](std::uint64_t available, const char* of) {
      if (!bytes) fail(text(id) + " lies in " + of + " but its size is not known");
      if (*bytes > available || tensor.offset > available - *bytes)
        fail(text(id) + " ends beyond " + of);
    };
    const auto need_listed = [&](const std::vector<int>& ids, const char* of) {
      if (tensor.offset >= ids.size() || ids[tensor.offset] != static_cast<int>(id))
        fail(text(id) + " claims to be " + of + " " + std::to_string(tensor.offset));
    };
    switch (tensor.place) {
      case Place::kInput:
        return need_listed(om_.inputs, "input");
      case Place::kOutput:
        if (!bytes) fail(text(id) + " is an output of unknown size in the caller's buffer");
        return need_listed(om_.outputs, "output");
      case Place::kWeight:
        return need_inside(om_.weights_view.size(), "the weights section");
      case Place::kArena:
        return need_inside(om_.arena_bytes, "the arena");
      case Place::kDynamic:
        return;
    }
  }

  void check_interface(const std::vector<int>& ids, const char* what) const {
    for (const int id : ids) {
      check_id(id, what);
      const Format format = om_.tensors[id].desc.format;
      if (format != Format::kND && format != Format::kNCHW)
        fail(text(id) + " is a model " + what + " but not dense");
    }
  }

  void check_id(int id, const std::string& user) const {
    if (id < 0 || static_cast<std::size_t>(id) >= om_.tensors.size())
      fail(user + " refers to tensor " + std::to_string(id) + " of " +
           std::to_string(om_.tensors.size()));
  }

  void check_step(const OmStep& step) const {
    const std::string user = "step '" + step.name + "'";
    std::vector<int> used = step.constants;
    for (const std::vector<int>* ids : {&step.inputs, &step.outputs})
      for (const int id : *ids)
        if (id != -1) used.push_back(id);
    if (step.workspace != -1) used.push_back(step.workspace);
    for (const int id : used) {
      check_id(id, user);
      const bool has_fixed_size = om_.tensors[id].place != Place::kDynamic && bytes_of(id);
      if (!step.backend->traits().finds_sizes && !has_fixed_size)
        fail(user + " needs the size of " + text(id) + ", which only a run can tell");
    }
    if (step.scratch_bytes > kMostScratchBytes)
      fail(user + " needs " + std::to_string(step.scratch_bytes) + " bytes of scratch");
    for (const int id : step.outputs)
      if (id != -1) check_written(id, user);
    if (step.workspace != -1) check_written(step.workspace, user);
    try {
      budget_.take_expressions(step.call);
    } catch (const LoadBudget::Exceeded& e) {
      fail(user + " " + e.what());
    } catch (const Error& e) {
      fail(user + " is refused by its operator: " + e.what());
    }
  }

  void check_written(int id, const std::string& user) const {
    const Place place = om_.tensors[id].place;
    if (place == Place::kInput || place == Place::kWeight)
      fail(user + " writes " + text(id) + ", which is only read");
  }

  void check_with(const Backend& backend) const {
    std::vector<std::size_t> steps;
    for (std::size_t s = 0; s < om_.steps.size(); ++s)
      if (om_.steps[s].backend == &backend) steps.push_back(s);
    if (steps.empty()) return;
    if (const auto fault = backend.fault(om_, steps))
      fail("step '" + om_.steps[fault->step].name + "' " + fault->what);
  }

  const Om& om_;
  const std::string& where_;
  LoadBudget& budget_;
};

}  // namespace

void verify_graph(const Om& om, const std::string& where, LoadBudget& budget) {
  Verifier(om, where, budget).run();
}

}  // namespace aoe::runtime
