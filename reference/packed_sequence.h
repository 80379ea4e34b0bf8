// A sequence of tensors as one tensor of bytes: how one travels whose length only a run can tell.
//
// It begins with the number of its items. An item is its element type as ONNX numbers it, its rank and dimensions, all
// int64, and its elements, filled up to 8 bytes.
#pragma once

#include <span>
#include <vector>

#include "base/tensor.h"

namespace aoe::reference {

/// The items, which view the bytes. Throws Error(kModel) when it is no packed sequence.
std::vector<Tensor> unpacked_items(const Tensor& sequence);

/// Describes the packed sequence of these items; their data are not looked at.
TensorDesc packed_desc(std::span<const Tensor> items);

/// `to` is as packed_desc() says.
void pack_items(std::span<const Tensor> items, const Tensor& to);

}  // namespace aoe::reference
