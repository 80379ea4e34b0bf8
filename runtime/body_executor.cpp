// Opening bodies.
#include "runtime/body_executor.h"

#include <utility>

namespace aoe::runtime {

std::unique_ptr<Executor> open_body(const LoadContext& context, Om body,
                                    std::span<std::byte> arena) {
  auto executor = std::make_unique<Executor>(
      std::move(body), ExecutorOptions{.threads = context.threads,
                                       .team = context.team,
                                       .arena = arena,
                                       .first_op = context.next_op,
                                       .records_bodies = context.records_bodies,
                                       .longest_loop_s = context.longest_loop_s});
  context.next_op += executor->op_count();
  return executor;
}

}  // namespace aoe::runtime
