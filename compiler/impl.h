// Impl: an algorithm or library that can carry an op out. One file per Impl in compiler/impls/, found by its
// `void register_<file stem>(ImplRegistry&)`; adding one touches no other file.
//
// An Impl is stateless and thread-safe. It says of a Task on a Soc whether it can carry it out (and if not, why not), in
// which Formats, and makes a Plan for one of them: the Schedules there are, the best by default, what each costs, the kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bank/strategy.h"
#include "base/layout.h"
#include "base/result.h"
#include "compiler/loopnest/loopnest.h"
#include "compiler/soc.h"
#include "compiler/task.h"

namespace aoe::runtime {
class Backend;
}

namespace aoe::compiler {

using bank::Schedule;

/// One legal assignment of formats to all tensors of a task. `name` is the main format, the one the bank stores.
/// Constant inputs keep Format::kND here: the Impl packs them itself (Kernel::constants).
struct FormatChoice {
  std::string name;            ///< "NC1HWC0", "NHWC", "NCHW", "ND"; unique within one Impl's answer
  std::vector<Format> inputs;  ///< one per task input (kUndefined for absent ones)
  std::vector<Format> outputs;
};

/// A Schedule axis and its legal values, e.g. {"ow_block", {7, 14, 28}}.
struct ScheduleAxis {
  std::string name;
  std::vector<std::int64_t> values;
};

/// A constant the kernel reads, laid out by the Impl: packed weights, transformed filters, fused bias.
struct PackedConstant {
  std::size_t size_bytes = 0;
  std::function<void(void* destination)>
      pack;  ///< writes size_bytes to 64-byte aligned memory; pure, thread-safe
};

/// What build() returns: who carries it out, and what that backend reads. Buffers of every generated stage, in ABI order: the task's present non-constant inputs, the outputs,
/// `constants`, then the workspace if workspace_bytes > 0. All stages of a kernel declare all of these buffers.
struct Kernel {
  const runtime::Backend* backend = nullptr;  ///< kernel_for() sets it
  std::vector<loopnest::Function>
      stages;             ///< generated: run one after another, each spread over the threads
  nlohmann::json params;  ///< of a library: what its backend reads
  std::vector<PackedConstant> constants;
  runtime::FeatureSet needs;        ///< generated: what it uses of the Soc's features
  std::size_t workspace_bytes = 0;  ///< shared by all threads, undefined contents
  /// The input that output 0 may take the place of when nobody needs it afterwards (the kernel copies it otherwise);
  /// -1: none. Counted like the task's inputs.
  int overwrites_input = -1;
  /// Where nothing runs: how the tensors lie in each other, in bytes. Either all present outputs inside input 0, or all present
  /// inputs inside output 0. The compiler copies what cannot be placed so.
  struct Sharing {
    bool inputs_in_output = false;
    std::vector<std::uint64_t> offsets;  ///< by output, or by input
  } sharing;
};

/// Of the backend of this name (runtime/backends/), which must be there.
Kernel kernel_for(std::string_view backend);

/// Numbers for the cost model; same names for all candidates of one Impl.
using Features = std::vector<std::pair<std::string, double>>;

/// What an Impl says about one task in one Format on one Soc, which it looks at once: which Schedules there are, what each
/// costs, and the kernel. Thread-safe.
class Plan {
 public:
  Plan(const Task& task, const FormatChoice& format, const Soc& soc,
       std::vector<ScheduleAxis> axes = {});
  virtual ~Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// The space of Schedules: the product of the axes without what is not legal.
  const std::vector<ScheduleAxis>& axes() const { return axes_; }
  virtual bool is_legal(const Schedule&) const { return true; }
  /// Those that say how weights are packed: two Schedules that agree in them, of tasks that differ in rows alone, read the same. None
  /// where another packing costs time that estimates do not see.
  virtual std::vector<std::string> packing_axes() const { return {}; }
  /// The default: what an untuned compile uses; always legal. The first call searches for it.
  const Schedule& heuristic() const;
  /// What the cost model needs to know.
  virtual Features features(const Schedule& schedule) const = 0;
  /// Expected time in nanoseconds, from flops and bytes: of the heuristic it ranks Impls for untuned compiles.
  virtual double estimate_ns(const Schedule& schedule) const = 0;
  virtual Kernel build(const Schedule& schedule) const = 0;

 protected:
  const Task& task() const { return task_; }
  const FormatChoice& format() const { return format_; }
  const Soc& soc() const { return soc_; }

 private:
  virtual Schedule search() const { return {}; }

  Task task_;
  FormatChoice format_;
  Soc soc_;
  std::vector<ScheduleAxis> axes_;
  mutable std::once_flag searched_;
  mutable Schedule heuristic_;
};

/// Where the results of an Impl are NaN or infinite when values that it reads are, or lie near the end of their type's range.
enum class NotFinite {
  kWhereDue,  ///< where the reference's are, and nowhere else
  kAndAround,  ///< there, and in others of the same tile, block or row; NaN may stand where infinity would
  kOpen  ///< of a library that may take NaN for a number, as in the maximum of a Relu, or of what leaves out factors of 0
};

/// Of all Impl::error_growth(): Winograd's with tiles of six outputs a side.
inline constexpr double kMostErrorGrowth = 8;

class Impl {
 public:
  virtual ~Impl() = default;
  virtual std::string_view name() const = 0;
  /// Raise it when build() would give other code for the same Schedule: stored strategies of older versions then miss.
  virtual int version() const { return 1; }
  /// Asked of tasks that can_be_generated(), or of any where the Impl's backend finds sizes. "No" says why with the value and the
  /// limit: "3 channels, needs at least 8".
  virtual Result<void> supports(const Task& task, const Soc& soc) const = 0;
  /// At least one when supported: plain row-major arrays, where an Impl does not say.
  virtual std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const;
  /// Where its tensors lie: the memory of the backend of its kernels. What brings values to a memory and back works there, too.
  virtual Memory memory() const { return Memory::kHost; }
  /// The rounding errors of its results against those of plain sums of products: more than 1 for what adds and subtracts around
  /// its products. Tests of Impls and the tuner's verification of candidates allow so much, and no more.
  virtual double error_growth(const Task&) const { return 1; }
  /// What adds values up before it multiplies them mixes those that no result needs together.
  virtual NotFinite not_finite(const Task& task) const {
    return error_growth(task) > 1 ? NotFinite::kAndAround : NotFinite::kWhereDue;
  }
  /// Of a task that it supports, in one of its Formats.
  virtual std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                                     const Soc& soc) const = 0;
};

/// An Impl whose Plans are made of nothing but what it is asked about.
template <typename MadePlan>
class ImplBy : public Impl {
 public:
  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                             const Soc& soc) const final {
    return std::make_unique<MadePlan>(task, format, soc);
  }
};

class ImplRegistry {
 public:
  void add(std::unique_ptr<Impl> impl);
  const Impl* find(std::string_view name) const;
  /// Sorted by name.
  std::vector<const Impl*> all() const;

 private:
  std::vector<std::unique_ptr<Impl>> impls_;
};

/// All Impls of compiler/impls/; built once, immutable.
const ImplRegistry& impls();

/// One point of the search space, and how it is named in logs and records.
struct Candidate {
  const Impl* impl = nullptr;
  FormatChoice format;
  Schedule schedule;
};
bank::Strategy strategy_of(const Candidate& candidate);
/// The Impl of a stored strategy; "no" when it is gone or has another version.
Result<const Impl*> impl_of(const bank::Strategy& strategy);
/// The candidate a stored strategy stands for; "no" when the Impl is gone, has another version, or refuses the task.
Result<Candidate> candidate_of(const bank::Strategy& strategy, const Task& task, const Soc& soc);

/// The version of an Impl whose kernels are made of others': `version`, which it had when they had theirs, and one more for
/// each that they have had since.
struct UsedImpl {
  std::string_view name;
  int version = 1;
};
int version_with(int version, std::initializer_list<UsedImpl> used);

/// "No" for tensors without elements, unknown sizes, and tasks that nothing is given to when they run, which are for those Impls
/// alone that look when they run: generated kernels divide by extents, and constants have no buffers but those that an Impl packs.
Result<void> can_be_generated(const Task& task);

/// Whether an Impl takes the task that is more than the plain loops of the reference.
bool has_kernel(const Task& task, const Soc& soc);

/// Every (Impl, FormatChoice) that supports the task, each with its heuristic Schedule; logs refusals at debug level.
std::vector<Candidate> default_candidates(const Task& task, const Soc& soc);

/// The tensor description a kernel sees: `desc` stored in `format` on this Soc (sets c0).
TensorDesc with_format(const TensorDesc& desc, Format format, const Soc& soc);

/// All tensors that are there as plain row-major arrays.
FormatChoice dense_format(const Task& task);

/// What a copy reads and writes, blocks of channels padded: 3 channels in NC1HWC0 are 16.
struct Traffic {
  double read_bytes = 0;
  double written_bytes = 0;
};
Traffic stored_traffic(const Task& task, const FormatChoice& format, const Soc& soc);

}  // namespace aoe::compiler
