// Every text of a model that its tensors may hold, each at a place of its own: what tensors of texts hold are the places.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace aoe::graph {

class TextTable {
 public:
  /// A text that is new gets the next place. Throws Error(kModel) where it is not UTF-8.
  std::int64_t place_of(const std::string& text);
  std::vector<std::int64_t> places_of(const std::vector<std::string>& texts);
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::vector<std::string> list_;
  std::unordered_map<std::string, std::int64_t> places_;
};

}  // namespace aoe::graph
