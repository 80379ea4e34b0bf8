// Opening and running bodies.
#include "runtime/body_executor.h"

#include <utility>

namespace aoe::runtime {

std::unique_ptr<Executor> open_body(const LoadContext& context, Om body,
                                    std::span<std::byte> arena) {
  auto executor = std::make_unique<Executor>(
      std::move(body), ExecutorOptions{.threads = context.threads,
                                       .team = context.team,
                                       .arena = arena,
                                       .is_body = true,
                                       .first_op = context.next_op,
                                       .records_bodies = context.records_bodies,
                                       .longest_loop_s = context.longest_loop_s});
  context.next_op += executor->op_count();
  return executor;
}

BodyOwner::BodyOwner(const LoadContext& context, std::size_t index)
    : name_(context.step_names[index]),
      number_(context.first_op + static_cast<int>(index)),
      records_bodies_(context.records_bodies) {
}

void BodyOwner::run_body(Executor& body, std::span<const Tensor> inputs, std::span<Tensor> outputs,
                         TaskClock& clock) const {
  const TaskRecording& recording = clock.recording();
  const bool is_apart = records(clock);
  if (is_apart) task_done(clock);
  body.run(inputs, outputs,
           {.run_and_model = recording.run_and_model, .is_sampled = is_apart, .is_body = true});
  if (is_apart) clock.go_on();
}

}  // namespace aoe::runtime
