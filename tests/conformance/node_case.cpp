// Reads node tests: TensorProto files into Constants, and compares tensors as ONNX's own runner
// does.
#include "tests/conformance/node_case.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "reference/onnx_data_type.h"
#include "reference/widen.h"

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

ConstantPtr load_tensor(const fs::path& path, const onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type()) {
    throw Error(ExitCode::kData, "value " + info.name() + " is not a tensor", path.string());
  }
  const auto proto = parse_proto<onnx::TensorProto>(path);
  if (proto.data_type() == onnx::TensorProto::STRING) {
    throw Error(ExitCode::kData, "value " + info.name() + " is a tensor of strings", path.string());
  }
  // The model's word counts: files of bfloat16 call themselves uint16.
  const auto dtype = reference::data_type_from_onnx(info.type().tensor_type().elem_type());
  const TensorDesc desc{.dtype = dtype, .shape = Shape(proto.dims().begin(), proto.dims().end())};
  const std::string bytes = bytes_of(proto, desc.dtype);
  if (bytes.size() != storage_bytes(desc)) {
    throw Error(ExitCode::kData, std::to_string(bytes.size()) + " bytes for " + to_string(desc),
                path.string());
  }
  return std::make_shared<Constant>(desc, bytes.data());
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

fs::path node_test_directory() {
  return "/usr/lib/python3/dist-packages/onnx/backend/test/data/node";
}

std::vector<std::string> node_case_names() {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(node_test_directory(), error)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  if (names.empty()) {
    throw Error(ExitCode::kData, "the ONNX node tests are not there",
                node_test_directory().string(), "install the Debian package libonnx-testdata");
  }
  std::sort(names.begin(), names.end());
  return names;
}

NodeCase load_node_case(const std::string& name) {
  const fs::path directory = node_test_directory() / name;
  NodeCase node_case{.name = name, .model = directory / "model.onnx", .inputs = {}, .outputs = {}};
  const auto graph = parse_proto<onnx::ModelProto>(node_case.model).graph();
  const auto load_all = [&](const auto& infos, const std::string& prefix) {
    std::vector<ConstantPtr> tensors;
    for (int i = 0; i < infos.size(); ++i) {
      const std::string file = prefix + std::to_string(i) + ".pb";
      tensors.push_back(load_tensor(directory / "test_data_set_0" / file, infos[i]));
    }
    return tensors;
  };
  node_case.inputs = load_all(graph.input(), "input_");
  node_case.outputs = load_all(graph.output(), "output_");
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
