// ModelDraw: an ONNX model that grows node by node out of random values: graph inputs, constants and what nodes before
// gave out; tensors of rank 0 to 8, some without elements, some with dimensions of 1. What a node gives out is inferred
// with the reference, and a node that the reference refuses is not added, so every model drawn is a valid one.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"
#include "reference/attrs.h"

namespace aoe::tests {

using Ints = std::vector<std::int64_t>;

/// How far from the reference a result may be.
enum class Exactness {
  kExact,  ///< equal where the inputs are: moves, comparisons, one rounding an element
  kClose,  ///< rounded otherwise; nothing that jumps (a rounding, a comparison) may read it
  kWild,  ///< may be infinite or not a number, or far off when its input is a little: nothing reads it
};

/// Names of wild values begin so: of them only type and shape can be compared.
inline const std::string kWildPrefix = "wild_";

struct DrawnValue {
  std::string name;
  TensorDesc desc;
  Exactness exactness = Exactness::kExact;
  ConstantPtr constant;  ///< of an initializer
};

class ModelDraw {
 public:
  using Id = std::size_t;

  explicit ModelDraw(std::uint32_t seed);

  // ---- chance ----
  std::int64_t below(std::int64_t limit) { return static_cast<std::int64_t>(engine_() % limit); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }
  /// Sometimes 0 (in some models only), often 1, else up to `most`.
  std::int64_t dim(std::int64_t most = 33);
  Shape shape(std::int64_t min_rank, std::int64_t max_rank);
  /// A shape that broadcasts with this one: dimensions of it set to 1, leading ones left out.
  Shape broadcastable(Shape shape);
  /// In [-rank, rank), for a rank of at least 1.
  std::int64_t axis(std::size_t rank) {
    return between(-static_cast<std::int64_t>(rank), static_cast<std::int64_t>(rank) - 1);
  }

  // ---- values ----
  struct Want {
    std::vector<DataType> types = {DataType::kFloat};
    std::int64_t min_rank = 0, max_rank = 8;
    bool is_exact = false;
  };
  /// One that is there, or a fresh one.
  Id value(const Want& want);
  /// A graph input, or a constant.
  Id fresh(DataType dtype, const Shape& shape);
  Id fresh(DataType dtype, const Shape& shape, bool is_constant);
  Id constant(ConstantPtr value);
  /// A constant of numbers in [low, high].
  Id numbers(DataType dtype, const Shape& shape, double low, double high);
  Id ints(const Ints& values) { return ints(values, {std::ssize(values)}); }
  Id ints(const Ints& values, const Shape& shape);
  Id scalar(DataType dtype, double number);  ///< of rank 0 or 1
  const DrawnValue& at(Id id) const { return values_[id]; }
  const Shape& shape_of(Id id) const { return values_[id].desc.shape; }
  DataType dtype_of(Id id) const { return values_[id].desc.dtype; }

  // ---- nodes ----
  static constexpr Id kAbsent = static_cast<Id>(-1);
  /// False when the reference refuses the node.
  bool add(const std::string& type, const std::vector<Id>& inputs,
           const reference::Attrs& attrs = {}, std::size_t outputs = 1,
           Exactness exactness = Exactness::kClose);
  /// Its last output; nothing when the reference refuses the node.
  std::optional<Id> added(const std::string& type, const std::vector<Id>& inputs,
                          Exactness exactness = Exactness::kClose,
                          const reference::Attrs& attrs = {});
  /// An operator of com.microsoft, which the import takes apart: what it gives is for the caller to say.
  void add_contributed(const std::string& type, const std::vector<Id>& inputs,
                       const reference::Attrs& attrs, const std::vector<TensorDesc>& outputs,
                       Exactness exactness = Exactness::kClose);
  /// The same of another domain, or none.
  void add_composite(const std::string& domain, const std::string& type,
                     const std::vector<Id>& inputs, const reference::Attrs& attrs,
                     const std::vector<TensorDesc>& outputs, Exactness exactness);
  /// Its output is a list of tensors, which nothing but the next node may read.
  Id add_sequence(const std::string& type, const std::vector<Id>& inputs,
                  const reference::Attrs& attrs);
  int opset() const { return opset_; }

  // ---- bodies of nodes ----
  /// A draw of a body in this model, which must outlive it: what it draws as an input is one of this model, and some values
  /// of this model are values of it.
  ModelDraw inner();
  /// An input of the body. Nothing is made of one whose shape is not static but what names it.
  Id formal(const TensorDesc& desc, Exactness exactness);
  /// One of this type and rank that is not wild; nothing when there is none.
  std::optional<Id> value_like(const TensorDesc& desc);
  /// The same under another name.
  Id pass_on(Id id);
  void declare_output(Id id) { give_out(values_[id]); }
  /// Nothing of it is checked. `outputs` have no names.
  void add_with_bodies(const std::string& type, const std::vector<Id>& inputs,
                       const reference::Attrs& attrs,
                       const std::vector<std::pair<std::string, const ModelDraw*>>& bodies,
                       std::vector<DrawnValue> outputs);

  std::int64_t nodes() const { return model_.graph().node_size(); }
  /// Ends the model: gives out most of what nobody reads, and now and then a value, an input or a constant besides.
  onnx::ModelProto finish();

 private:
  ModelDraw(ModelDraw& outer, std::string prefix);

  /// Of this model, for one of its bodies.
  const DrawnValue& fresh_for_body(DataType dtype, const Shape& shape);
  onnx::NodeProto& append(const std::string& type, const std::vector<Id>& inputs,
                          const reference::Attrs& attrs, const std::vector<TensorDesc>& outputs,
                          Exactness exactness);
  void give_out(const DrawnValue& value);
  Id keep(DrawnValue value);

  std::mt19937 engine_;
  ModelDraw* outer_ = nullptr;  ///< of a body
  std::string prefix_;          ///< of all names
  int bodies_ = 0;
  int opset_;
  bool has_empties_;
  onnx::ModelProto model_;
  std::vector<DrawnValue> values_;
  std::vector<bool> is_read_;
};

/// A valid model of one to six nodes, the same for the same seed.
onnx::ModelProto random_onnx(std::uint32_t seed);

/// Adds a node of a random operator; may add none.
void add_random_node(ModelDraw& draw);

}  // namespace aoe::tests
