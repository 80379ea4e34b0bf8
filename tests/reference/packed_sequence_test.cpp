// Sequences in bytes: what is packed comes back, and bytes that are no sequence are refused.
#include "reference/packed_sequence.h"

#include <gtest/gtest.h>

#include "op_runner.h"

namespace aoe::reference {
namespace {

ConstantPtr packed(const std::vector<Tensor>& items) {
  auto bytes = std::make_shared<Constant>(packed_desc(items));
  pack_items(items, bytes->view());
  return bytes;
}

TEST(PackedSequence, GivesBackWhatWasPacked) {
  const ConstantPtr a = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = ints({}, {7}),
                    none = ints({0, 4}, {});
  const ConstantPtr bytes = packed({a->view(), b->view(), none->view()});
  const std::vector<Tensor> items = unpacked_items(bytes->view());
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].desc, a->desc());
  EXPECT_EQ(items[0].as<float>()[5], 6);
  EXPECT_EQ(items[1].desc, b->desc());
  EXPECT_EQ(*items[1].as<std::int64_t>(), 7);
  EXPECT_EQ(items[2].desc, none->desc());
  EXPECT_TRUE(unpacked_items(packed({})->view()).empty());
}

/// Each byte in turn is damaged, and the end cut off everywhere: refused, or a sequence within the bytes.
TEST(PackedSequence, NeverReadsBeyondTheBytes) {
  const ConstantPtr bytes =
      packed({floats({2, 3}, {1, 2, 3, 4, 5, 6})->view(), ints({1}, {7})->view()});
  const auto size = static_cast<std::int64_t>(bytes->size_bytes());
  int refused = 0;
  const auto try_it = [&](std::int64_t length, std::int64_t at, unsigned char value) {
    Constant damaged({.dtype = DataType::kUint8, .shape = {length}}, bytes->data());
    auto* data = static_cast<unsigned char*>(damaged.mutable_data());
    if (at < length) data[at] = value;
    try {
      for (const Tensor& item : unpacked_items(damaged.view())) {
        const char* const begin = item.as<char>();
        EXPECT_GE(begin, damaged.view().as<char>());
        EXPECT_LE(begin + storage_bytes(item.desc), damaged.view().as<char>() + length);
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kModel);
      ++refused;
    }
  };
  for (std::int64_t length = 0; length < size; ++length) try_it(length, length, 0);
  EXPECT_EQ(refused, size) << "what is cut off";
  for (std::int64_t at = 0; at < size; ++at)
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff})
      try_it(size, at, static_cast<unsigned char>(value));
  EXPECT_GT(refused, size);
}

TEST(PackedSequence, PlacesAreCountedFromBothEnds) {
  const ConstantPtr a = floats({1}, {1}), b = floats({1}, {2});
  const ConstantPtr both = packed({a->view(), b->view()});
  Attrs attrs;
  attrs.set("dtype", std::int64_t{1});
  attrs.set("rank", std::int64_t{1});
  const auto at = [&](std::int64_t place) {
    return run_checked({.type = "PackedAt", .attrs = attrs},
                       {both, ints({}, {static_cast<double>(place)})})[0]
        .values;
  };
  EXPECT_EQ(at(-1), std::vector<double>{2});
  EXPECT_EQ(at(0), std::vector<double>{1});
  EXPECT_THROW(at(2), Error);
  EXPECT_THROW(at(-3), Error);
  attrs.set("rank", std::int64_t{2});
  EXPECT_THROW(at(0), Error) << "an item of another rank than was told";
}

}  // namespace
}  // namespace aoe::reference
