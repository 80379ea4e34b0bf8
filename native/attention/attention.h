// Attention: softmax(scale * query * key^T, masked) * value, of as many queries and keys at a time as a cache holds.
#pragma once

#include "native/threads.h"
#include "reference/products/attention.h"

namespace aoe::native {

/// Where the elements begin that the views of an AttentionShape tell apart.
struct AttentionData {
  const float *query, *key, *value;
  const float* mask;  ///< nullptr: none
  float* output;
};

/// Sizes may be 0: without keys results are 0.
void attend(const reference::AttentionShape& shape, const AttentionData& data, Threads& threads);

}  // namespace aoe::native
