// The checks on a graph section that parsed: whatever passes here cannot make the executor leave
// its buffers.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "base/error.h"
#include "runtime/backend.h"
#include "runtime/isa.h"
#include "runtime/om_graph.h"

namespace aoe::runtime {
namespace {

class Verifier {
 public:
  Verifier(const Om& om, const std::string& where) : om_(om), where_(where) {}

  void run() {
    if (find_isa(om_.isa) == nullptr) fail("needs the unknown instruction set '" + om_.isa + "'");
    if (om_.threads < 1) fail("was compiled for " + std::to_string(om_.threads) + " threads");
    for (const std::optional<double>& peak : {om_.peak_gflops, om_.memory_gb_s})
      if (peak && !(std::isfinite(*peak) && *peak > 0))
        fail("states a peak of " + std::to_string(*peak) + " for its machine");
    for (std::size_t i = 0; i < om_.tensors.size(); ++i) check_tensor(i);
    check_interface(om_.inputs, "input");
    check_interface(om_.outputs, "output");
    for (const int id : om_.inputs)
      if (om_.tensors[id].place != Place::kInput) fail(text(id) + " is a model input elsewhere");
    for (const OmStep& step : om_.steps) check_step(step);
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
          bytes > std::numeric_limits<std::int64_t>::max())
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
    check_place(id, bytes_of(id));
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
    if (const std::string_view fault = step.backend->fault(step); !fault.empty())
      fail(user + " " + std::string(fault));
  }

  const Om& om_;
  const std::string& where_;
};

}  // namespace

void verify_graph(const Om& om, const std::string& where) {
  Verifier(om, where).run();
}

}  // namespace aoe::runtime
