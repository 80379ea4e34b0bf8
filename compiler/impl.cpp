// The registry of Impls and what one asks all of them.
#include "compiler/impl.h"

#include <algorithm>

#include "all_impls.inc"
#include "base/check.h"
#include "base/log.h"
#include "runtime/backend.h"

namespace aoe::compiler {
namespace {

const FormatChoice* find_format(const std::vector<FormatChoice>& choices, const std::string& name) {
  const auto found = std::find_if(choices.begin(), choices.end(),
                                  [&](const FormatChoice& choice) { return choice.name == name; });
  return found == choices.end() ? nullptr : &*found;
}

/// "No" when the stored Schedule is not a point of today's space.
Result<void> check_schedule(const Plan& plan, const Schedule& schedule) {
  for (const ScheduleAxis& axis : plan.axes()) {
    const auto at = schedule.find(axis.name);
    if (at == schedule.end()) return Unexpected("the stored Schedule lacks axis " + axis.name);
    if (std::find(axis.values.begin(), axis.values.end(), at->second) == axis.values.end())
      return Unexpected(axis.name + "=" + std::to_string(at->second) + " is no value of the axis");
  }
  if (schedule.size() != plan.axes().size())
    return Unexpected("the stored Schedule has " + std::to_string(schedule.size()) +
                      " axes, the Impl has " + std::to_string(plan.axes().size()));
  if (!plan.is_legal(schedule)) return Unexpected("the stored Schedule is not legal");
  return {};
}

bool is_empty(const TensorDesc& desc) {
  return desc.dtype != DataType::kUndefined && element_count(desc.shape) == 0;
}

/// Whether the Impls of the op look at each input for what is constant. Others take for granted that what they work on
/// is given when they run, and their weights when they are built.
bool takes_any_constant(const reference::OpCall& op) {
  const reference::OpDef* def = reference::anchor_def(op);
  return reference::is_elementwise(op) || reference::is_chain(op) ||
         (def != nullptr && def->first_input_may_be_constant);
}

/// Whether its kernels look at tensors when they run: what is constant, has no elements, or has a size that only a run can
/// tell is no reason not to ask it. Such an Impl is called as its backend is.
bool looks_when_it_runs(const Impl& impl) {
  const runtime::Backend* backend = runtime::backends().find(impl.name());
  return backend != nullptr && backend->traits().finds_sizes;
}

Result<void> takes(const Impl& impl, const Task& task, const Soc& soc) {
  if (!looks_when_it_runs(impl))
    if (Result<void> possible = can_be_generated(task); !possible) return possible;
  return impl.supports(task, soc);
}

}  // namespace

Result<void> can_be_generated(const Task& task) {
  if (!task.is_static()) return Unexpected("shapes are not static");
  if (std::ranges::any_of(task.outputs, is_empty) ||
      std::ranges::any_of(task.inputs, is_empty, &TaskInput::desc))
    return Unexpected("a tensor has no elements");
  const auto is_given = [](const TaskInput& input) {
    return input.is_present() && !input.constant;
  };
  if (std::ranges::none_of(task.inputs, is_given)) return Unexpected("all inputs are constants");
  if (task.inputs[0].constant && !takes_any_constant(task.op))
    return Unexpected("what it works on is a constant");
  return {};
}

Plan::Plan(const Task& task, const FormatChoice& format, const Soc& soc,
           std::vector<ScheduleAxis> axes)
    : task_(task), format_(format), soc_(soc), axes_(std::move(axes)) {
}

const Schedule& Plan::heuristic() const {
  std::call_once(searched_, [this] { heuristic_ = search(); });
  return heuristic_;
}

std::vector<FormatChoice> Impl::formats(const Task& task, const Soc&) const {
  return {dense_format(task)};
}

int version_with(int version, std::initializer_list<UsedImpl> used) {
  for (const UsedImpl& each : used) {
    const Impl* impl = impls().find(each.name);
    AOE_CHECK(impl != nullptr, "there is no Impl " + std::string(each.name));
    version += impl->version() - each.version;
  }
  return version;
}

Kernel kernel_for(std::string_view backend) {
  return {.backend = &runtime::backend(backend)};
}

void ImplRegistry::add(std::unique_ptr<Impl> impl) {
  const auto at = std::lower_bound(
      impls_.begin(), impls_.end(), impl->name(),
      [](const std::unique_ptr<Impl>& each, std::string_view name) { return each->name() < name; });
  AOE_CHECK(at == impls_.end() || (*at)->name() != impl->name(),
            "two Impls are called " + std::string(impl->name()));
  impls_.insert(at, std::move(impl));
}

const Impl* ImplRegistry::find(std::string_view name) const {
  for (const auto& impl : impls_)
    if (impl->name() == name) return impl.get();
  return nullptr;
}

std::vector<const Impl*> ImplRegistry::all() const {
  std::vector<const Impl*> all;
  for (const auto& impl : impls_) all.push_back(impl.get());
  return all;
}

const ImplRegistry& impls() {
  static const ImplRegistry registry = [] {
    ImplRegistry all;
    register_all_impls(all);
    return all;
  }();
  return registry;
}

bank::Strategy strategy_of(const Candidate& candidate) {
  bank::Strategy strategy;
  strategy.format = candidate.format.name;
  strategy.impl = candidate.impl->name();
  strategy.impl_version = candidate.impl->version();
  strategy.schedule = candidate.schedule;
  return strategy;
}

Result<const Impl*> impl_of(const bank::Strategy& strategy) {
  const Impl* impl = impls().find(strategy.impl);
  if (impl == nullptr) return Unexpected("there is no Impl " + strategy.impl);
  if (impl->version() != strategy.impl_version)
    return Unexpected(strategy.impl + " has version " + std::to_string(impl->version()) +
                      ", the strategy is for version " + std::to_string(strategy.impl_version));
  return impl;
}

Result<Candidate> candidate_of(const bank::Strategy& strategy, const Task& task, const Soc& soc) {
  const Result<const Impl*> known = impl_of(strategy);
  if (!known) return Unexpected(known.error());
  const Impl* impl = *known;
  if (const Result<void> supported = takes(*impl, task, soc); !supported)
    return Unexpected(supported.error());
  const std::vector<FormatChoice> choices = impl->formats(task, soc);
  const FormatChoice* format = find_format(choices, strategy.format);
  if (format == nullptr)
    return Unexpected(strategy.impl + " has no Format " + strategy.format + " for this task");
  const Result<void> legal = check_schedule(*impl->plan(task, *format, soc), strategy.schedule);
  if (!legal) return Unexpected(legal.error());
  return Candidate{impl, *format, strategy.schedule};
}

bool has_kernel(const Task& task, const Soc& soc) {
  return std::ranges::any_of(impls().all(), [&](const Impl* impl) {
    return impl->name() != "reference" && takes(*impl, task, soc).has_value();
  });
}

std::vector<Candidate> default_candidates(const Task& task, const Soc& soc) {
  std::vector<Candidate> candidates;
  for (const Impl* impl : impls().all()) {
    if (const Result<void> supported = takes(*impl, task, soc); !supported) {
      logger("compiler")
          ->trace("task={} impl={} refused: {}", task.anchor().type, impl->name(),
                  supported.error());
      continue;
    }
    for (FormatChoice& format : impl->formats(task, soc)) {
      Schedule schedule = impl->plan(task, format, soc)->heuristic();
      candidates.push_back({impl, std::move(format), std::move(schedule)});
    }
  }
  return candidates;
}

FormatChoice dense_format(const Task& task) {
  FormatChoice choice{.name = "ND"};
  for (const TaskInput& input : task.inputs)
    choice.inputs.push_back(input.is_present() ? Format::kND : Format::kUndefined);
  for (const TensorDesc& output : task.outputs)
    choice.outputs.push_back(output.dtype == DataType::kUndefined ? Format::kUndefined
                                                                  : Format::kND);
  return choice;
}

TensorDesc with_format(const TensorDesc& desc, Format format, const Soc& soc) {
  TensorDesc stored = desc;
  stored.format = format;
  stored.c0 = format == Format::kNC1HWC0 ? soc.vector_lanes() : 0;
  return stored;
}

Traffic stored_traffic(const Task& task, const FormatChoice& format, const Soc& soc) {
  const auto bytes = [&](const TensorDesc& desc, Format stored) {
    return static_cast<double>(storage_bytes(with_format(desc, stored, soc)));
  };
  Traffic traffic;
  for (std::size_t i = 0; i < task.inputs.size() && i < format.inputs.size(); ++i)
    if (task.inputs[i].is_present()) traffic.read_bytes += bytes(task.in(i), format.inputs[i]);
  for (std::size_t i = 0; i < task.outputs.size() && i < format.outputs.size(); ++i)
    if (task.outputs[i].dtype != DataType::kUndefined)
      traffic.written_bytes += bytes(task.outputs[i], format.outputs[i]);
  return traffic;
}

}  // namespace aoe::compiler
