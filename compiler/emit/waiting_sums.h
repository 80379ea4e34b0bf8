// WaitingSums: a block's sums on their way to a heavy epilogue. Written out for each sum in registers, its code and constants take
// registers from the loop that makes the sums, which then go to the stack at each step: 788x768 by 768x3072 with the Gelu of
// transformers took 1.32 times as long as without, on a Zen 5. Through memory the epilogue is a loop of its own.
#pragma once

#include "compiler/emit/epilogue.h"
#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

class WaitingSums {
 public:
  /// Room for `most` vectors of float32.
  WaitingSums(loopnest::Builder& builder, std::int64_t most, int lanes)
      : builder_(builder), lanes_(lanes), buffer_(builder.scratch("waiting", most * lanes)) {}

  void put(std::int64_t number, loopnest::Vec sum) const {
    builder_.store(buffer_, loopnest::Int(number * lanes_), sum);
  }
  loopnest::Vec get(loopnest::Int number) const {
    return builder_.load(buffer_, number * lanes_, lanes_);
  }

 private:
  loopnest::Builder& builder_;
  int lanes_;
  loopnest::Buffer buffer_;
};

}  // namespace aoe::compiler
