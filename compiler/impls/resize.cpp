// resize: generated Resize and Upsample of any mode, by tables of positions and weights that are known at compile time.
#include <algorithm>

#include "compiler/emit/integer_math.h"
#include "compiler/plain_task.h"
#include "compiler/resize/resize_nest.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMostTaps = 64;  ///< of one output element: they are all written out

class ResizePlan final : public Plan {
 public:
  ResizePlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc), axes_(task, format.outputs[0], soc.vector_lanes()) {}

  Features features(const Schedule&) const override {
    return {{"bytes", bytes_moved(task())},
            {"taps", static_cast<double>(axes_.taps())},
            {"picks", !axes_.last().table ? 0.0
                      : axes_.picks       ? 0.2
                                          : 1.0},
            {"balance", parallel_balance(soc(), axes_.parallel_extent())}};
  }

  double estimate_ns(const Schedule&) const override {
    const double busy_ns = axes_.last().table ? picked_rows_ns() : kept_vectors_ns();
    const double balance = parallel_balance(soc(), axes_.parallel_extent());
    return launch_ns(soc()) +
           std::max(busy_ns / soc().threads / balance, memory_ns(soc(), stored_bytes()));
  }

  Kernel build(const Schedule&) const override {
    return build_resize(task(), axes_, soc().vector_lanes());
  }

 private:
  // Nanoseconds, measured on a Zen 3 (8 lanes), where writing a part of a vector takes seven.

  double vectors(std::int64_t elements) const {
    return static_cast<double>(round_up(elements, soc().vector_lanes())) / soc().vector_lanes();
  }
  double part_ns(std::int64_t elements) const {
    if (elements % soc().vector_lanes() == 0) return 0;
    return soc().has_short_vectors() ? 7 : 1;
  }

  /// Of all rows of outputs, whose innermost dimension is resized.
  double picked_rows_ns() const {
    const ResizedDimension& last = axes_.last();
    const auto taps = static_cast<double>(last.table->taps);
    // A gather reads its lanes one by one; two vectors are two permutations and a choice, or one instruction.
    const double gather_ns = 0.5 * soc().vector_lanes(),
                 pick_ns = axes_.picks && axes_.picks->reads_two && soc().has_short_vectors()
                               ? 0.7
                               : 0.35;
    double row_ns = 12 + part_ns(last.out) +
                    vectors(last.out) * (0.5 + taps * (axes_.picks ? pick_ns : gather_ns));
    if (axes_.blends_rows())
      row_ns +=
          part_ns(last.in) + vectors(last.in) * 0.4 * static_cast<double>(axes_.taps()) / taps;
    return row_ns * outputs() / static_cast<double>(last.out);
  }

  double kept_vectors_ns() const {
    const std::int64_t channels = axes_.last().out;
    const double pixel_ns =
        vectors(channels) * (0.8 + 0.17 * static_cast<double>(axes_.taps())) + part_ns(channels);
    return pixel_ns * outputs() / static_cast<double>(channels);
  }

  /// With the lanes that blocks of channels are filled up with.
  double outputs() const {
    return static_cast<double>(axes_.dimensions[0].out) *
           static_cast<double>(axes_.dimensions[0].out_stride);
  }
  double stored_bytes() const {
    const double inputs = static_cast<double>(axes_.dimensions[0].in) *
                          static_cast<double>(axes_.dimensions[0].in_stride);
    return (inputs + outputs()) * static_cast<double>(size_bytes(task().out().dtype));
  }

  ResizeAxes axes_;
};

class Resize final : public ImplBy<ResizePlan> {
 public:
  std::string_view name() const override { return "resize"; }
  int version() const override { return 2; }
  /// Taps of weight 0 are multiplied like others.
  NotFinite not_finite(const Task&) const override { return NotFinite::kAndAround; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"Resize", "Upsample"}); !plain) return plain;
    for (std::size_t i = 1; i < task.inputs.size(); ++i) {
      if (task.inputs[i].is_present() && !task.inputs[i].constant)
        return Unexpected("input " + std::to_string(i) + " is not constant");
    }
    if (element_count(task.in(0).shape) == 0 || task.in(0).shape.empty())
      return Unexpected("no elements along an axis: " + to_string(task.in(0)));
    for (const auto& positions : resampled_positions(task)) {
      if (std::ranges::any_of(positions, &reference::ResampledPosition::is_outside))
        return Unexpected("crops beyond the image");
    }
    const std::int64_t taps = ResizeAxes(task, Format::kND, 1).taps();
    if (taps > kMostTaps)
      return Unexpected(std::to_string(taps) + " elements behind each output, at most " +
                        std::to_string(kMostTaps));
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    std::vector<FormatChoice> choices = {plain_format(task, "ND", Format::kND)};
    const Shape& shape = task.in(0).shape;
    if (shape.size() != 4 || !keeps_dimension(task, 1)) return choices;
    choices.push_back(plain_format(task, "NC1HWC0", Format::kNC1HWC0));
    choices.push_back(plain_format(task, "NHWC", Format::kNHWC));
    return choices;
  }
};

}  // namespace

void register_resize(ImplRegistry& registry) {
  registry.add(std::make_unique<Resize>());
}

}  // namespace aoe::compiler
