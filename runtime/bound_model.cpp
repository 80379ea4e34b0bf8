// Buffers for an executor.
#include "runtime/bound_model.h"

#include <utility>

#include "base/check.h"
#include "base/random_tensor.h"

namespace aoe::runtime {
namespace {

TensorDesc dense(TensorDesc desc) {
  desc.format = Format::kND;
  desc.c0 = 0;
  return desc;
}

}  // namespace

BoundModel::BoundModel(Om om, int threads, std::optional<double> longest_loop_s)
    : executor_(std::move(om),
                {.threads = threads, .records_bodies = false, .longest_loop_s = longest_loop_s}) {
  for (std::size_t i = 0; i < executor_.output_count(); ++i) {
    const TensorDesc desc = dense(executor_.output(i).desc);
    Tensor output{desc, nullptr};
    if (is_static(desc.shape)) {
      output_buffers_.push_back(std::make_unique<Constant>(desc));
      output.data = output_buffers_.back()->mutable_data();
    }
    buffers_.push_back(std::move(output));
  }
  outputs_ = buffers_;
}

void BoundModel::draw_inputs(std::uint64_t seed) {
  std::vector<ConstantPtr> inputs;
  for (std::size_t i = 0; i < executor_.input_count(); ++i)
    inputs.push_back(random_tensor(dense(executor_.input(i).desc), seed + i));
  set_inputs(std::move(inputs));
}

void BoundModel::set_inputs(std::vector<ConstantPtr> inputs) {
  AOE_CHECK(inputs.size() == executor_.input_count(), "as many inputs as the om has");
  inputs_ = std::move(inputs);
  input_views_.clear();
  for (const ConstantPtr& input : inputs_) input_views_.push_back(input->view());
}

void BoundModel::run() {
  outputs_ = buffers_;  // shapes that only a run can tell are unknown again
  executor_.run(input_views_, outputs_);
}

}  // namespace aoe::runtime
