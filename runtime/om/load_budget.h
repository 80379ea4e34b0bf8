// LoadBudget: what looking at the parts of one om file may take, before anything of it runs. A few kilobytes can hold a body
// that has two steps that run the same body, which has two steps that do; limits make a line of that. What the compiler writes
// stays far below.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "reference/op.h"

namespace aoe::runtime {

/// What is left: one for all gears of a file, and all bodies in it.
struct LoadBudget {
  /// Thrown beyond a limit; what() goes behind who is beyond it.
  struct Exceeded : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  /// Steps as of reference::work(), of compiling regular expressions: as many as an import has.
  double steps = 2e9;
  /// Of graph sections of bodies, each time a step runs them.
  std::size_t body_bytes = std::size_t{256} << 20;
  /// Of bodies within each other: as many as an import has of scopes.
  int depth = 64;

  /// Before they are compiled, which inference does. Throws Error where one is none.
  void take_expressions(const reference::OpCall& call);
  /// `file`: the whole body, which is looked through for its checksums.
  void take_body(std::string_view file, std::size_t graph_bytes);
};

}  // namespace aoe::runtime
