// Reads node tests: TensorProto files into Constants, and compares tensors as ONNX's own runner
// does.
#include "tests/conformance/node_case.h"

#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text_pool.h"
#include "graph/import/small_types.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/tensors/widen.h"

namespace aoe::conformance {
namespace {

namespace fs = std::filesystem;

template <typename Proto>
Proto parse_proto(const fs::path& path) {
  Proto proto;
  if (!proto.ParseFromString(read_file(path, ExitCode::kData))) {
    throw Error(ExitCode::kData, "is not a " + proto.GetTypeName(), path.string());
  }
  return proto;
}

/// Typed fields hold elements widened to the field's type: back to `Element`, the stored one.
template <typename Element, typename Field>
std::string narrow(const Field& field) {
  std::string bytes(static_cast<std::size_t>(field.size()) * sizeof(Element), '\0');
  for (int i = 0; i < field.size(); ++i) {
    const auto element = static_cast<Element>(field[i]);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(Element), &element,
                sizeof(Element));
  }
  return bytes;
}

std::string bytes_of(const onnx::TensorProto& proto, DataType dtype) {
  if (proto.has_raw_data()) return proto.raw_data();
  switch (dtype) {
    case DataType::kFloat:
      return narrow<float>(proto.float_data());
    case DataType::kDouble:
      return narrow<double>(proto.double_data());
    case DataType::kInt64:
      return narrow<std::int64_t>(proto.int64_data());
    case DataType::kUint64:
      return narrow<std::uint64_t>(proto.uint64_data());
    case DataType::kUint32:
      return narrow<std::uint32_t>(proto.uint64_data());
    default:
      break;
  }
  switch (size_bytes(dtype)) {
    case 1:
      return narrow<std::uint8_t>(proto.int32_data());
    case 2:
      return narrow<std::uint16_t>(proto.int32_data());
    default:
      return narrow<std::int32_t>(proto.int32_data());
  }
}

ConstantPtr places_of(const onnx::TensorProto& proto, const Shape& shape, TextPool& pool) {
  std::vector<std::int64_t> places;
  for (const std::string& text : proto.string_data()) places.push_back(pool.place_of(text));
  return std::make_shared<Constant>(TensorDesc{.dtype = DataType::kInt64, .shape = shape},
                                    places.data());
}

ConstantPtr tensor_of(const onnx::TensorProto& proto, int declared, const std::string& path,
                      TextPool& pool) {
  const Shape shape(proto.dims().begin(), proto.dims().end());
  if (proto.data_type() == onnx::TensorProto::STRING) {
    if (proto.string_data_size() != element_count(shape))
      throw Error(ExitCode::kData, std::to_string(proto.string_data_size()) + " texts", path);
    return places_of(proto, shape, pool);
  }
  if (const graph::SmallType* small = graph::small_type(declared)) {
    const std::string packed =
        proto.has_raw_data() ? proto.raw_data() : narrow<std::uint8_t>(proto.int32_data());
    if (packed.size() != small->packed_bytes(element_count(shape)))
      throw Error(ExitCode::kData, std::to_string(packed.size()) + " bytes", path);
    return graph::unpacked(*small, shape, packed);
  }
  // The model's word counts: files of bfloat16 call themselves uint16.
  const auto dtype = reference::data_type_from_onnx(declared);
  const TensorDesc desc{.dtype = dtype, .shape = shape};
  const std::string bytes = bytes_of(proto, desc.dtype);
  if (bytes.size() != storage_bytes(desc))
    throw Error(ExitCode::kData, std::to_string(bytes.size()) + " bytes for " + to_string(desc),
                path);
  return std::make_shared<Constant>(desc, bytes.data());
}

/// The tensors that a file holds for a value of this type: those of a sequence in their order.
std::vector<ConstantPtr> load_value(const fs::path& path, const onnx::TypeProto& type,
                                    TextPool& pool) {
  const auto sequence = [&](const onnx::SequenceProto& proto, const onnx::TypeProto& of) {
    std::vector<ConstantPtr> tensors;
    for (const onnx::TensorProto& tensor : proto.tensor_values())
      tensors.push_back(tensor_of(tensor, of.tensor_type().elem_type(), path.string(), pool));
    return tensors;
  };
  if (type.has_sequence_type())
    return sequence(parse_proto<onnx::SequenceProto>(path), type.sequence_type().elem_type());
  if (!type.has_optional_type())
    return {tensor_of(parse_proto<onnx::TensorProto>(path), type.tensor_type().elem_type(),
                      path.string(), pool)};
  const auto optional = parse_proto<onnx::OptionalProto>(path);
  const onnx::TypeProto& held = type.optional_type().elem_type();
  if (held.has_sequence_type() && optional.has_sequence_value())
    return sequence(optional.sequence_value(), held.sequence_type().elem_type());
  if (!optional.has_tensor_value())
    throw Error(ExitCode::kData, "is an optional that holds nothing", path.string());
  return {tensor_of(optional.tensor_value(), held.tensor_type().elem_type(), path.string(), pool)};
}

/// Of a tensor whose size the model leaves open.
bool has_open_shape(const onnx::TypeProto& type) {
  return type.has_tensor_type() &&
         std::ranges::any_of(type.tensor_type().shape().dim(),
                             [](const auto& dim) { return !dim.has_dim_value(); });
}

bool is_sequence(const onnx::TypeProto& type) {
  return type.has_sequence_type() ||
         (type.has_optional_type() && type.optional_type().elem_type().has_sequence_type());
}

/// bfloat16 has 8 bits: a unit in the last place is more than ONNX's 1e-3, and its data were cut where we round. Of
/// float16 it is 1e-3, and composite operators round between their parts, sums near zero included.
double relative_tolerance(DataType dtype) {
  if (dtype == DataType::kBFloat16) return 0x1p-7;
  return dtype == DataType::kFloat16 ? 0x1p-9 : 1e-3;
}

double absolute_tolerance(DataType dtype) {
  return dtype == DataType::kFloat16 ? 0x1p-13 : 1e-7;
}

bool is_close(double expected, double actual, double relative, double absolute) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) == std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::abs(actual - expected) <= absolute + relative * std::abs(expected);
}

/// Names the first element that differs; empty when none does.
template <typename Value, typename Equal>
std::string first_difference(const std::vector<Value>& expected, const std::vector<Value>& actual,
                             Equal equal) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (equal(expected[i], actual[i])) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(actual[i]) + ", expected " +
           std::to_string(expected[i]);
  }
  return {};
}

}  // namespace

bool is_newer_onnx() {
  return std::getenv("AOE_ONNX_DATA") != nullptr;
}

fs::path case_directory(const std::string& set) {
  const char* given = std::getenv("AOE_ONNX_DATA");
  return fs::path(given != nullptr ? given
                                   : "/usr/lib/python3/dist-packages/onnx/backend/test/data") /
         set;
}

std::vector<std::string> case_names(const std::string& set) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(case_directory(set), error)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  if (names.empty()) {
    throw Error(ExitCode::kData, "the ONNX tests are not there", case_directory(set).string(),
                "install the Debian package libonnx-testdata");
  }
  std::sort(names.begin(), names.end());
  return names;
}

NodeCase load_node_case(const std::string& set, const std::string& name) {
  const fs::path directory = case_directory(set) / name;
  NodeCase node_case{.name = name, .model = directory / "model.onnx", .inputs = {}, .outputs = {}};
  const auto graph = parse_proto<onnx::ModelProto>(node_case.model).graph();
  TextPool pool;
  const auto load = [&](const onnx::ValueInfoProto& info, const std::string& file) {
    return load_value(directory / "test_data_set_0" / file, info.type(), pool);
  };
  std::set<std::string> initialized;  // up to IR version 3 initializers are inputs, too
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  int file = 0;
  for (const onnx::ValueInfoProto& info : graph.input()) {
    if (initialized.contains(info.name())) continue;
    const auto tensors = load(info, "input_" + std::to_string(file++) + ".pb");
    node_case.inputs.insert(node_case.inputs.end(), tensors.begin(), tensors.end());
    if (has_open_shape(info.type())) node_case.input_shapes[info.name()] = tensors[0]->desc().shape;
    if (!is_sequence(info.type())) continue;
    if (tensors.empty()) node_case.input_shapes[info.name()] = {};
    for (std::size_t i = 0; i < tensors.size(); ++i)
      node_case.input_shapes[info.name() + "[" + std::to_string(i) + "]"] =
          tensors[i]->desc().shape;
  }
  for (int i = 0; i < graph.output_size(); ++i)
    for (ConstantPtr& tensor : load(graph.output(i), "output_" + std::to_string(i) + ".pb"))
      node_case.outputs.push_back(std::move(tensor));
  node_case.texts.assign(pool.added().begin(), pool.added().end());
  return node_case;
}

NodeCase opened(NodeCase node_case, const fs::path& model) {
  auto proto = parse_proto<onnx::ModelProto>(node_case.model);
  onnx::GraphProto& graph = *proto.mutable_graph();
  std::set<std::string> initialized;
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  int dims = 0;
  const auto open = [&](onnx::ValueInfoProto& info) {
    if (!info.type().has_tensor_type()) return;
    onnx::TensorShapeProto& shape = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (auto& dim : *shape.mutable_dim()) dim.set_dim_param("open" + std::to_string(++dims));
  };
  for (onnx::ValueInfoProto& info : *graph.mutable_input()) {
    if (initialized.contains(info.name()) || !info.type().has_tensor_type()) continue;
    open(info);
    const auto rank = static_cast<std::size_t>(info.type().tensor_type().shape().dim_size());
    if (rank > 0) node_case.input_shapes[info.name()] = Shape(rank, kUnknownDim);
  }
  for (onnx::ValueInfoProto& info : *graph.mutable_output()) open(info);
  graph.clear_value_info();
  write_file_atomically(model, proto.SerializeAsString());
  node_case.model = model;
  return node_case;
}

std::string difference(const Tensor& expected, const Tensor& actual) {
  if (expected.desc.dtype != actual.desc.dtype || expected.desc.shape != actual.desc.shape) {
    return "it is " + to_string(actual.desc) + ", expected " + to_string(expected.desc);
  }
  if (is_floating(expected.desc.dtype)) {
    const double relative = relative_tolerance(expected.desc.dtype),
                 absolute = absolute_tolerance(expected.desc.dtype);
    return first_difference(reference::to_doubles(expected), reference::to_doubles(actual),
                            [=](double e, double a) { return is_close(e, a, relative, absolute); });
  }
  return first_difference(reference::to_int64s(expected), reference::to_int64s(actual),
                          std::equal_to<>());
}

}  // namespace aoe::conformance
