// Reading and writing .npy: a magic, a version, a Python dictionary as text, then the elements.
// The format: numpy.lib.format in NumPy's reference. Tested by tests/runtime/npy_test.cpp.
#include "runtime/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace aoe::runtime {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeName {
  DataType dtype;
  std::string_view descr;
};
/// The first row of a type is how it is written.
constexpr TypeName kTypeNames[] = {
    {DataType::kFloat, "<f4"},    {DataType::kDouble, "<f8"}, {DataType::kFloat16, "<f2"},
    {DataType::kBool, "|b1"},     {DataType::kInt8, "|i1"},   {DataType::kUint8, "|u1"},
    {DataType::kInt16, "<i2"},    {DataType::kUint16, "<u2"}, {DataType::kInt32, "<i4"},
    {DataType::kUint32, "<u4"},   {DataType::kInt64, "<i8"},  {DataType::kUint64, "<u8"},
    {DataType::kBFloat16, "<u2"},
};

std::string_view descr_of(DataType dtype) {
  for (const TypeName& row : kTypeNames)
    if (row.dtype == dtype) return row.descr;
  return {};
}

/// The header's dictionary, e.g. {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderText {
 public:
  HeaderText(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

  TensorDesc desc() const {
    if (value_of("fortran_order").starts_with("True"))
      refuse("is in Fortran order", "save it with numpy.ascontiguousarray()");
    TensorDesc desc;
    desc.dtype = dtype(quoted(value_of("descr")));
    desc.shape = shape(value_of("shape"));
    return desc;
  }

  [[noreturn]] void refuse(const std::string& what, const std::string& advice = {}) const {
    throw Error(ExitCode::kData, what, where_, advice);
  }

 private:
  std::string_view value_of(std::string_view key) const {
    const std::string quoted_key = "'" + std::string(key) + "'";
    std::size_t at = text_.find(quoted_key);
    if (at != std::string_view::npos) at = text_.find(':', at + quoted_key.size());
    if (at != std::string_view::npos) at = text_.find_first_not_of(' ', at + 1);
    if (at == std::string_view::npos) refuse("is damaged: its header has no " + quoted_key);
    return text_.substr(at);
  }

  std::string_view quoted(std::string_view value) const {
    const std::size_t end =
        value.empty() || value[0] != '\'' ? std::string_view::npos : value.find('\'', 1);
    if (end == std::string_view::npos) refuse("holds structured elements, not plain numbers");
    return value.substr(1, end - 1);
  }

  DataType dtype(std::string_view descr) const {
    // '|', '<' and '=' all mean "as this machine has it", for one byte or on little-endian machines.
    for (const TypeName& row : kTypeNames)
      if (descr.size() == 3 && descr[0] != '>' && descr.substr(1) == row.descr.substr(1))
        return row.dtype;
    refuse("has elements of type '" + std::string(descr) + "'",
           "convert it to a little-endian number type with numpy.astype()");
  }

  Shape shape(std::string_view value) const {
    const std::size_t end = value.find(')');
    if (value.empty() || value[0] != '(' || end == std::string_view::npos)
      refuse("is damaged: its shape is not a tuple");
    Shape dims;
    const char* at = value.data() + 1;
    const char* const last = value.data() + end;
    while (true) {
      while (at < last && (*at == ' ' || *at == ',')) ++at;
      if (at == last) return dims;
      std::int64_t dim = 0;
      const auto [next, status] = std::from_chars(at, last, dim);
      if (status != std::errc() || dim < 0) refuse("is damaged: its shape has no number");
      dims.push_back(dim);
      at = next;
    }
  }

  std::string_view text_;
  std::string where_;
};

struct Parts {
  std::string_view header;
  std::string_view elements;
};

Parts split(std::string_view file, const std::string& where) {
  const auto damaged = [&](const char* what) { throw Error(ExitCode::kData, what, where); };
  if (!file.starts_with(kMagic)) damaged("is not a .npy file");
  if (file.size() < 12) damaged("is truncated in its header");
  const int version = file[6];
  if (version < 1 || version > 3) damaged("has an unknown version of the .npy format");
  std::uint32_t header_bytes = 0;
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::memcpy(&header_bytes, file.data() + 8, length_bytes);
  const std::size_t begin = 8 + length_bytes;
  if (header_bytes > file.size() - begin) damaged("is truncated in its header");
  return {file.substr(begin, header_bytes), file.substr(begin + header_bytes)};
}

/// Without overflow, whatever the header claims.
bool has_elements(const TensorDesc& desc, std::size_t available_bytes) {
  std::uint64_t bytes = size_bytes(desc.dtype);
  for (const std::int64_t dim : desc.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes)) return false;
  return bytes == available_bytes;
}

}  // namespace

Constant read_npy(const std::filesystem::path& path) {
  const std::string file = read_file(path, ExitCode::kData);
  const Parts parts = split(file, path.string());
  const HeaderText header(parts.header, path.string());
  const TensorDesc desc = header.desc();
  if (!has_elements(desc, parts.elements.size()))
    header.refuse("has " + std::to_string(parts.elements.size()) +
                  " bytes of elements, which is not " + to_string(desc));
  return Constant(desc, parts.elements.data());
}

std::string npy_file_name(const std::string& tensor) {
  std::string file = tensor;
  std::ranges::replace_if(
      file, [](char c) { return c == '/' || c == ':'; }, '_');
  return file + ".npy";
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const std::string_view descr = descr_of(tensor.desc.dtype);
  if (descr.empty())
    throw Error(
        ExitCode::kOutput,
        "a tensor of " + std::string(name(tensor.desc.dtype)) + " cannot be written as .npy",
        path.string());
  std::string shape;
  for (const std::int64_t dim : tensor.desc.shape) shape += std::to_string(dim) + ", ";
  std::string header =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kPrefixBytes = 10;  // magic, version, length
  constexpr std::size_t kAlignment = 64;    // of the elements, so that they can be mapped
  const std::size_t unpadded = kPrefixBytes + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';

  const auto header_bytes = static_cast<std::uint16_t>(header.size());
  std::string file(kMagic);
  file += {1, 0, static_cast<char>(header_bytes & 0xff), static_cast<char>(header_bytes >> 8)};
  file += header;
  file.append(tensor.as<const char>(), storage_bytes(tensor.desc));
  write_file_atomically(path, file);
}

}  // namespace aoe::runtime
