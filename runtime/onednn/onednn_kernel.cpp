// Running oneDNN primitives. Tested by tests/runtime/onednn_kernel_test.cpp.
#include "runtime/onednn/onednn_kernel.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/ceil_div.h"
#include "base/error.h"
#include "runtime/onednn/onednn_stage.h"

namespace aoe::runtime {
using nlohmann::json;

struct OneDnnKernel::State {
  State(const json& params, int threads, std::span<const std::size_t> buffer_bytes,
        std::span<void* const> buffers);
  void take_over_residual(std::span<void* const> buffers) const;

  std::vector<OneDnnStage> stages;
  std::size_t residual_buffer = 0, dst_buffer = 0, residual_bytes = 0;
};

OneDnnKernel::State::State(const json& params, int threads,
                           std::span<const std::size_t> buffer_bytes,
                           std::span<void* const> buffers) {
  for (const json& stage : params.at("stages"))
    stages.emplace_back(stage, threads, buffer_bytes, buffers);
  if (!params.contains("residual")) return;
  const OneDnnArgumentPlace residual(params.at("residual"));
  residual_buffer = residual.buffer;
  dst_buffer = OneDnnArgumentPlace(params.at("stages").at(0).at("args").at("dst")).buffer;
  residual_bytes = stages.at(0).dst_bytes();
  const bool is_inside = dst_buffer < buffer_bytes.size() && residual.offset == 0 &&
                         residual_bytes <= buffer_bytes[dst_buffer] &&
                         residual_bytes <= residual.bytes_left(buffer_bytes);
  if (!is_inside)
    throw Error(ExitCode::kOm, "the residual and the output differ in size", "", kOneDnnAdvice);
}

/// The sum post-op adds to what the destination holds: the residual, which the memory plan usually put there.
void OneDnnKernel::State::take_over_residual(std::span<void* const> buffers) const {
  if (residual_bytes == 0 || buffers[residual_buffer] == buffers[dst_buffer]) return;
  auto* to = static_cast<char*>(buffers[dst_buffer]);
  const auto* from = static_cast<const char*>(buffers[residual_buffer]);
  constexpr std::size_t kPieceBytes = 64 << 10;
  const std::size_t pieces = ceil_div(residual_bytes, kPieceBytes);
#pragma omp parallel for
  for (std::size_t i = 0; i < pieces; ++i)
    std::memcpy(to + i * kPieceBytes, from + i * kPieceBytes,
                std::min(kPieceBytes, residual_bytes - i * kPieceBytes));
}

OneDnnKernel::OneDnnKernel(std::unique_ptr<State> state) : state_(std::move(state)) {
}
OneDnnKernel::~OneDnnKernel() = default;

std::string OneDnnKernel::fault(const json& params, const std::vector<bool>& is_writable) {
  static constexpr std::string_view kWritten[] = {"dst", "dst_iter", "dst_iter_c", "scratchpad"};
  try {
    if (params.at("stages").empty()) return "has no primitive";
    for (const json& stage : params.at("stages")) {
      for (const auto& [word, where] : stage.at("args").items()) {
        const OneDnnArgumentPlace place(where);
        const bool is_written = std::ranges::count(kWritten, word) > 0;
        if (place.buffer >= is_writable.size() || (is_written && !is_writable[place.buffer]))
          return "has oneDNN's '" + word + "' in buffer " + std::to_string(place.buffer) +
                 ", which is not for that";
      }
    }
    if (params.contains("residual") &&
        OneDnnArgumentPlace(params.at("stages").at(0).at("args").at("dst")).offset != 0)
      return "adds a residual to the middle of its output";
    return {};
  } catch (const json::exception& e) {
    return std::string("has malformed parameters: ") + e.what();
  }
}

std::unique_ptr<OneDnnKernel> OneDnnKernel::create(const json& params, int threads,
                                                   std::span<const std::size_t> buffer_bytes,
                                                   std::span<void* const> buffers) {
  try {
    return std::unique_ptr<OneDnnKernel>(
        new OneDnnKernel(std::make_unique<State>(params, threads, buffer_bytes, buffers)));
  } catch (const dnnl::error& e) {
    throw Error(ExitCode::kOm, std::string("oneDNN cannot make a primitive here: ") + e.what(), "",
                "compile the model for this machine");
  } catch (const json::exception& e) {
    throw Error(ExitCode::kOm, std::string("malformed oneDNN parameters: ") + e.what(), "",
                kOneDnnAdvice);
  }
}

void OneDnnKernel::run(std::span<void* const> buffers) {
  state_->take_over_residual(buffers);
  for (OneDnnStage& stage : state_->stages) stage.run(buffers);
}

}  // namespace aoe::runtime
