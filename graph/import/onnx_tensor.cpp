// TensorProto -> Constant: raw bytes, typed fields, external files, sparse tensors.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/to_number.h"
#include "graph/import/onnx_proto.h"
#include "graph/import/small_types.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const std::string& tensor, const std::string& what) {
  throw Error(ExitCode::kModel, what, "tensor '" + tensor + "'");
}

void check_shape(const std::string& tensor, const TensorDesc& desc) {
  for (const std::int64_t dim : desc.shape)
    if (dim < 0) fail(tensor, "has a negative dimension: " + std::to_string(dim));
  check_size(desc, "tensor '" + tensor + "'");
}

/// dtype and shape, with every number checked: a damaged file must not make us allocate terabytes.
TensorDesc desc_of(const onnx::TensorProto& tensor) {
  TensorDesc desc;
  try {
    const SmallType* small = small_type(tensor.data_type());
    desc.dtype =
        small != nullptr ? small->held : reference::data_type_from_onnx(tensor.data_type());
  } catch (const Error& error) {
    fail(tensor.name(), error.what());
  }
  desc.shape.assign(tensor.dims().begin(), tensor.dims().end());
  check_shape(tensor.name(), desc);
  return desc;
}

void check_count(const onnx::TensorProto& tensor, const TensorDesc& desc, std::int64_t count) {
  const std::int64_t expected = element_count(desc.shape);
  if (count != expected)
    fail(tensor.name(), "holds " + std::to_string(count) + " elements, its shape " +
                            to_string(desc.shape) + " needs " + std::to_string(expected));
}

/// bool is stored as one byte that must be 0 or 1; files may hold others.
void normalize_bools(Constant& constant) {
  if (constant.desc().dtype != DataType::kBool) return;
  auto* bytes = static_cast<unsigned char*>(constant.mutable_data());
  for (std::size_t i = 0; i < constant.size_bytes(); ++i) bytes[i] = bytes[i] != 0;
}

std::shared_ptr<Constant> from_bytes(const onnx::TensorProto& tensor, const TensorDesc& desc,
                                     const std::string& bytes) {
  if (bytes.size() != storage_bytes(desc))
    fail(tensor.name(), "holds " + std::to_string(bytes.size()) + " bytes, " +
                            std::string(name(desc.dtype)) + " " + to_string(desc.shape) +
                            " needs " + std::to_string(storage_bytes(desc)));
  auto constant = std::make_shared<Constant>(desc, bytes.data());
  normalize_bools(*constant);
  return constant;
}

template <typename T, typename Field>
std::shared_ptr<Constant> from_field(const onnx::TensorProto& tensor, const TensorDesc& desc,
                                     const Field& field) {
  check_count(tensor, desc, field.size());
  auto constant = std::make_shared<Constant>(desc);
  T* to = static_cast<T*>(constant->mutable_data());
  for (const auto value : field) *to++ = static_cast<T>(value);
  normalize_bools(*constant);
  return constant;
}

std::shared_ptr<Constant> from_fields(const onnx::TensorProto& tensor, const TensorDesc& desc) {
  switch (desc.dtype) {
    case DataType::kFloat:
      return from_field<float>(tensor, desc, tensor.float_data());
    case DataType::kDouble:
      return from_field<double>(tensor, desc, tensor.double_data());
    case DataType::kInt64:
      return from_field<std::int64_t>(tensor, desc, tensor.int64_data());
    case DataType::kUint64:
      return from_field<std::uint64_t>(tensor, desc, tensor.uint64_data());
    case DataType::kUint32:
      return from_field<std::uint32_t>(tensor, desc, tensor.uint64_data());
    case DataType::kInt32:
      return from_field<std::int32_t>(tensor, desc, tensor.int32_data());
    case DataType::kInt16:
      return from_field<std::int16_t>(tensor, desc, tensor.int32_data());
    case DataType::kInt8:
      return from_field<std::int8_t>(tensor, desc, tensor.int32_data());
    case DataType::kBool:
    case DataType::kUint8:
      return from_field<std::uint8_t>(tensor, desc, tensor.int32_data());
    case DataType::kUint16:
    case DataType::kFloat16:  // 16 bits of an int32 each
    case DataType::kBFloat16:
      return from_field<std::uint16_t>(tensor, desc, tensor.int32_data());
    default:
      fail(tensor.name(), "has element type " + std::string(name(desc.dtype)));
  }
}

/// The packed bytes of a small type, where they are not raw: one in each int32.
std::string packed_field(const onnx::TensorProto& tensor) {
  std::string bytes;
  for (const std::int32_t value : tensor.int32_data()) {
    if (value < -128 || value > 255)
      fail(tensor.name(), "holds " + std::to_string(value) + ", which is no byte");
    bytes.push_back(static_cast<char>(value));
  }
  return bytes;
}

std::shared_ptr<Constant> from_packed(const onnx::TensorProto& tensor, const SmallType& type,
                                      const Shape& shape, std::string_view bytes) {
  const std::size_t needed = type.packed_bytes(element_count(shape));
  if (bytes.size() != needed)
    fail(tensor.name(), "holds " + std::to_string(bytes.size()) + " bytes, " +
                            std::string(type.name) + " " + to_string(shape) + " needs " +
                            std::to_string(needed));
  return unpacked(type, shape, bytes);
}

struct ExternalPlace {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

std::uint64_t parse_size(const onnx::TensorProto& tensor, const std::string& key,
                         const std::string& text) {
  const auto value = to_number<std::uint64_t>(text);
  if (!value) fail(tensor.name(), "has external data with " + key + " '" + text + "'");
  return *value;
}

ExternalPlace place_of(const onnx::TensorProto& tensor) {
  ExternalPlace place;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") place.offset = parse_size(tensor, "offset", entry.value());
    if (entry.key() == "length") place.length = parse_size(tensor, "length", entry.value());
  }
  // A model is data from somewhere: it may name files beside itself, never others.
  const fs::path path = fs::path(place.location).lexically_normal();
  if (path.empty() || path.is_absolute() || *path.begin() == "..")
    fail(tensor.name(),
         "has external data at '" + place.location + "', which is not below the model's directory");
  return place;
}

/// The directory in which the model is named, and, where that name is a link, the one in which its file lies: caches of downloads
/// link model and data to files of other names, side by side.
std::vector<fs::path> directories_of(const fs::path& model) {
  std::error_code status;
  const fs::path named = model.has_parent_path() ? model.parent_path() : ".";
  std::vector<fs::path> directories = {fs::canonical(named, status)};
  const fs::path file = fs::canonical(model, status);
  if (!status && file.parent_path() != directories.front())
    directories.push_back(file.parent_path());
  return directories;
}

bool is_below(const fs::path& path, const fs::path& directory) {
  const fs::path inside = path.lexically_relative(directory);
  return !inside.empty() && *inside.begin() != "..";
}

/// Where the file really lies, which must be below one of the model's directories, too: links lead anywhere.
fs::path resolved(const onnx::TensorProto& tensor, const fs::path& model,
                  const std::string& location) {
  const std::vector<fs::path> directories = directories_of(model);
  std::error_code status;
  fs::path path = fs::canonical(directories.front() / location, status);
  if (status && directories.size() > 1) path = fs::canonical(directories.back() / location, status);
  if (status)
    fail(tensor.name(), "external data " + (model.parent_path() / location).string() +
                            " cannot be read: " + status.message());
  if (std::ranges::none_of(directories, [&](const fs::path& each) { return is_below(path, each); }))
    fail(tensor.name(), "has external data at '" + location + "', a link to " + path.string() +
                            ", which is not below the model's directory; copy what the links lead "
                            "to beside the model (cp -L)");
  if (!fs::is_regular_file(path, status))
    fail(tensor.name(), "has external data at '" + location + "', which is not a regular file");
  return path;
}

}  // namespace

std::string TensorReader::external_bytes(const onnx::TensorProto& tensor,
                                         std::size_t expected_bytes) const {
  const ExternalPlace place = place_of(tensor);
  const fs::path path = resolved(tensor, model_, place.location);
  std::error_code status;
  const std::uint64_t file_bytes = fs::file_size(path, status);
  if (status)
    fail(tensor.name(), "external data " + path.string() + " cannot be read: " + status.message());
  if (place.length.value_or(expected_bytes) != expected_bytes)
    fail(tensor.name(), "has " + std::to_string(*place.length) +
                            " bytes of external data and needs " + std::to_string(expected_bytes));
  if (place.offset > file_bytes || expected_bytes > file_bytes - place.offset)
    fail(tensor.name(), "needs bytes " + std::to_string(place.offset) + " to " +
                            std::to_string(place.offset + expected_bytes) + " of " + path.string() +
                            ", which has " + std::to_string(file_bytes));
  check_memory(expected_bytes, "tensor '" + tensor.name() + "' in " + path.string());
  std::string bytes(expected_bytes, '\0');
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(place.offset));
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!in) fail(tensor.name(), "external data " + path.string() + " cannot be read");
  return bytes;
}

ConstantPtr TensorReader::read_texts(const onnx::TensorProto& tensor) const {
  const TensorDesc desc{.dtype = DataType::kInt64,
                        .shape = {tensor.dims().begin(), tensor.dims().end()}};
  check_shape(tensor.name(), desc);
  check_count(tensor, desc, tensor.string_data_size());
  auto constant = std::make_shared<Constant>(desc);
  auto* to = static_cast<std::int64_t*>(constant->mutable_data());
  try {
    for (const std::string& text : tensor.string_data()) *to++ = texts_.place_of(text);
  } catch (const Error& error) {
    fail(tensor.name(), error.what());
  }
  return constant;
}

ConstantPtr TensorReader::read(const onnx::TensorProto& tensor) const {
  if (tensor.data_type() == onnx::TensorProto::STRING) return read_texts(tensor);
  const TensorDesc desc = desc_of(tensor);
  if (tensor.has_segment()) fail(tensor.name(), "is stored in segments, which is not supported");
  const bool is_external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
  if (const SmallType* small = small_type(tensor.data_type())) {
    if (!is_external)
      return from_packed(tensor, *small, desc.shape,
                         tensor.has_raw_data() ? tensor.raw_data() : packed_field(tensor));
    const std::size_t bytes = small->packed_bytes(element_count(desc.shape));
    return from_packed(tensor, *small, desc.shape, external_bytes(tensor, bytes));
  }
  if (is_external) return from_bytes(tensor, desc, external_bytes(tensor, storage_bytes(desc)));
  if (tensor.has_raw_data()) return from_bytes(tensor, desc, tensor.raw_data());
  return from_fields(tensor, desc);
}

ConstantPtr TensorReader::read(const onnx::SparseTensorProto& sparse) const {
  const std::string& tensor = sparse.values().name();
  if (sparse.values().data_type() == onnx::TensorProto::STRING)
    fail(tensor, "is a sparse tensor of texts, which is not supported");
  if (const SmallType* small = small_type(sparse.values().data_type()))
    fail(tensor, "is a sparse tensor of " + std::string(small->name) + ", which is not supported");
  const ConstantPtr values = read(sparse.values());
  const ConstantPtr indices = read(sparse.indices());
  TensorDesc desc{.dtype = values->desc().dtype,
                  .shape = {sparse.dims().begin(), sparse.dims().end()}};
  check_shape(tensor, desc);
  budget_.add_bytes(storage_bytes(desc), "tensor '" + tensor + "'");
  const std::int64_t count = element_count(values->desc().shape);
  const std::int64_t rank = static_cast<std::int64_t>(desc.shape.size());
  const bool is_linear = indices->desc().shape == Shape{count};
  if (indices->desc().dtype != DataType::kInt64 ||
      (!is_linear && indices->desc().shape != Shape{count, rank}))
    fail(tensor,
         "has indices " + to_string(indices->desc()) + " for " + std::to_string(count) + " values");

  auto dense = std::make_shared<Constant>(desc);
  const auto* index = static_cast<const std::int64_t*>(indices->data());
  const std::size_t size = size_bytes(desc.dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = is_linear ? index[i] : 0;
    bool is_inside = at >= 0 && at < element_count(desc.shape);
    for (std::int64_t d = 0; !is_linear && d < rank; ++d) {
      const std::int64_t coordinate = index[i * rank + d];
      is_inside = is_inside && coordinate >= 0 && coordinate < desc.shape[d];
      at = is_inside ? at * desc.shape[d] + coordinate : 0;
    }
    if (!is_inside) fail(tensor, "has an index outside of " + to_string(desc.shape));
    std::memcpy(static_cast<char*>(dense->mutable_data()) + at * size,
                static_cast<const char*>(values->data()) + i * size, size);
  }
  return dense;
}

}  // namespace aoe::graph
