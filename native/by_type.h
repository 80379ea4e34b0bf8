// Kernels whose code is made for each element type.
#pragma once

#include <functional>
#include <utility>

#include "native/kernel.h"
#include "reference/elements/typed.h"

namespace aoe::native {

/// A Kernel's run: calls f.operator()<T>(run) with the element type of the first input, one of `Types`.
template <typename Types, typename F>
std::function<void(const Run&)> by_type(F f) {
  return [f = std::move(f)](const Run& run) {
    reference::visit_type<Types>(run.inputs[0].desc.dtype,
                                 [&]<typename T>() { f.template operator()<T>(run); });
  };
}

/// That input 0 has one of them.
template <typename... Types>
Result<void> takes_types(const Question& question, reference::TypeList<Types...>) {
  return takes_types(question, 0, {reference::data_type_of<Types>()...});
}

}  // namespace aoe::native
