// Every text of a model that its tensors may hold, each at a place of its own: what tensors of texts hold are the places.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/text_pool.h"

namespace aoe::graph {

class TextTable {
 public:
  /// A text that is new gets the next place. Throws Error(kModel) where it is not UTF-8.
  std::int64_t place_of(const std::string& text);
  std::vector<std::int64_t> places_of(const std::vector<std::string>& texts);
  /// What `compute` does, operators of this thread look up here, and add to. Where it throws, or adds what is not UTF-8,
  /// nothing is added.
  void during(const std::function<void()>& compute);
  std::vector<std::string> list() const { return {pool_.added().begin(), pool_.added().end()}; }

 private:
  TextPool pool_;
};

}  // namespace aoe::graph
