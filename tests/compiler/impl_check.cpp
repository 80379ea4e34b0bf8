// See impl_check.h.
#include "tests/compiler/impl_check.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "compiler/loopnest/codegen.h"
#include "graph/analysis/float16_rounding.h"
#include "graph/precision.h"
#include "native/kernel.h"
#include "reference/tensors/widen.h"
#include "runtime/backend.h"
#include "runtime/onednn/onednn_kernel.h"
#include "tests/compiler/guarded_buffer.h"
#include "tests/compiler/loopnest_eval.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler {
namespace {

constexpr std::size_t kConstantAlignmentBytes = 64;
constexpr int kNanByte = 0xff;  ///< four of them are a NaN: what a kernel forgets to write is seen

std::string to_text(const Schedule& schedule) {
  std::ostringstream text;
  for (const auto& [axis, value] : schedule) text << " " << axis << "=" << value;
  return text.str();
}

Tensor stored(const Tensor& logical, Format format, const Soc& soc, GuardedBuffer& memory) {
  const Tensor view{with_format(logical.desc, format, soc), memory.as<void>()};
  reference::convert_format(logical, view);
  return view;
}

std::size_t stored_bytes(const TensorDesc& desc, Format format, const Soc& soc) {
  if (desc.dtype == DataType::kUndefined) return 0;  // whoever writes there hits the guard page
  return storage_bytes(with_format(desc, format, soc));
}

/// The heuristic Schedule and up to `samples` different legal ones.
std::vector<Schedule> schedules_of(const Plan& plan, int samples, std::mt19937& engine) {
  std::set<Schedule> chosen = {plan.heuristic()};
  for (int attempt = 0; attempt < samples * 8 && static_cast<int>(chosen.size()) <= samples;
       ++attempt) {
    Schedule schedule;
    for (const ScheduleAxis& axis : plan.axes()) {
      schedule[axis.name] = axis.values[engine() % axis.values.size()];
    }
    if (plan.is_legal(schedule)) chosen.insert(schedule);
  }
  return {chosen.begin(), chosen.end()};
}

void check_axes(const Plan& plan) {
  EXPECT_EQ(plan.heuristic().size(), plan.axes().size());
  for (const ScheduleAxis& axis : plan.axes()) {
    const auto chosen = plan.heuristic().find(axis.name);
    ASSERT_NE(chosen, plan.heuristic().end()) << axis.name;
    EXPECT_EQ(std::count(axis.values.begin(), axis.values.end(), chosen->second), 1)
        << axis.name << "=" << chosen->second;
  }
  EXPECT_TRUE(plan.is_legal(plan.heuristic()));
}

bool is_allowed(double got, double want, double difference, NotFinite where) {
  if (std::isfinite(got) && std::isfinite(want)) return std::fabs(got - want) <= difference;
  if (where == NotFinite::kOpen) return true;
  if (where == NotFinite::kAndAround) return !std::isfinite(got);
  return got == want || (std::isnan(got) && std::isnan(want));
}

/// NaN, infinities, and numbers whose sums may become such.
bool reads_extremes(const ShapeLine& line) {
  constexpr double kLarge = 1e9;
  return std::ranges::any_of(line.inputs, [](const ConstantPtr& input) {
    if (!input || input->desc().dtype != DataType::kFloat) return false;
    const auto values = reference::to_doubles(input->view());
    return !std::ranges::all_of(values, [](double each) { return std::fabs(each) < kLarge; });
  });
}

/// Into outputs whose shapes are known.
class NativeRun final : public native::Run {
 public:
  NativeRun(const reference::OpCall& asked, std::span<const Tensor> given,
            std::span<const Tensor> outputs, native::Threads& team)
      : Run(asked, given, team), outputs_(outputs) {}
  const Tensor& output(std::size_t i) const override {
    static const Tensor absent;
    return i < outputs_.size() ? outputs_[i] : absent;
  }
  Tensor make(std::size_t i, const Shape& made) const override {
    if (output(i).data != nullptr) {
      EXPECT_EQ(output(i).desc.shape, made);
    }
    return output(i);
  }

 private:
  std::span<const Tensor> outputs_;
};

/// A kernel with memory for everything it reads and writes.
class KernelRun {
 public:
  KernelRun(const ShapeLine& line, const FormatChoice& format, const Kernel& kernel, const Soc& soc)
      : line_(line), format_(format), kernel_(kernel), soc_(soc) {
    const Task& task = line.task;
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
      if (!task.inputs[i].is_present() || task.inputs[i].constant) continue;
      GuardedBuffer& memory = add(stored_bytes(task.in(i), format.inputs[i], soc));
      stored(line.inputs[i]->view(), format.inputs[i], soc, memory);
    }
    first_output_ = memory_.size();
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
      add(stored_bytes(task.outputs[i], format.outputs[i], soc));
    }
    for (const PackedConstant& constant : kernel.constants) {
      const std::size_t padded = (constant.size_bytes + kConstantAlignmentBytes - 1) /
                                 kConstantAlignmentBytes * kConstantAlignmentBytes;
      constant.pack(add(padded).as<void>());
    }
    if (kernel.workspace_bytes > 0) add(kernel.workspace_bytes);
  }

  void run_library() {
    omp_set_num_threads(soc_.threads);
    std::vector<std::size_t> bytes;
    for (const auto& memory : memory_) bytes.push_back(memory->size_bytes());
    const std::vector<void*> addresses = buffers();
    runtime::OneDnnKernel::create(kernel_.params, soc_.threads, bytes, addresses)->run(addresses);
  }

  /// The kernels themselves; tests/native/ has the backend run them.
  void run_native() {
    const Task& task = line_.task;
    std::vector<Tensor> inputs, outputs;
    std::size_t buffer = 0;
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
      const bool is_read = task.inputs[i].is_present() && !task.inputs[i].constant;
      inputs.push_back(is_read           ? Tensor{task.in(i), memory_[buffer++]->as<void>()}
                       : line_.inputs[i] ? line_.inputs[i]->view()
                                         : Tensor{});
    }
    for (const TensorDesc& desc : task.outputs) {
      GuardedBuffer& memory = *memory_[buffer++];
      outputs.push_back(desc.dtype == DataType::kUndefined ? Tensor{}
                                                           : Tensor{desc, memory.as<void>()});
    }
    std::vector<TensorDesc> descs;
    for (const Tensor& input : inputs) descs.push_back(input.desc);
    native::OneThread thread;
    (*native::kernel_for({task.op, descs, task.outputs.size()}))
        ->run(NativeRun(task.op, inputs, outputs, thread));
  }

  /// Each round of a stage in as many parts as the Soc has threads, each on a thread of its own.
  void run_generated(const loopnest::MachineCode& code) {
    const std::vector<void*> buffers = this->buffers();
    for (const loopnest::Function& stage : kernel_.stages) {
      const auto function = code.function(stage.name);
      for (std::int64_t round = 0; round < stage.rounds; ++round) {
        const std::int64_t first = round * stage.parallel_extent;
        const auto run_part = [&](std::int64_t part) {
          run_backwards(function, buffers.data(), stage,
                        first + stage.parallel_extent * part / soc_.threads,
                        first + stage.parallel_extent * (part + 1) / soc_.threads);
        };
        std::vector<std::jthread> others;
        for (int part = 1; part < soc_.threads; ++part) others.emplace_back(run_part, part);
        run_part(0);
      }
    }
  }

  /// The same in the interpreter.
  void run_interpreted() {
    for (const loopnest::Function& stage : kernel_.stages) {
      std::vector<loopnest::EvalBuffer> buffers;
      std::size_t next = 0;
      for (const loopnest::BufferDecl& decl : stage.buffers) {
        if (decl.scratch_offset >= 0) continue;
        const GuardedBuffer& memory = *memory_.at(next++);
        buffers.push_back(
            {.data = memory.as<void>(),
             .elements = static_cast<std::int64_t>(memory.size_bytes()) / decl.elements.bytes()});
      }
      loopnest::evaluate(stage, buffers);
    }
  }

  /// By element, wherever the Format has it: what is behind the last channel of a block may be NaN where a pixel has one.
  void expect_special(std::size_t i, const Constant& expected, const Impl& impl) const {
    const NotFinite where = impl.not_finite(line_.task);
    // What follows may make finite numbers of those around: a Sigmoid does of infinity.
    if (where == NotFinite::kAndAround && line_.task.op.body && reads_extremes(line_)) return;
    const TensorDesc& desc = line_.task.outputs[i];
    const GuardedBuffer& stored_output = *memory_[first_output_ + i];
    const Constant logical(desc);
    reference::convert_format(
        {with_format(desc, format_.outputs[i], soc_), stored_output.as<void>()}, logical.view());
    const auto got = reference::to_doubles(logical.view());
    const auto want = reference::to_doubles(expected.view());
    double largest = 0;
    for (const double each : want)
      if (std::isfinite(each)) largest = std::max(largest, std::fabs(each));
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double allowed =
          impl.error_growth(line_.task) * tolerance(line_.task, want[k], largest);
      ASSERT_TRUE(is_allowed(got[k], want[k], allowed, where))
          << "output " << i << " element " << k << " of " << got.size() << " in "
          << name(format_.outputs[i]) << ": " << got[k] << ", expected " << want[k];
    }
  }

  void expect_output(std::size_t i, const Constant& expected, double error_growth) const {
    const TensorDesc& desc = line_.task.outputs[i];
    GuardedBuffer memory(stored_bytes(desc, format_.outputs[i], soc_));
    const Tensor want = stored(expected.view(), format_.outputs[i], soc_, memory);
    const GuardedBuffer& got = *memory_[first_output_ + i];
    if (desc.dtype == DataType::kFloat16 || desc.dtype == DataType::kBFloat16)
      return expect_halves(i, got, want);
    if (desc.dtype == DataType::kDouble) return expect_reals<double>(i, got, want, error_growth);
    if (desc.dtype == DataType::kFloat) return expect_reals<float>(i, got, want, error_growth);
    EXPECT_EQ(std::memcmp(got.as<void>(), want.data, got.size_bytes()), 0) << "output " << i;
  }

 private:
  template <typename T>
  void expect_reals(std::size_t i, const GuardedBuffer& got, const Tensor& want,
                    double error_growth) const {
    const std::size_t count = got.size_bytes() / sizeof(T);
    double largest = 0;
    for (std::size_t k = 0; k < count; ++k) {
      if (std::isfinite(want.as<T>()[k]))
        largest = std::max<double>(largest, std::fabs(want.as<T>()[k]));
    }
    for (std::size_t k = 0; k < count; ++k) {
      const T a = got.as<T>()[k], b = want.as<T>()[k];
      const double allowed = error_growth * tolerance(line_.task, static_cast<double>(b), largest);
      const bool is_same =
          a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(double{a} - double{b}) <= allowed;
      ASSERT_TRUE(is_same) << "output " << i << " element " << k << " of " << count << " in "
                           << name(format_.outputs[i]) << ": " << a << ", expected " << b;
    }
  }

  /// The second half first: iterations may not depend on each other.
  static void run_backwards(loopnest::KernelFunction function, void* const* buffers,
                            const loopnest::Function& stage, std::int64_t begin, std::int64_t end) {
    const auto scratch_bytes = static_cast<std::size_t>(stage.scratch_bytes);
    const GuardedBuffer scratch((scratch_bytes + 63) / 64 * 64);
    std::memset(scratch.as<void>(), kNanByte, scratch.size_bytes());
    const std::int64_t middle = begin + (end - begin) / 2;
    function(buffers, middle, end, scratch.as<void>());
    function(buffers, begin, middle, scratch.as<void>());
  }

  std::vector<void*> buffers() const {
    std::vector<void*> all;
    for (const auto& memory : memory_) all.push_back(memory->as<void>());
    return all;
  }

  /// Computed in float32 and rounded: the last bit may differ.
  void expect_halves(std::size_t i, const GuardedBuffer& got, const Tensor& want) const {
    const Tensor view{want.desc, got.as<void>()};
    const double ulp = want.desc.dtype == DataType::kFloat16 ? 0x1p-10 : 0x1p-7;
    const auto a = reference::to_doubles(view), b = reference::to_doubles(want);
    for (std::size_t k = 0; k < a.size(); ++k) {
      const bool is_same = a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])) ||
                           std::fabs(a[k] - b[k]) <= ulp * std::fabs(b[k]) + 1e-6;
      ASSERT_TRUE(is_same) << "output " << i << " element " << k << ": " << a[k] << ", expected "
                           << b[k];
    }
  }

  GuardedBuffer& add(std::size_t size_bytes) {
    memory_.push_back(std::make_unique<GuardedBuffer>(size_bytes));
    std::memset(memory_.back()->as<void>(), kNanByte, size_bytes);
    return *memory_.back();
  }

  const ShapeLine& line_;
  const FormatChoice& format_;
  const Kernel& kernel_;
  const Soc& soc_;
  std::vector<std::unique_ptr<GuardedBuffer>> memory_;  ///< in ABI order
  std::size_t first_output_ = 0;
};

}  // namespace

namespace {
/// Of running sums and of Fourier transforms, which round each number of a line by the largest there: the longest axis there is, as
/// only a constant tells which it is.
double running_length(const Task& task) {
  const std::string& type = task.anchor().type;
  const bool has_lines = type.starts_with("Cum") || type == "DFT" || type == "STFT";
  if (!has_lines || task.out().shape.empty()) return 0;
  return static_cast<double>(*std::ranges::max_element(task.out().shape));
}

/// By how much a recurrence enlarges, until its last step, what the first one has rounded: each step multiplies errors by the root mean
/// square of a row's length, less what slopes of activations take: half, and half again where gates are sigmoids. Long sequences of large
/// weights are chaotic: such roundings become as large as the numbers.
double recurrence_growth(const Task& task) {
  const std::string& type = task.anchor().type;
  const bool has_gates = type == "DynamicRNN" || type == "DynamicGRUV2";
  if ((!has_gates && type != "CommonRNN") || !task.inputs[2].constant) return 1;
  const double slope = has_gates ? 0.25 : 0.5;
  constexpr double kMost = 0x1p23;
  const std::vector<double> weights = reference::to_doubles(task.inputs[2].constant->view());
  const double squares = std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
  const Shape& rows = task.in(2).shape;
  const double row = std::sqrt(squares / static_cast<double>(rows[0] * rows[1]));
  const bool is_batch_first = task.anchor().attrs.get_int("layout", 0) != 0;
  const auto steps = static_cast<double>(task.in(0).shape[is_batch_first ? 1 : 0]);
  return std::min(kMost, std::pow(std::max(1.0, slope * row), steps - 1));
}
}  // namespace

double tolerance(const Task& task, double expected, double largest) {
  // Two factors, each rounded to 8 bits; most of that cancels in a sum: 0.2% of the largest was measured.
  // Float16 has three bits more, and sums that it rounds a hundred times.
  // Where outputs are few, all may be small by chance: what sums have the size of is the root of their length, three times of which
  // the largest of some dozen has.
  if (graph::allows_bf16(task.op) || graph::allows_fp16(task.op)) {
    constexpr std::int64_t kFew = 16;
    const double of_root = element_count(task.out().shape) < kFew ? 3 : 0.5;
    return 0x1p-8 * std::max(largest, of_root * std::sqrt(reduction_length(task)));
  }
  if (graph::rounds_to_float16(task.op))
    return 0x1p-10 * largest;                             // a step, where sums are near a tie
  if (task.anchor().type.starts_with("Quant")) return 0;  // integers, then the same roundings
  const bool is_double = task.out().dtype == DataType::kDouble;
  const double ulp = is_double ? 0x1p-52 : 0x1p-23, least = is_double ? 1e-14 : 1e-6;
  double outputs = 0, inputs = 0;
  for (const TensorDesc& output : task.outputs)
    outputs += static_cast<double>(element_count(output.shape));
  for (const TaskInput& input : task.inputs) {
    if (input.is_present())
      inputs = std::max(inputs, static_cast<double>(element_count(input.desc.shape)));
  }
  const double products = reduction_length(task);
  const double length = std::max({products, inputs / std::max(1.0, outputs), running_length(task)});
  if (length <= 4) return 16 * ulp * std::fabs(expected) + least;
  // Behind sums of products of numbers below 2, a Sigmoid gives small ones, and these sums' errors all the same.
  const double sums = task.op.body && products > 4 ? 2 * std::sqrt(length) : 0;
  // A sum may be small by chance: on its way it had the size of the root of its length, and was rounded as often as it is long.
  return recurrence_growth(task) * ulp *
             (16 * std::fabs(expected) + 2 * std::sqrt(length) * std::max(largest, sums) +
              length / 8) +
         least;
}

std::vector<std::filesystem::path> shape_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(AOE_TEST_DIR) + "/shapes")) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::shared_ptr<Constant>> compute_reference(const ShapeLine& line) {
  if (line.task.op.type == "TransData") return {line.inputs[0]};  // only the Format differs
  std::vector<Tensor> inputs, outputs;
  std::vector<std::shared_ptr<Constant>> values;
  for (std::size_t i = 0; i < line.inputs.size(); ++i) {
    inputs.push_back(line.inputs[i] ? line.inputs[i]->view() : Tensor{});
  }
  for (const TensorDesc& desc : line.task.outputs) {
    const bool is_read = desc.dtype != DataType::kUndefined;
    values.push_back(is_read ? std::make_shared<Constant>(desc) : nullptr);
    outputs.push_back(is_read ? values.back()->view() : Tensor{});
  }
  reference::run(line.task.op, inputs, outputs);
  return values;
}

void check_impl(const Impl& impl, const ShapeLine& line, const Soc& soc,
                const ImplCheckOptions& options) {
  const bool is_interpreted = loopnest::is_interpreted(soc);
  struct Trial {
    FormatChoice format;
    Schedule schedule;
    Kernel kernel;
  };
  std::mt19937 engine(options.seed);
  std::vector<Trial> trials;
  std::vector<loopnest::Function> functions;
  std::set<std::string> names;
  for (const FormatChoice& format : impl.formats(line.task, soc)) {
    EXPECT_TRUE(names.insert(format.name).second) << "two Formats " << format.name;
    EXPECT_EQ(format.inputs.size(), line.task.inputs.size());
    EXPECT_EQ(format.outputs.size(), line.task.outputs.size());
    const auto plan = impl.plan(line.task, format, soc);
    EXPECT_GT(plan->estimate_ns(plan->heuristic()), 0.0);
    check_axes(*plan);
    // The interpreter is a thousand times slower than what it stands for.
    const int samples =
        is_interpreted ? std::min(options.sampled_schedules, 1) : options.sampled_schedules;
    for (const Schedule& schedule : schedules_of(*plan, samples, engine)) {
      Trial trial{format, schedule, plan->build(schedule)};
      if (is_interpreted && !trial.kernel.needs.has(Feature::kAmx)) return;
      const bool is_native = trial.kernel.backend->traits().name == "native";
      if (trial.kernel.stages.empty() && trial.kernel.params.empty() && !is_native) return;
      for (std::size_t i = 0; i < trial.kernel.stages.size(); ++i) {
        trial.kernel.stages[i].name =
            "kernel" + std::to_string(trials.size()) + "_" + std::to_string(i);
        functions.push_back(trial.kernel.stages[i]);
      }
      trials.push_back(std::move(trial));
    }
  }
  EXPECT_FALSE(trials.empty());
  const Soc& machine = loopnest::machine_for(soc);
  std::optional<loopnest::MachineCode> code;
  if (!functions.empty() && !is_interpreted)
    code.emplace(loopnest::compile_shared_object(functions, machine, 2));
  const auto expected = compute_reference(line);
  for (const Trial& trial : trials) {
    SCOPED_TRACE("impl " + std::string(impl.name()) + " format " + trial.format.name + " schedule" +
                 to_text(trial.schedule) + " soc " + soc.version + " seed " +
                 std::to_string(options.seed) + " line " + line.text);
    KernelRun run(line, trial.format, trial.kernel, soc);
    if (!trial.kernel.params.empty()) {
      if (&machine != &soc) return;
      run.run_library();
    } else if (trial.kernel.stages.empty()) {
      run.run_native();
    } else if (is_interpreted) {
      run.run_interpreted();
    } else {
      run.run_generated(*code);
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!expected[i]) continue;
      if (options.has_special_values && is_floating(expected[i]->desc().dtype)) {
        run.expect_special(i, *expected[i], impl);
      } else {
        run.expect_output(i, *expected[i], impl.error_growth(line.task));
      }
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace aoe::compiler
