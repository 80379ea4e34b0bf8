// The buffers of the interpreter of loop nests (loopnest_eval.h): elements of all types, none outside its buffer.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/check.h"
#include "tests/compiler/loopnest_eval.h"
#include "tests/compiler/loopnest_lanes.h"

namespace aoe::compiler::loopnest {

class EvalMemory {
 public:
  /// `buffers` are those of the ABI, in their order; the function's scratch is here.
  EvalMemory(const Function& function, std::span<const EvalBuffer> buffers)
      : function_(function),
        scratch_(static_cast<std::size_t>(function.scratch_bytes) / sizeof(float)) {
    std::size_t next = 0;
    for (const BufferDecl& decl : function.buffers) {
      if (decl.scratch_offset < 0) {
        buffers_.push_back(buffers[next++]);
        continue;
      }
      const auto offset = static_cast<std::size_t>(decl.scratch_offset) / sizeof(float);
      const std::size_t bytes = (scratch_.size() - offset) * sizeof(float);
      buffers_.push_back({.data = scratch_.data() + offset,
                          .elements = static_cast<std::int64_t>(bytes) / decl.elements.bytes()});
    }
  }
  /// An element as it lies; or number `part` of a word.
  template <typename T>
  T& element(int id, std::int64_t index, std::int64_t part = 0) {
    const EvalBuffer& buffer = buffers_[static_cast<std::size_t>(id)];
    if (index < 0 || index >= buffer.elements) {
      throw std::out_of_range(decl(id).name + "[" + std::to_string(index) + "] of " +
                              std::to_string(buffer.elements));
    }
    const std::int64_t step = decl(id).elements.bytes() / static_cast<std::int64_t>(sizeof(T));
    return static_cast<T*>(buffer.data)[index * step + part];
  }

  template <typename T>
  T load(int id, std::int64_t index) {
    switch (decl(id).elements.dtype) {
      case DataType::kFloat:
        return static_cast<T>(element<float>(id, index));
      case DataType::kDouble:
        return static_cast<T>(element<double>(id, index));
      case DataType::kInt8:
        return element<std::int8_t>(id, index);
      case DataType::kUint8:
        return element<std::uint8_t>(id, index);
      case DataType::kInt32:
        return static_cast<T>(element<std::int32_t>(id, index));
      case DataType::kInt64:
        return static_cast<T>(element<std::int64_t>(id, index));
      case DataType::kBFloat16: {
        const std::uint32_t bits = std::uint32_t{element<std::uint16_t>(id, index)} << 16;
        return static_cast<T>(std::bit_cast<float>(bits));
      }
      default:
        AOE_CHECK(false, "element type without interpreter");
    }
  }

  std::int64_t load_index(int id, std::int64_t index) {
    switch (decl(id).elements.dtype) {
      case DataType::kInt32:
        return element<std::int32_t>(id, index);
      case DataType::kInt64:
        return element<std::int64_t>(id, index);
      default:
        AOE_CHECK(false, "index type without interpreter");
    }
  }

  template <typename T>
  void store(int id, std::int64_t index, T value) {
    switch (decl(id).elements.dtype) {
      case DataType::kFloat:
        element<float>(id, index) = converted<float>(value);
        return;
      case DataType::kDouble:
        element<double>(id, index) = converted<double>(value);
        return;
      case DataType::kInt8:
        element<std::int8_t>(id, index) = converted<std::int8_t>(value);
        return;
      case DataType::kUint8:
        element<std::uint8_t>(id, index) = converted<std::uint8_t>(value);
        return;
      case DataType::kInt16:
        element<std::int16_t>(id, index) = static_cast<std::int16_t>(value);  // its low half
        return;
      case DataType::kInt32:
        element<std::int32_t>(id, index) = converted<std::int32_t>(value);
        return;
      case DataType::kInt64:
        element<std::int64_t>(id, index) = converted<std::int64_t>(value);
        return;
      default:
        AOE_CHECK(false, "element type without interpreter");
    }
  }

 private:
  const BufferDecl& decl(int id) const { return function_.buffers[static_cast<std::size_t>(id)]; }

  const Function& function_;
  std::vector<EvalBuffer> buffers_;  ///< by buffer id
  std::vector<float> scratch_;
};

}  // namespace aoe::compiler::loopnest
