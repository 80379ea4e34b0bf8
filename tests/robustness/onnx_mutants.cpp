// See onnx_mutants.h.
#include "tests/robustness/onnx_mutants.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "reference/op.h"

namespace aoe::tests {
namespace {

using onnx::AttributeProto;

class Mutator {
 public:
  Mutator(onnx::ModelProto& model, std::mt19937& random)
      : graph_(*model.mutable_graph()), model_(model), random_(random) {}

  std::string run() {
    static constexpr std::string (Mutator::*kKinds[])() = {
        &Mutator::attribute_value, &Mutator::attribute_value, &Mutator::attribute_value,
        &Mutator::attribute_value, &Mutator::attribute_kind,  &Mutator::attribute_lost,
        &Mutator::attribute_added, &Mutator::tensor_dims,     &Mutator::tensor_type,
        &Mutator::tensor_contents, &Mutator::tensor_contents, &Mutator::declaration,
        &Mutator::declaration,     &Mutator::node_input,      &Mutator::node_input,
        &Mutator::node_output,     &Mutator::node_type,       &Mutator::operator_set};
    for (int attempts = 0; attempts < 20; ++attempts) {
      const std::string what = (this->*kKinds[below(std::size(kKinds))])();
      if (!what.empty()) return what;
    }
    return "nothing";
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  template <typename List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }

  std::int64_t odd_int(std::int64_t old) {
    constexpr std::int64_t kOdd[] = {0,
                                     -1,
                                     -2,
                                     1,
                                     2,
                                     3,
                                     7,
                                     64,
                                     1000,
                                     std::int64_t{1} << 20,
                                     std::int64_t{1} << 31,
                                     std::int64_t{1} << 32,
                                     -(std::int64_t{1} << 31),
                                     std::int64_t{1} << 47,
                                     std::int64_t{1} << 62,
                                     std::numeric_limits<std::int64_t>::max(),
                                     std::numeric_limits<std::int64_t>::min()};
    switch (below(4)) {
      case 0:
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(old) + 1);
      case 1:
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(old) - 1);
      default:
        return pick(kOdd);
    }
  }

  float odd_float() {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    constexpr float kOdd[] = {0.0f, -1.0f, 1e-30f, 1e30f, -1e30f, kInf, -kInf, 0.0f / kInf};
    return below(8) == 0 ? std::numeric_limits<float>::quiet_NaN() : pick(kOdd);
  }

  std::string odd_word() {
    static const std::vector<std::string> kWords = {"",
                                                    "SAME_UPPER",
                                                    "SAME_LOWER",
                                                    "VALID",
                                                    "linear",
                                                    "cubic",
                                                    "nearest",
                                                    "reflect",
                                                    "edge",
                                                    "wrap",
                                                    "CRD",
                                                    "bidirectional",
                                                    "reverse",
                                                    "ij,jk->ik",
                                                    "...",
                                                    "ii->ii",
                                                    "1",
                                                    "\xff\xfe",
                                                    std::string(5000, 'x'),
                                                    "tf_crop_and_resize",
                                                    "add"};
    return pick(kWords);
  }

  AttributeProto* any_attribute() {
    std::vector<AttributeProto*> all;
    for (auto& node : *graph_.mutable_node())
      for (auto& attribute : *node.mutable_attribute()) all.push_back(&attribute);
    return all.empty() ? nullptr : pick(all);
  }

  std::string attribute_value() {
    AttributeProto* const a = any_attribute();
    if (a == nullptr) return {};
    switch (a->type()) {
      case AttributeProto::INT:
        a->set_i(odd_int(a->i()));
        return "int " + a->name() + " = " + std::to_string(a->i());
      case AttributeProto::FLOAT:
        a->set_f(odd_float());
        return "float " + a->name() + " = " + std::to_string(a->f());
      case AttributeProto::STRING:
        a->set_s(odd_word());
        return "string " + a->name() + " = " + a->s().substr(0, 20);
      case AttributeProto::INTS:
        if (a->ints_size() > 0 && below(3) > 0) {
          const int at = static_cast<int>(below(static_cast<std::size_t>(a->ints_size())));
          a->set_ints(at, odd_int(a->ints(at)));
          return "ints " + a->name() + "[" + std::to_string(at) +
                 "] = " + std::to_string(a->ints(at));
        }
        if (below(2) == 0 && a->ints_size() > 0)
          a->mutable_ints()->RemoveLast();
        else
          a->add_ints(odd_int(1));
        return "ints " + a->name() + " of " + std::to_string(a->ints_size());
      case AttributeProto::FLOATS:
        if (a->floats_size() > 0 && below(2) == 0)
          a->set_floats(0, odd_float());
        else
          a->add_floats(odd_float());
        return "floats " + a->name();
      case AttributeProto::TENSOR:
        return change_tensor(*a->mutable_t());
      default:
        return {};
    }
  }

  std::string attribute_kind() {
    AttributeProto* const a = any_attribute();
    if (a == nullptr) return {};
    constexpr AttributeProto::AttributeType kTypes[] = {
        AttributeProto::FLOAT,  AttributeProto::INT,    AttributeProto::STRING,
        AttributeProto::INTS,   AttributeProto::FLOATS, AttributeProto::STRINGS,
        AttributeProto::TENSOR, AttributeProto::GRAPH,  AttributeProto::UNDEFINED};
    a->set_type(pick(kTypes));
    return "kind of " + a->name() + " = " + std::to_string(a->type());
  }

  std::string attribute_lost() {
    if (graph_.node_size() == 0) return {};
    auto& node = *graph_.mutable_node(static_cast<int>(below(graph_.node_size())));
    if (node.attribute_size() == 0) return {};
    const std::string name = node.attribute(node.attribute_size() - 1).name();
    node.mutable_attribute()->RemoveLast();
    return "without " + name;
  }

  std::string attribute_added() {
    if (graph_.node_size() == 0) return {};
    static const std::vector<std::string> kInts = {
        "axis",      "group",     "keepdims",   "ceil_mode",     "storage_order",
        "blocksize", "allowzero", "batch_dims", "training_mode", "hidden_size",
        "p",         "to",        "layout",     "block_size"};
    static const std::vector<std::string> kLists = {
        "pads", "strides", "dilations",    "kernel_shape",  "axes",
        "perm", "split",   "output_shape", "output_padding"};
    auto& a = *graph_.mutable_node(static_cast<int>(below(graph_.node_size())))->add_attribute();
    if (below(2) == 0) {
      a.set_name(pick(kInts));
      a.set_type(AttributeProto::INT);
      a.set_i(odd_int(1));
      return "with " + a.name() + " = " + std::to_string(a.i());
    }
    a.set_name(pick(kLists));
    a.set_type(AttributeProto::INTS);
    for (std::size_t i = below(6); i > 0; --i) a.add_ints(odd_int(1));
    return "with " + a.name() + " of " + std::to_string(a.ints_size());
  }

  onnx::TensorProto* any_initializer() {
    if (graph_.initializer_size() == 0) return nullptr;
    return graph_.mutable_initializer(static_cast<int>(below(graph_.initializer_size())));
  }

  std::string tensor_dims() {
    onnx::TensorProto* const tensor = any_initializer();
    if (tensor == nullptr) return {};
    if (tensor->dims_size() > 0 && below(3) > 0)
      tensor->set_dims(static_cast<int>(below(tensor->dims_size())), odd_int(2));
    else if (below(2) == 0 && tensor->dims_size() > 0)
      tensor->mutable_dims()->RemoveLast();
    else
      tensor->add_dims(below(2) == 0 ? 1 : odd_int(1));
    return "dims of " + tensor->name();
  }

  std::string tensor_type() {
    onnx::TensorProto* const tensor = any_initializer();
    if (tensor == nullptr) return {};
    tensor->set_data_type(static_cast<int>(below(28)));
    return "type of " + tensor->name() + " = " + std::to_string(tensor->data_type());
  }

  std::string tensor_contents() {
    onnx::TensorProto* const tensor = any_initializer();
    return tensor == nullptr ? "" : change_tensor(*tensor);
  }

  /// Values of integers first of all: they are shapes, axes, pads and indices.
  std::string change_tensor(onnx::TensorProto& tensor) {
    std::string& raw = *tensor.mutable_raw_data();
    if (below(6) == 0) {
      raw.resize(below(2) == 0 ? raw.size() / 2 : raw.size() + 8);
      return "length of " + tensor.name();
    }
    if (raw.size() >= sizeof(std::int64_t) && tensor.data_type() == onnx::TensorProto::INT64) {
      const std::size_t at = below(raw.size() / sizeof(std::int64_t)) * sizeof(std::int64_t);
      std::int64_t value = 0;
      std::memcpy(&value, raw.data() + at, sizeof value);
      value = odd_int(value);
      std::memcpy(raw.data() + at, &value, sizeof value);
      return tensor.name() + " holds " + std::to_string(value);
    }
    if (raw.size() >= sizeof(float)) {
      const float value = odd_float();
      std::memcpy(raw.data() + below(raw.size() / sizeof(float)) * sizeof(float), &value,
                  sizeof value);
      return tensor.name() + " holds " + std::to_string(value);
    }
    return {};
  }

  std::string declaration() {
    std::vector<onnx::ValueInfoProto*> all;
    for (auto* list :
         {graph_.mutable_input(), graph_.mutable_output(), graph_.mutable_value_info()})
      for (auto& info : *list) all.push_back(&info);
    if (all.empty()) return {};
    onnx::ValueInfoProto& info = *pick(all);
    auto& type = *info.mutable_type()->mutable_tensor_type();
    auto& shape = *type.mutable_shape();
    switch (below(5)) {
      case 0:
        type.set_elem_type(static_cast<int>(below(28)));
        return info.name() + " is of type " + std::to_string(type.elem_type());
      case 1:
        if (shape.dim_size() > 0) shape.mutable_dim()->RemoveLast();
        return info.name() + " has one dimension less";
      case 2:
        shape.add_dim()->set_dim_value(odd_int(1));
        return info.name() + " has one dimension more";
      default:
        if (shape.dim_size() == 0) return {};
        auto& dim = *shape.mutable_dim(static_cast<int>(below(shape.dim_size())));
        dim.set_dim_value(odd_int(dim.dim_value()));
        return info.name() + " has a dimension of " + std::to_string(dim.dim_value());
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all = {""};
    for (const auto& input : graph_.input()) all.push_back(input.name());
    for (const auto& tensor : graph_.initializer()) all.push_back(tensor.name());
    for (const auto& node : graph_.node())
      all.insert(all.end(), node.output().begin(), node.output().end());
    return all;
  }

  std::string node_input() {
    if (graph_.node_size() == 0) return {};
    auto& node = *graph_.mutable_node(static_cast<int>(below(graph_.node_size())));
    if (node.input_size() > 0 && below(3) > 0)
      node.set_input(static_cast<int>(below(node.input_size())), pick(names()));
    else if (below(2) == 0 && node.input_size() > 0)
      node.mutable_input()->RemoveLast();
    else
      node.add_input(pick(names()));
    return "inputs of " + node.name();
  }

  std::string node_output() {
    if (graph_.node_size() == 0) return {};
    auto& node = *graph_.mutable_node(static_cast<int>(below(graph_.node_size())));
    if (node.output_size() > 0 && below(2) == 0) {
      node.mutable_output()->RemoveLast();
      return "one output of " + node.name() + " less";
    }
    node.add_output("extra_" + std::to_string(below(3)));
    return "one output of " + node.name() + " more";
  }

  std::string node_type() {
    if (graph_.node_size() == 0) return {};
    static const std::vector<const reference::OpDef*> kAll = reference::ops().all();
    auto& node = *graph_.mutable_node(static_cast<int>(below(graph_.node_size())));
    const reference::OpDef& def = *pick(kAll);
    if (def.onnx_type.empty()) return {};
    node.set_op_type(def.onnx_type);
    return node.name() + " is " + def.onnx_type;
  }

  std::string operator_set() {
    if (model_.opset_import_size() == 0) return {};
    auto& import = *model_.mutable_opset_import(0);
    import.set_version(static_cast<std::int64_t>(below(24)));
    return "opset " + std::to_string(import.version());
  }

  onnx::GraphProto& graph_;
  onnx::ModelProto& model_;
  std::mt19937& random_;
};

}  // namespace

std::string mutate(onnx::ModelProto& model, std::mt19937& random) {
  std::string what;
  const std::size_t more = random() % 8;  // mostly one: two are refused more often than not
  for (std::size_t count = 1 + (more == 0) + (more <= 1); count > 0; --count)
    what += (what.empty() ? "" : ", ") + Mutator(model, random).run();
  return what;
}

}  // namespace aoe::tests
