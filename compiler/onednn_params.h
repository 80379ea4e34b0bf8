// OneDnnDraft: what every oneDNN Impl writes: the parameters of a primitive (runtime/onednn_primitive.h), which buffer
// feeds which argument, and the task's epilogue as post-ops. One draft serves supports(), estimate_ns() and build().
//
//   OneDnnDraft draft(task, format, soc, "pooling");
//   draft.params()["algorithm"] = "pooling_max"; ...
//   draft.input("src", 0);
//   draft.output("dst");
//   if (auto no = draft.add_epilogue(); !no) return Unexpected(no.error());
//   return draft.probe();                       // or draft.finish() for the Kernel
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/impl.h"
#include "runtime/onednn_kernel.h"

namespace aoe::compiler {

/// A dense or blocked tensor as the primitives' parameters describe it. At most five dimensions.
nlohmann::json onednn_tensor(const TensorDesc& desc, Format format, const Soc& soc);
/// A float tensor with explicit strides, in elements.
nlohmann::json onednn_strided(const Shape& dims, const Shape& strides);

/// "No" unless `soc` is what oneDNN finds on this machine: it picks and packs for the host. Also checks that all tensors
/// are float32 and static, and that there is one output.
Result<void> supports_onednn(const Task& task, const Soc& soc);

class OneDnnDraft {
 public:
  OneDnnDraft(const Task& task, FormatChoice format, const Soc& soc, const std::string& primitive);

  nlohmann::json& params() { return params_; }
  /// Describes task input i (a non-constant one) in its format and connects it to the argument.
  void input(const std::string& argument, std::size_t i);
  void output(const std::string& argument);
  /// Connects a packed constant; its descriptor is the caller's to write.
  void constant(const std::string& argument, PackedConstant packed);
  /// A float constant in the layout it has.
  void plain_constant(const std::string& argument, std::size_t i);
  /// Weights in the layout oneDNN likes best; `source` describes the constant's own.
  void weights(std::size_t i, const Shape& dims, const nlohmann::json& source);

  /// The task's epilogue as post-ops. `in_place`: a residual is added by "sum" onto the output's own memory, rather than
  /// read beside it.
  Result<void> add_epilogue(bool in_place);

  /// "No" when oneDNN has nothing but its reference code.
  Result<runtime::OneDnnChoice> probe() const;
  /// Must have been probed with success.
  Kernel finish();

 private:
  struct Constant {
    std::string argument;
    PackedConstant packed;
  };
  struct Weights {
    ConstantPtr constant;
    nlohmann::json source;
  };
  bool is_residual(std::size_t input) const;
  bool add_unary(const reference::EpilogueStep& step);
  Result<void> add_binary(const reference::EpilogueStep& step, std::size_t input, bool in_place);
  std::size_t buffer_of_input(std::size_t i) const;
  void post_op(const std::string& algorithm, double alpha, double beta);

  const Task& task_;
  FormatChoice format_;
  const Soc& soc_;
  nlohmann::json params_;
  nlohmann::json args_ = nlohmann::json::object();
  std::vector<Constant> constants_;
  std::optional<Weights> weights_;
  int residual_ = -1;
};

/// Whether the epilogue begins with the addition of a tensor as large as the output that is no constant.
bool has_residual(const Task& task);

/// Expected time: arithmetic at `efficiency` of the peak, or the memory traffic, whichever is longer.
double onednn_estimate_ns(const Task& task, const Soc& soc, double flops, double efficiency);

}  // namespace aoe::compiler
