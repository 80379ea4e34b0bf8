// Binding, running and comparing.
#include "benchmarks/bound_om.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/check.h"
#include "base/error.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/op.h"

namespace aoe::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<double> as_doubles(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.elements()));
  reference::OpCall cast{.type = "Cast"};
  cast.attrs.set("to", reference::onnx_number(DataType::kDouble));
  const Tensor result{{.dtype = DataType::kDouble, .shape = tensor.desc.shape}, values.data()};
  reference::run(cast, std::vector{tensor}, std::vector{result});
  return values;
}

}  // namespace

BoundOm::BoundOm(compiler::Compilation compilation, const std::string& name, int threads)
    : compilation_(std::move(compilation)),
      executor_(runtime::Om::parse(serialize(), bytes_, name), {.threads = threads}) {
  for (std::size_t i = 0; i < executor_.output_count(); ++i) {
    const TensorDesc& desc = executor_.output(i).desc;
    values_.push_back(is_static(desc.shape) ? std::make_shared<Constant>(desc) : nullptr);
  }
}

std::string_view BoundOm::serialize() {
  bytes_ = std::make_shared<std::string>(compilation_.om.serialize());
  compilation_.om = {};
  return *bytes_;
}

void BoundOm::feed(const std::vector<NamedTensor>& inputs) {
  inputs_.clear();
  for (std::size_t i = 0; i < input_count(); ++i) {
    const auto given = std::ranges::find(inputs, input(i).name, &NamedTensor::name);
    AOE_CHECK(given != inputs.end(), "an input is not given");
    inputs_.push_back(given->value->view());
  }
}

void BoundOm::run_once() {
  outputs_.clear();
  for (std::size_t i = 0; i < values_.size(); ++i)
    outputs_.push_back(
        {executor_.output(i).desc, values_[i] ? values_[i]->mutable_data() : nullptr});
  executor_.run(inputs_, outputs_);
}

std::vector<double> BoundOm::run(double seconds, int least) {
  std::vector<double> times_ms;
  const auto begin = Clock::now();
  while (static_cast<int>(times_ms.size()) < least || seconds_since(begin) < seconds) {
    const auto start = Clock::now();
    run_once();
    times_ms.push_back(seconds_since(start) * 1e3);
  }
  return times_ms;
}

const std::vector<Tensor>& BoundOm::outputs() {
  run_once();
  return outputs_;
}

double difference(const Tensor& result, const Tensor& expected) {
  if (result.desc.shape != expected.desc.shape || result.desc.dtype != expected.desc.dtype)
    return INFINITY;
  if (expected.elements() == 0) return 0;
  const std::vector<double> ours = as_doubles(result), theirs = as_doubles(expected);
  double low = INFINITY, high = -INFINITY, worst = 0;
  for (const double value : theirs) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value), high = std::max(high, value);
  }
  const double range = std::max(high > low ? high - low : std::abs(high), 1e-30);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    if (ours[i] == theirs[i] || (std::isnan(ours[i]) && std::isnan(theirs[i]))) continue;
    const double apart = std::abs(ours[i] - theirs[i]) / range;
    worst = std::isnan(apart) ? INFINITY : std::max(worst, apart);
  }
  return worst;
}

}  // namespace aoe::benchmarks
