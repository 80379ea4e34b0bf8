// TiledPlan: a Plan whose Schedules are tilings. A Tiling is the Schedule's numbers by name, a Cut the task cut up for one of
// them: the arithmetic that the search, the cost model and the loop nest share.
#pragma once

#include <utility>
#include <vector>

#include "compiler/emit/cache_sets.h"
#include "compiler/roofline.h"
#include "compiler/tiling_axes.h"

namespace aoe::compiler {

/// Multiply-adds of one unrolled body: enough to hide the loop around it.
inline constexpr std::int64_t kGoodBodyFmas = 128;

template <typename Tiling, typename Cut>
class TiledPlan : public Plan {
 public:
  TiledPlan(const Task& task, const FormatChoice& format, const Soc& soc, TilingAxes<Tiling> axes)
      : Plan(task, format, soc, axes.schedule_axes()), axes_(std::move(axes)) {}

  bool is_legal(const Schedule& schedule) const final { return fits(cut_by(schedule)); }
  Features features(const Schedule& schedule) const final { return features_of(cut_by(schedule)); }
  double estimate_ns(const Schedule& schedule) const final { return estimate_of(cut_by(schedule)); }
  Kernel build(const Schedule& schedule) const final { return kernel_of(cut_by(schedule)); }

  Cut cut_by(const Schedule& schedule) const { return cut(axes_.tiling(schedule)); }

 protected:
  virtual Cut cut(const Tiling& tiling) const = 0;
  /// Legal: registers and code are not too many, and the Tiling makes a difference.
  virtual bool fits(const Cut& cut) const = 0;
  /// What the search makes small.
  virtual double cycles(const Cut& cut) const = 0;
  /// The Schedule of an untuned compile.
  virtual Tiling best() const = 0;
  virtual Features features_of(const Cut& cut) const = 0;
  virtual double estimate_of(const Cut& cut) const = 0;
  virtual Kernel kernel_of(const Cut& cut) const = 0;

  const TilingAxes<Tiling>& tilings() const { return axes_; }
  bool is_legal(const Tiling& tiling) const { return fits(cut(tiling)); }

  /// The legal one of fewest cycles.
  Tiling fewest_cycles(const std::vector<Tiling>& candidates) const {
    return cheapest(candidates, [&](const Tiling& tiling) {
      const Cut candidate = cut(tiling);
      return fits(candidate) ? cycles(candidate) : kNoChoice;
    });
  }

  /// The same of those that keep the rows they read side by side, `rows(tiling)` of them `stride_bytes` apart, in L1.
  template <typename Rows>
  Tiling fewest_cycles_in_l1(std::vector<Tiling> candidates, std::int64_t stride_bytes,
                             Rows rows) const {
    std::erase_if(candidates, [&](const Tiling& tiling) {
      return do_rows_collide(soc(), stride_bytes, rows(tiling));
    });
    return fewest_cycles(candidates);
  }

  /// `tiling` with the largest tile of blocks that leaves each thread four of these.
  Tiling with_tile_for_threads(const Tiling& tiling,
                               typename TilingAxes<Tiling>::Field tile) const {
    return axes_.with_last(tiling, tile, [&](const Tiling& t) {
      return is_legal(t) && cut(t).parallel_extent() >= std::int64_t{4} * soc().threads;
    });
  }

  /// A cost over how evenly the threads get their shares.
  double shared(double cost, const Cut& cut) const {
    return cost / parallel_balance(soc(), cut.parallel_extent());
  }

  /// Nanoseconds of so many cycles of one core when all threads share them, at `efficiency` of the vector peak.
  double cycles_ns(double core_cycles, double efficiency = 1) const {
    return compute_ns(soc(), core_cycles * kFlopsPerLane * soc().vector_lanes(), efficiency);
  }
  /// The other way round: of one core, while all threads take so long.
  double core_cycles_of(double ns) const { return ns / cycles_ns(1); }

 private:
  static constexpr double kFlopsPerLane = 4;  ///< of a cycle: two ports, a product and a sum each

  Schedule search() const final { return axes_.schedule(best()); }

  TilingAxes<Tiling> axes_;
};

/// A TiledPlan whose Cuts differ by their Tiling alone: any().with(tiling).
template <typename Tiling, typename Cut>
class RetiledPlan : public TiledPlan<Tiling, Cut> {
 public:
  using AxesOf = TilingAxes<Tiling> (*)(const Cut& any, const Soc& soc);
  RetiledPlan(const Task& task, const FormatChoice& format, const Soc& soc, const Cut& any,
              AxesOf axes_of)
      : TiledPlan<Tiling, Cut>(task, format, soc, axes_of(any, soc)), any_(any) {}

 protected:
  Cut cut(const Tiling& tiling) const final { return any_.with(tiling); }
  const Cut& any() const { return any_; }  ///< of any Tiling

 private:
  Cut any_;
};

}  // namespace aoe::compiler
