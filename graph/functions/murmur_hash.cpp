// MurmurHash3 of com.microsoft, of numbers: the 32-bit hash of each one's bytes.
#include "graph/import/function_call.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {
namespace {

/// Elements of uint32, whose products and sums wrap.
struct Words {
  FunctionCall& call;

  Term word(std::uint32_t value) const { return call.number(value, DataType::kUint32); }
  Term shifted(Term a, std::uint32_t by, const char* direction) const {
    reference::Attrs attrs;
    attrs.set("direction", std::string(direction));
    return call.op("BitShift", {a, word(by)}, attrs);
  }
  Term rotated(Term a, std::uint32_t left) const {
    return call.op("BitwiseOr", {shifted(a, left, "LEFT"), shifted(a, 32 - left, "RIGHT")});
  }
  Term either(Term a, Term b) const { return call.op("BitwiseXor", {a, b}); }
  Term folded(Term a, std::uint32_t by) const { return either(a, shifted(a, by, "RIGHT")); }
  Term times(Term a, std::uint32_t factor) const { return a * word(factor); }
};

Term as_bits(FunctionCall& call, Term value, DataType dtype) {
  reference::Attrs attrs;
  attrs.set("to", reference::onnx_number(dtype));
  return call.op("BitCast", {value}, attrs);
}

/// The words of each key, the lowest first.
std::vector<Term> words_of_keys(FunctionCall& call, Term keys) {
  const auto low = [&](Term value) { return call.cast(value, DataType::kUint32); };
  switch (call.dtype(keys)) {
    case DataType::kInt32:
    case DataType::kUint32:
      return {low(keys)};
    case DataType::kFloat:
      return {as_bits(call, keys, DataType::kUint32)};
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kDouble: {
      const Term all = call.dtype(keys) == DataType::kDouble
                           ? as_bits(call, keys, DataType::kUint64)
                           : call.cast(keys, DataType::kUint64);
      reference::Attrs right;
      right.set("direction", std::string("RIGHT"));
      return {low(all), low(call.op("BitShift", {all, call.number(32, DataType::kUint64)}, right))};
    }
    default:
      throw NotExpressible{"its keys have another type than 32 or 64 bits"};
  }
}

void expand_murmur_hash(FunctionCall& call) {
  const Words words{call};
  const std::vector<Term> keys = words_of_keys(call, call.input(0));
  Term hash = words.word(static_cast<std::uint32_t>(call.attrs().get_int("seed", 0)));
  for (const Term key : keys) {
    const Term mixed = words.times(words.rotated(words.times(key, 0xcc9e2d51U), 15), 0x1b873593U);
    hash = words.rotated(words.either(hash, mixed), 13);
    hash = words.times(hash, 5) + words.word(0xe6546b64U);
  }
  hash = words.either(hash, words.word(static_cast<std::uint32_t>(4 * keys.size())));
  hash = words.times(words.folded(hash, 16), 0x85ebca6bU);
  hash = words.times(words.folded(hash, 13), 0xc2b2ae35U);
  hash = words.folded(hash, 16);
  call.give(0, call.attrs().get_int("positive", 1) != 0 ? hash : call.cast(hash, DataType::kInt32));
}

}  // namespace

void register_murmur_hash(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "MurmurHash3", expand_murmur_hash});
}

}  // namespace aoe::graph
