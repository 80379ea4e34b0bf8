// The texts of a model. Tensors hold numbers: an input or output that is a tensor of texts has for each its place in
// the list, and for a text that stands nowhere in the model any other number, the same one for the same text.
#pragma once

#include <string>
#include <vector>

namespace aoe {

struct Texts {
  std::vector<std::string> list;             ///< UTF-8, each once
  std::vector<std::string> inputs, outputs;  ///< names of those that are texts

  bool empty() const { return inputs.empty() && outputs.empty(); }
  bool operator==(const Texts&) const = default;
};

}  // namespace aoe
