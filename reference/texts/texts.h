// Tensors of texts: int64, whose elements are places in the TextPool of the thread that computes. Texts are UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text_pool.h"
#include "reference/op.h"

namespace aoe::reference {

/// Whether the operator looks texts up, or makes new ones: it needs a pool to run.
bool reads_texts(std::string_view ir_type);

/// The pool of this thread. Throws Error(kFailure) outside every TextPool::Scope.
TextPool& text_pool();

/// Whether shape inference can look letters up: the input's values are known, and so is what they stand for.
bool has_texts(const InferContext& context, std::size_t input);

/// The elements of a dense tensor; valid as long as the pool has them.
std::vector<const std::string*> texts_of(const Tensor& tensor);

/// Stores as many texts as the tensor has elements.
void store_texts(const std::vector<std::string>& texts, const Tensor& tensor);

/// Rows of texts, each filled up to the length of the longest.
struct TextRows {
  std::vector<std::vector<std::string>> rows;
  std::string filler = {};

  std::int64_t longest() const;
  void store(const Tensor& tensor) const;
};

inline bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}
std::size_t character_count(std::string_view text);
/// Behind the character that begins at `begin`.
std::size_t character_end(std::string_view text, std::size_t begin);

/// Bytes of a text: as many as the longest of the pool has, or a usual number where there is no pool.
double most_letters();
/// Steps of looking up, or adding, so many texts of so many letters each.
double steps_of_texts(double count, double letters);
/// Steps of compute() for operators that go through the letters of input 0.
double steps_through_letters(const CostContext& cost);

}  // namespace aoe::reference
