// OneDnnDraft: what every oneDNN Impl writes: the parameters of a primitive (runtime/onednn/onednn_primitive.h), which buffer
// feeds which argument, and the task's epilogue as post-ops. One draft serves supports(), estimate_ns() and build().
// Rarely, a second primitive (stage) runs behind the first.
//
//   OneDnnDraft draft(task, format, soc, "pooling");
//   draft.params()["algorithm"] = "pooling_max"; ...
//   draft.input("src", 0);
//   draft.output("dst");
//   if (auto no = draft.add_epilogue(); !no) return Unexpected(no.error());
//   return draft.probe();                       // or draft.finish() for the Kernel
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/impl.h"
#include "runtime/onednn/onednn_kernel.h"

namespace aoe::compiler {

/// A dense or blocked tensor as the primitives' parameters describe it. At most five dimensions.
nlohmann::json onednn_tensor(const TensorDesc& desc, Format format, const Soc& soc);
/// A dense float tensor.
nlohmann::json onednn_dense(const Shape& dims);
/// A float tensor with explicit strides, in elements.
nlohmann::json onednn_strided(const Shape& dims, const Shape& strides);

/// "No" unless `soc` is what oneDNN finds on this machine: it picks and packs for the host. Also checks that all
/// activations are float32 of at most five dimensions, and that there are no more than `most_outputs`.
Result<void> supports_onednn(const Task& task, const Soc& soc, std::size_t most_outputs = 1);

class OneDnnDraft {
 public:
  OneDnnDraft(const Task& task, FormatChoice format, const Soc& soc, const std::string& primitive);

  /// Of the current stage.
  nlohmann::json& params() { return stages_.back().params; }
  /// Describes task input i (a non-constant one) in its Format, or as `desc` when given, and connects it, from
  /// `offset_bytes` on.
  void input(const std::string& argument, std::size_t i, nlohmann::json desc = {},
             std::size_t offset_bytes = 0);
  void output(const std::string& argument, std::size_t o = 0, nlohmann::json desc = {},
              std::size_t offset_bytes = 0);
  /// Connects a packed constant; its descriptor is the caller's to write.
  void constant(const std::string& argument, PackedConstant packed);
  /// A float constant as it is, or times `factor`.
  void plain_constant(const std::string& argument, std::size_t i, float factor = 1);
  /// An input or a constant, whichever task input i is, described as `desc`.
  void any_input(const std::string& argument, std::size_t i, const nlohmann::json& desc);
  /// Weights of `dims` in the layout oneDNN likes best, if it has a name, else plain. `source` describes what `pack` writes, by default constant i.
  void weights(const std::string& argument, const Shape& dims, const nlohmann::json& source,
               PackedConstant packed);
  /// The same of an input: described as `layout` when that has a name, and brought into it by a stage in front; else as
  /// `plain`, where it lies. The draft has no other stage yet.
  void computed_weights(const std::string& argument, std::size_t i, const nlohmann::json& plain,
                        const runtime::OneDnnLayout& layout);
  PackedConstant packed_input(std::size_t i, float factor = 1) const;
  /// Connects memory of `desc` in the workspace, that lives from this stage to the next, of so many bytes or those of a dense
  /// tensor. A stage that hands one on has no other but what was handed to it.
  void temporary(const std::string& argument, const nlohmann::json& desc, std::size_t bytes = 0);

  /// Begins a stage that runs behind the others; `argument` connects as the result of the stage before.
  void then(const std::string& primitive, const std::string& argument);
  /// Begins a stage that runs behind the others and takes nothing from them.
  void also(const std::string& primitive);

  /// The task's epilogue as post-ops of the current stage. `in_place`: a residual is added by "sum" onto the output's
  /// own memory, rather than read beside it.
  Result<void> add_epilogue(bool in_place = false);
  void post_op(const std::string& algorithm, double alpha, double beta);
  /// Adds task input i times `factor` (1 unless it is constant), broadcast to the output.
  void post_op_add(std::size_t i, float factor);

  /// By stage. "No" when oneDNN has nothing but its reference code for one of them.
  Result<std::vector<runtime::OneDnnChoice>> probe() const;
  /// Must have been probed with success.
  Kernel finish();

 private:
  struct Weights {
    nlohmann::json source;
    PackedConstant packed;
  };
  struct Stage {
    nlohmann::json params;
    nlohmann::json args = nlohmann::json::object();
    std::map<std::string, PackedConstant> constants;
    std::map<std::string, Weights> weights;
    std::map<std::string, std::size_t> temporaries;  ///< bytes
    std::string handed;                              ///< argument that is dst of the stage before
    Shape output;                                    ///< dims of dst
  };
  static PackedConstant repacked(const Weights& weights, const runtime::OneDnnLayout& layout);
  Stage& stage() { return stages_.back(); }
  bool is_residual(std::size_t input) const;
  Shape operand_dims(std::size_t input) const;
  bool may_broadcast(const Shape& dims) const;
  bool add_unary(const reference::OpCall& step);
  Result<void> add_clip(const reference::BodyStep& step);
  Result<void> add_step(std::size_t index, bool in_place);
  Result<void> add_binary(const reference::OpCall& step, std::size_t input, bool in_place);
  void binary_post_op(const char* algorithm, std::size_t input, float factor);
  std::size_t buffer_of_input(std::size_t i) const;
  void place_workspace(const std::vector<runtime::OneDnnChoice>& choices, Kernel& kernel);

  const Task& task_;
  FormatChoice format_;
  const Soc& soc_;
  std::vector<Stage> stages_;
  int residual_ = -1;
};

/// Whether the epilogue begins with the addition of a tensor as large as the output that is no constant.
bool has_residual(const Task& task);

/// Before a primitive computes anything.
double onednn_launch_ns(const Soc& soc);
/// Expected time: arithmetic at `efficiency` of the peak, or the memory traffic, whichever is longer.
double onednn_estimate_ns(const Task& task, const Soc& soc, double flops, double efficiency);

}  // namespace aoe::compiler
