// See model_draw.h.
#include "tests/robustness/model_draw.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <type_traits>

#include "base/error.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/elements/typed.h"
#include "reference/op.h"

namespace aoe::tests {
namespace {

constexpr std::int64_t kMostElements = 2048;

onnx::TensorProto tensor_proto(const std::string& name, const Constant& constant) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(static_cast<std::int32_t>(reference::onnx_number(constant.desc().dtype)));
  for (const std::int64_t dim : constant.desc().shape) tensor.add_dims(dim);
  tensor.set_raw_data(constant.data(), constant.size_bytes());
  return tensor;
}

onnx::AttributeProto attribute_of(const std::string& name, const reference::Attr& attr) {
  onnx::AttributeProto proto;
  proto.set_name(name);
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::int64_t>) {
          proto.set_type(onnx::AttributeProto::INT);
          proto.set_i(value);
        } else if constexpr (std::is_same_v<T, float>) {
          proto.set_type(onnx::AttributeProto::FLOAT);
          proto.set_f(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          proto.set_type(onnx::AttributeProto::STRING);
          proto.set_s(value);
        } else if constexpr (std::is_same_v<T, Ints>) {
          proto.set_type(onnx::AttributeProto::INTS);
          for (const std::int64_t each : value) proto.add_ints(each);
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          proto.set_type(onnx::AttributeProto::FLOATS);
          for (const float each : value) proto.add_floats(each);
        } else if constexpr (std::is_same_v<T, ConstantPtr>) {
          proto.set_type(onnx::AttributeProto::TENSOR);
          *proto.mutable_t() = tensor_proto("", *value);
        } else {
          proto.set_type(onnx::AttributeProto::STRINGS);
          for (const std::string& each : value) proto.add_strings(each);
        }
      },
      attr);
  return proto;
}

onnx::ValueInfoProto info_of(const DrawnValue& value, bool has_shape) {
  onnx::ValueInfoProto info;
  info.set_name(value.name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<std::int32_t>(reference::onnx_number(value.desc.dtype)));
  if (has_shape) {
    auto& shape = *type.mutable_shape();
    for (const std::int64_t dim : value.desc.shape) shape.add_dim()->set_dim_value(dim);
  }
  return info;
}

bool has_type(const std::vector<DataType>& types, DataType dtype) {
  return std::ranges::find(types, dtype) != types.end();
}

/// No list of such.
bool is_tensor(const DrawnValue& value) {
  return value.desc.dtype != DataType::kUndefined;
}

}  // namespace

ModelDraw::ModelDraw(std::uint32_t seed) : engine_(seed) {
  opset_ =
      static_cast<int>(pick(Ints{9, 10, 11, 12, 13, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}));
  has_empties_ = one_in(3);
  model_.set_ir_version(8);
  auto& import = *model_.add_opset_import();
  import.set_domain("");
  import.set_version(opset_);
  model_.mutable_graph()->set_name("random_" + std::to_string(seed));
}

ModelDraw::ModelDraw(ModelDraw& outer, std::string prefix)
    : engine_(static_cast<std::uint32_t>(outer.engine_())),
      outer_(&outer),
      prefix_(std::move(prefix)),
      opset_(outer.opset_),
      has_empties_(outer.has_empties_) {
  model_.mutable_graph()->set_name(prefix_);
  for (std::int64_t count = below(4); count > 0 && !outer.values_.empty(); --count) {
    const DrawnValue& seen = pick(outer.values_);
    if (seen.exactness != Exactness::kWild && is_tensor(seen) && is_static(seen.desc.shape))
      keep(seen);
  }
}

ModelDraw ModelDraw::inner() {
  return ModelDraw(*this, prefix_ + "b" + std::to_string(bodies_++) + "_");
}

std::int64_t ModelDraw::dim(std::int64_t most) {
  if (has_empties_ && one_in(12)) return 0;
  if (one_in(4)) return 1;
  return std::min(most, one_in(4) ? pick(Ints{7, 16, 17, 32, 33}) : between(2, 6));
}

Shape ModelDraw::shape(std::int64_t min_rank, std::int64_t max_rank) {
  std::int64_t rank = one_in(6) ? between(0, 8) : between(1, 4);
  rank = std::clamp(rank, min_rank, max_rank);
  Shape shape;
  for (std::int64_t d = 0; d < rank; ++d) shape.push_back(dim());
  while (element_count(shape) > kMostElements) {
    auto& largest = *std::ranges::max_element(shape);
    largest = (largest + 1) / 2;
  }
  return shape;
}

Shape ModelDraw::broadcastable(Shape shape) {
  if (one_in(2)) return shape;
  for (std::int64_t& each : shape)
    if (one_in(3)) each = 1;
  if (one_in(3) && !shape.empty())
    shape.erase(shape.begin(), shape.begin() + between(1, std::ssize(shape)));
  return shape;
}

ModelDraw::Id ModelDraw::keep(DrawnValue value) {
  values_.push_back(std::move(value));
  is_read_.push_back(false);
  return values_.size() - 1;
}

ModelDraw::Id ModelDraw::value(const Want& want) {
  std::vector<Id> fitting;
  for (Id id = 0; id < values_.size(); ++id) {
    const DrawnValue& each = values_[id];
    const auto rank = std::ssize(each.desc.shape);
    const bool is_usable = each.exactness == Exactness::kExact ||
                           (each.exactness == Exactness::kClose && !want.is_exact);
    if (is_usable && is_static(each.desc.shape) && rank >= want.min_rank && rank <= want.max_rank &&
        has_type(want.types, each.desc.dtype))
      fitting.push_back(id);
  }
  if (!fitting.empty() && !one_in(5)) return one_in(2) ? fitting.back() : pick(fitting);
  return fresh(pick(want.types), shape(want.min_rank, want.max_rank));
}

ModelDraw::Id ModelDraw::fresh(DataType dtype, const Shape& shape) {
  return fresh(dtype, shape, one_in(4));
}

ModelDraw::Id ModelDraw::fresh(DataType dtype, const Shape& shape, bool is_constant) {
  if (!is_constant && outer_ != nullptr) return keep(outer_->fresh_for_body(dtype, shape));
  DrawnValue value{.name = prefix_ + "v" + std::to_string(values_.size()),
                   .desc = {.dtype = dtype, .shape = shape}};
  if (!is_constant) {
    *model_.mutable_graph()->add_input() = info_of(value, true);
    return keep(std::move(value));
  }
  if (is_floating(dtype)) return numbers(dtype, shape, -2, 2);
  const bool is_wider = dtype != DataType::kBool && one_in(3);
  return numbers(dtype, shape, is_wider && is_signed(dtype) ? -3 : 0, is_wider ? 9 : 1);
}

ModelDraw::Id ModelDraw::constant(ConstantPtr value) {
  DrawnValue drawn{.name = prefix_ + "c" + std::to_string(values_.size()),
                   .desc = value->desc(),
                   .constant = value};
  *model_.mutable_graph()->add_initializer() = tensor_proto(drawn.name, *value);
  return keep(std::move(drawn));
}

ModelDraw::Id ModelDraw::numbers(DataType dtype, const Shape& shape, double low, double high) {
  auto drawn = std::make_shared<Constant>(TensorDesc{.dtype = dtype, .shape = shape});
  reference::visit_type<reference::AllTypes>(dtype, [&]<typename T>() {
    T* to = static_cast<T*>(drawn->mutable_data());
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      const double at = low + (high - low) * static_cast<double>(below(1001)) / 1000;
      to[i] = reference::convert<T>(is_floating(dtype) ? at : std::nearbyint(at));
    }
  });
  return constant(std::move(drawn));
}

ModelDraw::Id ModelDraw::ints(const Ints& values, const Shape& shape) {
  return constant(std::make_shared<Constant>(TensorDesc{.dtype = DataType::kInt64, .shape = shape},
                                             values.data()));
}

ModelDraw::Id ModelDraw::scalar(DataType dtype, double number) {
  return numbers(dtype, one_in(2) ? Shape{} : Shape{1}, number, number);
}

bool ModelDraw::add(const std::string& type, const std::vector<Id>& inputs,
                    const reference::Attrs& attrs, std::size_t outputs, Exactness exactness) {
  const reference::OpDef* def = reference::ops().find_onnx("", type);
  if (def == nullptr) throw std::logic_error("there is no operator " + type);
  const auto above = std::ranges::upper_bound(def->versions, opset_);
  if (above == def->versions.begin()) return false;
  std::vector<Tensor> operands;
  for (const Id id : inputs) {
    if (id == kAbsent)
      operands.emplace_back();
    else
      operands.push_back(values_[id].constant ? values_[id].constant->view()
                                              : Tensor{values_[id].desc, nullptr});
  }
  std::vector<TensorDesc> descs;
  try {
    descs = reference::infer({.type = def->type, .version = *(above - 1), .attrs = attrs}, operands,
                             outputs);
  } catch (const Error&) {
    return false;
  } catch (const reference::Undetermined&) {
    return false;
  }
  for (const TensorDesc& desc : descs)
    if (element_count(desc.shape) > 8 * kMostElements || desc.shape.size() > 8) return false;
  append(type, inputs, attrs, descs, exactness);
  return true;
}

void ModelDraw::add_contributed(const std::string& type, const std::vector<Id>& inputs,
                                const reference::Attrs& attrs,
                                const std::vector<TensorDesc>& outputs, Exactness exactness) {
  add_composite("com.microsoft", type, inputs, attrs, outputs, exactness);
}

void ModelDraw::add_composite(const std::string& domain, const std::string& type,
                              const std::vector<Id>& inputs, const reference::Attrs& attrs,
                              const std::vector<TensorDesc>& outputs, Exactness exactness) {
  append(type, inputs, attrs, outputs, exactness).set_domain(domain);
}

ModelDraw::Id ModelDraw::add_sequence(const std::string& type, const std::vector<Id>& inputs,
                                      const reference::Attrs& attrs) {
  append(type, inputs, attrs, {{.dtype = DataType::kUndefined}}, Exactness::kExact);
  return values_.size() - 1;
}

onnx::NodeProto& ModelDraw::append(const std::string& type, const std::vector<Id>& inputs,
                                   const reference::Attrs& attrs,
                                   const std::vector<TensorDesc>& outputs, Exactness exactness) {
  onnx::NodeProto& node = *model_.mutable_graph()->add_node();
  node.set_name(prefix_ + "n" + std::to_string(nodes() - 1));
  node.set_op_type(type);
  for (const auto& [name, attr] : attrs.all()) *node.add_attribute() = attribute_of(name, attr);
  for (const Id id : inputs) {
    node.add_input(id == kAbsent ? "" : values_[id].name);
    if (id == kAbsent) continue;
    is_read_[id] = true;
    exactness = std::max(exactness, values_[id].exactness);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name =
        (exactness == Exactness::kWild ? kWildPrefix : "") + node.name() + "_" + std::to_string(i);
    node.add_output(name);
    keep({.name = name, .desc = outputs[i], .exactness = exactness, .constant = nullptr});
  }
  return node;
}

std::optional<ModelDraw::Id> ModelDraw::added(const std::string& type,
                                              const std::vector<Id>& inputs, Exactness exactness,
                                              const reference::Attrs& attrs) {
  if (!add(type, inputs, attrs, 1, exactness)) return {};
  return values_.size() - 1;
}

const DrawnValue& ModelDraw::fresh_for_body(DataType dtype, const Shape& shape) {
  const TensorDesc desc{.dtype = dtype, .shape = shape};
  std::vector<Id> inputs;
  for (const auto& input : model_.graph().input())
    for (Id id = 0; id < values_.size(); ++id)
      if (values_[id].name == input.name() && values_[id].desc == desc &&
          values_[id].exactness == Exactness::kExact)
        inputs.push_back(id);
  const Id chosen = !inputs.empty() && one_in(2) ? pick(inputs) : fresh(dtype, shape, false);
  is_read_[chosen] = true;
  return values_[chosen];
}

ModelDraw::Id ModelDraw::formal(const TensorDesc& desc, Exactness exactness) {
  DrawnValue value{
      .name = prefix_ + "i" + std::to_string(values_.size()), .desc = desc, .exactness = exactness};
  *model_.mutable_graph()->add_input() = info_of(value, is_static(desc.shape));
  return keep(std::move(value));
}

std::optional<ModelDraw::Id> ModelDraw::value_like(const TensorDesc& desc) {
  std::vector<Id> fitting;
  for (Id id = 0; id < values_.size(); ++id)
    if (values_[id].exactness != Exactness::kWild && is_static(values_[id].desc.shape) &&
        values_[id].desc.dtype == desc.dtype && values_[id].desc.shape.size() == desc.shape.size())
      fitting.push_back(id);
  if (fitting.empty()) return {};
  return pick(fitting);
}

ModelDraw::Id ModelDraw::pass_on(Id id) {
  // What is too large for other nodes as well.
  append("Identity", {id}, {}, {TensorDesc(values_[id].desc)}, Exactness::kExact);
  return values_.size() - 1;
}

void ModelDraw::add_with_bodies(const std::string& type, const std::vector<Id>& inputs,
                                const reference::Attrs& attrs,
                                const std::vector<std::pair<std::string, const ModelDraw*>>& bodies,
                                std::vector<DrawnValue> outputs) {
  onnx::NodeProto& node = *model_.mutable_graph()->add_node();
  node.set_name(prefix_ + "n" + std::to_string(nodes() - 1));
  node.set_op_type(type);
  for (const auto& [name, attr] : attrs.all()) *node.add_attribute() = attribute_of(name, attr);
  for (const auto& [name, body] : bodies) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    *attribute.mutable_g() = body->model_.graph();
  }
  for (const Id id : inputs) {
    node.add_input(id == kAbsent ? "" : values_[id].name);
    if (id != kAbsent) is_read_[id] = true;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].name = node.name() + "_" + std::to_string(i);
    node.add_output(outputs[i].name);
    keep(std::move(outputs[i]));
  }
}

void ModelDraw::give_out(const DrawnValue& value) {
  const bool has_shape = is_static(value.desc.shape) && !one_in(3);
  *model_.mutable_graph()->add_output() = info_of(value, has_shape);
}

onnx::ModelProto ModelDraw::finish() {
  std::set<std::string> inputs;
  for (const auto& input : model_.graph().input()) inputs.insert(input.name());
  for (Id id = 0; id < values_.size(); ++id) {
    if (!is_tensor(values_[id])) continue;
    const bool is_result = !values_[id].constant && !inputs.contains(values_[id].name);
    const bool is_wanted = is_read_[id] ? one_in(8) : !one_in(8);
    if (is_result ? is_wanted : one_in(12)) give_out(values_[id]);
  }
  if (model_.graph().output_size() == 0 && nodes() > 0 && is_tensor(values_.back()))
    give_out(values_.back());
  return model_;
}

onnx::ModelProto random_onnx(std::uint32_t seed) {
  ModelDraw draw(seed);
  const std::int64_t wanted = draw.between(1, 6);
  for (int attempts = 0; draw.nodes() < wanted && attempts < 100; ++attempts) add_random_node(draw);
  return draw.finish();
}

}  // namespace aoe::tests
