// Reading and writing packed sequences. Tested by tests/reference/packed_sequence_test.cpp.
#include "reference/packed_sequence.h"

#include <cstring>

#include "base/ceil_div.h"
#include "base/size.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/fail.h"

namespace aoe::reference {
namespace {

constexpr std::size_t kWord = sizeof(std::int64_t);

std::size_t padded(std::size_t bytes) {
  return round_up(bytes, kWord);
}

class Reader {
 public:
  explicit Reader(const Tensor& bytes) : at_(bytes.as<char>()), left_(storage_bytes(bytes.desc)) {}

  std::int64_t number() {
    std::int64_t value = 0;
    std::memcpy(&value, take(kWord), kWord);
    return value;
  }
  char* take(std::size_t bytes) {
    if (bytes > left_) fail_model("a packed sequence ends too early");
    char* const taken = at_;
    at_ += bytes;
    left_ -= bytes;
    return taken;
  }
  std::size_t left() const { return left_; }

 private:
  char* at_;
  std::size_t left_;
};

}  // namespace

std::vector<Tensor> unpacked_items(const Tensor& sequence) {
  if (sequence.desc.dtype != DataType::kUint8 || sequence.desc.shape.size() != 1)
    fail_model(to_string(sequence.desc) + " is no packed sequence");
  Reader reader(sequence);
  std::vector<Tensor> items;
  for (std::int64_t left = reader.number(); left > 0; --left) {
    TensorDesc desc{.dtype = data_type_from_onnx(reader.number())};
    for (std::int64_t rank = reader.number(); rank > 0; --rank)
      desc.shape.push_back(reader.number());
    if (!is_static(desc.shape)) fail_model("an item of a packed sequence has no size");
    check_size(desc, "an item of a packed sequence");
    items.push_back({desc, reader.take(padded(storage_bytes(desc)))});
  }
  if (reader.left() > 0) fail_model("a packed sequence goes on behind its last item");
  return items;
}

TensorDesc packed_desc(std::span<const Tensor> items) {
  std::size_t bytes = kWord;
  for (const Tensor& item : items)
    bytes += (2 + item.desc.shape.size()) * kWord + padded(storage_bytes(item.desc));
  return {.dtype = DataType::kUint8, .shape = {static_cast<std::int64_t>(bytes)}};
}

void pack_items(std::span<const Tensor> items, const Tensor& to) {
  char* at = to.as<char>();
  const auto write = [&](std::int64_t number) {
    std::memcpy(at, &number, kWord);
    at += kWord;
  };
  write(std::ssize(items));
  for (const Tensor& item : items) {
    write(onnx_number(item.desc.dtype));
    write(std::ssize(item.desc.shape));
    for (const std::int64_t dim : item.desc.shape) write(dim);
    const std::size_t bytes = storage_bytes(item.desc);
    if (bytes > 0) std::memcpy(at, item.data, bytes);
    std::memset(at + bytes, 0, padded(bytes) - bytes);
    at += padded(bytes);
  }
}

}  // namespace aoe::reference
