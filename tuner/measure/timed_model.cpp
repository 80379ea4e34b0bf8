// Runs an om and reads the recorder's events of that run.
#include "tuner/measure/timed_model.h"

#include "base/check.h"
#include "profiler/recorder.h"
#include "tuner/measure/core_wait.h"
#include "tuner/measure/random_tensor.h"

namespace aoe::tuner {
namespace {

/// Waking a sleeping thread counts as waiting, too: some microseconds of it are normal.
constexpr double kDisturbedShare = 0.05;

std::uint32_t run_event_name() {
  static const std::uint32_t id = profiler::intern("tuner.run");
  return id;
}

TensorDesc dense(TensorDesc desc) {
  desc.format = Format::kND;
  desc.c0 = 0;
  return desc;
}

}  // namespace

bool is_conversion(const runtime::OmStep& step) {
  return step.op_types.size() == 1 && step.op_types.front() == "TransData" && step.origins.empty();
}

TimedModel::TimedModel(runtime::Om om, int threads)
    : executor_(std::move(om), {.threads = threads}) {
  for (std::size_t i = 0; i < executor_.output_count(); ++i) {
    const TensorDesc desc = dense(executor_.output(i).desc);
    Tensor output{desc, nullptr};
    if (is_static(desc.shape)) {
      output_buffers_.push_back(std::make_unique<Constant>(desc));
      output.data = output_buffers_.back()->mutable_data();
    }
    outputs_.push_back(std::move(output));
  }
}

void TimedModel::draw_inputs(std::uint64_t seed) {
  std::vector<ConstantPtr> inputs;
  for (std::size_t i = 0; i < executor_.input_count(); ++i)
    inputs.push_back(random_tensor(dense(executor_.input(i).desc), seed + i));
  set_inputs(std::move(inputs));
}

void TimedModel::set_inputs(std::vector<ConstantPtr> inputs) {
  AOE_CHECK(inputs.size() == executor_.input_count(), "as many inputs as the om has");
  inputs_ = std::move(inputs);
  input_views_.clear();
  for (const ConstantPtr& input : inputs_) input_views_.push_back(input->view());
}

void TimedModel::run() {
  std::vector<Tensor> outputs = outputs_;
  for (Tensor& output : outputs)
    if (!is_static(output.desc.shape)) output.data = nullptr;
  const std::uint64_t wait_before_ns = core_wait_ns();
  profiler::start();
  {
    const profiler::Span span(profiler::EventKind::kStamp, run_event_name());
    executor_.run(input_views_, outputs);
  }
  profiler::stop();
  step_ns_.assign(om().steps.size(), 0);
  total_ns_ = 0;
  for (const profiler::Event& event : profiler::drain()) {
    const double duration_ns = profiler::to_ns(event.end_ticks - event.begin_ticks);
    if (event.kind == profiler::EventKind::kTask && event.value < step_ns_.size())
      step_ns_[event.value] += duration_ns;
    else if (event.kind == profiler::EventKind::kStamp && event.name_id == run_event_name())
      total_ns_ += duration_ns;
  }
  const auto waited_ns = static_cast<double>(core_wait_ns() - wait_before_ns);
  was_disturbed_ = waited_ns > kDisturbedShare * total_ns_;
  AOE_CHECK(total_ns_ > 0, "the recorder lost the run's event");
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs_[i] = outputs[i];
}

double TimedModel::op_ns() const {
  double sum = 0;
  for (std::size_t i = 0; i < step_ns_.size(); ++i)
    if (!is_conversion(om().steps[i])) sum += step_ns_[i];
  return sum;
}

}  // namespace aoe::tuner
