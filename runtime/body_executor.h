// The Executor of a body, for steps that run one.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/backend.h"
#include "runtime/executor.h"

namespace aoe::runtime {

/// On the threads of the om that the step lies in; its ops are counted on. `arena`: as in ExecutorOptions. Throws as the
/// Executor does.
std::unique_ptr<Executor> open_body(const LoadContext& context, Om body,
                                    std::span<std::byte> arena = {});

}  // namespace aoe::runtime
