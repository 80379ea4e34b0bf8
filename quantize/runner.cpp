// See runner.h.
#include "quantize/runner.h"

#include "compiler/pipeline.h"
#include "runtime/executor.h"

namespace aoe::quantize {

struct Runner::State {
  std::shared_ptr<const std::string> om;
  std::unique_ptr<runtime::Executor> executor;
  std::vector<std::shared_ptr<Constant>> outputs;  ///< nullptr: the executor's own memory
};

Runner::Runner(std::string model_bytes, const std::filesystem::path& name, const Sample& sample,
               const compiler::Soc& soc)
    : state_(std::make_unique<State>()) {
  compiler::ModelSource source{
      .path = name, .bytes = std::make_shared<const std::string>(std::move(model_bytes))};
  for (const auto& [input, value] : sample) source.import.input_shapes[input] = value->desc().shape;
  compiler::Compilation compilation =
      compiler::compile(compiler::prepare(source, {.soc = soc}), {.soc = soc});
  state_->om = std::make_shared<const std::string>(compilation.om.serialize());
  state_->executor = std::make_unique<runtime::Executor>(
      runtime::Om::parse(*state_->om, state_->om, name.string()),
      runtime::ExecutorOptions{.longest_loop_s = runtime::kLongestTrialLoopSeconds});
  for (std::size_t i = 0; i < state_->executor->output_count(); ++i) {
    const TensorDesc& desc = state_->executor->output(i).desc;
    state_->outputs.push_back(is_static(desc.shape) ? std::make_shared<Constant>(desc) : nullptr);
  }
}

Runner::Runner(Runner&&) noexcept = default;
Runner::~Runner() = default;

std::map<std::string, Tensor> Runner::run(const Sample& sample) {
  runtime::Executor& executor = *state_->executor;
  std::map<std::string, Tensor> values;
  std::vector<Tensor> inputs, outputs;
  for (std::size_t i = 0; i < executor.input_count(); ++i)
    inputs.push_back(sample.at(executor.input(i).name)->view());
  for (std::size_t i = 0; i < executor.output_count(); ++i)
    outputs.push_back({executor.output(i).desc,
                       state_->outputs[i] ? state_->outputs[i]->mutable_data() : nullptr});
  executor.run(inputs, outputs);
  for (const auto& [name, value] : sample) values[name] = value->view();
  for (std::size_t i = 0; i < outputs.size(); ++i) values[executor.output(i).name] = outputs[i];
  return values;
}

}  // namespace aoe::quantize
