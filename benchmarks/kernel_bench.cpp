// kernel_bench: times kernels of single tasks on one thread and prints GFLOP/s and the
// share of the FMA peak.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/words.h"
#include "compiler/impl.h"
#include "compiler/loopnest/codegen.h"
#include "graph/precision.h"
#include "reference/tensors/widen.h"
#include "runtime/jit_module.h"
#include "runtime/onednn/onednn_kernel.h"
#include "tests/compiler/shape_line.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"
#include "tuner/measure/roofs.h"

namespace {

using namespace aoe;
using namespace aoe::compiler;

struct Options {
  std::string impl, format, schedule;
  int search = 0;
  bool check = false, avx2 = false, assembly = false;
  std::vector<std::string> tasks;
};

Shape shape_of(const std::string& text) {
  Shape shape;
  for (const std::string& part : split_words(text, 'x')) shape.push_back(std::stoll(part));
  return shape;
}

ConstantPtr random_constant(const Shape& shape, std::mt19937& random) {
  auto constant = std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = shape});
  std::uniform_real_distribution<float> values(-1, 1);
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    static_cast<float*>(constant->mutable_data())[i] = values(random);
  }
  return constant;
}

Task parse_words(const std::string& text) {
  std::mt19937 random(1);
  const std::vector<std::string> words = split_words(text, ' ');
  if (words.size() < 3)
    throw Error(ExitCode::kUsage, "a task needs an op and two shapes", text, "see --help");
  const bool is_conv = words[0] == "conv";
  Task task;
  task.op.type = is_conv ? "Conv2D" : words[0] == "gemm" ? "Gemm" : "MatMulV2";
  const auto add = [&](const Shape& shape, bool is_constant) {
    task.inputs.push_back({.desc = {.dtype = DataType::kFloat, .shape = shape},
                           .constant = is_constant ? random_constant(shape, random) : nullptr});
    return static_cast<int>(task.inputs.size()) - 1;
  };
  add(shape_of(words[1]), false);
  const bool is_activation = std::find(words.begin(), words.end(), "dynamic") != words.end();
  const Shape weights = shape_of(words[2]);
  add(weights, !is_activation);
  std::int64_t stride = 1, pad = 0, dilation = 1, groups = 1;
  std::vector<std::string> fused;
  bool has_bias = false;
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "dynamic") continue;
    if (word == "bias")
      has_bias = true;
    else if (word == "add" || word == "relu" || word == "sigmoid")
      fused.push_back(word);
    else if (word[0] == 's')
      stride = std::stoll(word.substr(1));
    else if (word[0] == 'p')
      pad = std::stoll(word.substr(1));
    else if (word[0] == 'd')
      dilation = std::stoll(word.substr(1));
    else if (word[0] == 'g')
      groups = std::stoll(word.substr(1));
    else if (word == "transB")
      task.op.attrs.set("transB", std::int64_t{1});
    else
      throw Error(ExitCode::kUsage, "unknown word of a task", word, "see --help");
  }
  if (is_conv) {
    task.op.attrs.set("strides", std::vector<std::int64_t>{stride, stride});
    task.op.attrs.set("pads", std::vector<std::int64_t>{pad, pad, pad, pad});
    task.op.attrs.set("dilations", std::vector<std::int64_t>{dilation, dilation});
    task.op.attrs.set("group", groups);
  }
  if (has_bias && task.op.type != "MatMulV2") add({is_conv ? weights[0] : weights.back()}, true);
  std::vector<Tensor> views;
  for (const TaskInput& input : task.inputs) views.push_back({input.desc, nullptr});
  task.outputs = {reference::infer(task.op, views, 1).front()};
  if (fused.empty()) return task;
  reference::BodyStep anchor{task.op};
  for (std::size_t i = 0; i < task.inputs.size(); ++i)
    anchor.operands.push_back(static_cast<int>(i));
  const auto added = std::count(fused.begin(), fused.end(), "add");
  reference::Body body{.inputs = static_cast<int>(task.inputs.size() + added), .steps = {anchor}};
  for (const std::string& word : fused) {
    reference::BodyStep step{{.type = word == "add"    ? "Add"
                                      : word == "relu" ? "Relu"
                                                       : "Sigmoid",
                              .version = word == "add" ? 7 : 6},
                             {body.value_of(body.steps.size() - 1)}};
    if (word == "add") step.operands.push_back(add(task.out().shape, false));
    body.steps.push_back(std::move(step));
  }
  task.op = reference::fused_call(std::move(body));
  return task;
}

/// A shape line has values that its operator takes: lengths of sequences, indices.
ShapeLine parse_task(const std::string& text) {
  if (text.find(" in=") != std::string::npos) return parse_shape_line(text);
  return {text, parse_words(text), {}};
}

using Bytes = std::unique_ptr<void, decltype(&std::free)>;
Bytes allocate(std::size_t size) {
  Bytes bytes(std::aligned_alloc(4096, (size + 4095) / 4096 * 4096 + 4096), &std::free);
  std::memset(bytes.get(), 0, size);
  return bytes;
}

/// Numbers between -1 and 1, or any bytes.
void fill(const Tensor& tensor, std::mt19937& random) {
  std::uniform_real_distribution<float> values(-1, 1);
  if (tensor.desc.dtype == DataType::kFloat)
    std::generate_n(tensor.as<float>(), tensor.elements(), [&] { return values(random); });
  else
    std::generate_n(static_cast<std::uint8_t*>(tensor.data), storage_bytes(tensor.desc),
                    [&] { return static_cast<std::uint8_t>(random()); });
}

/// A kernel with all its buffers, ready to run on this thread.
class Runner {
 public:
  Runner(const ShapeLine& line, const Candidate& candidate, const Soc& soc) : task_(line.task) {
    const Task& task = line.task;
    Kernel kernel = candidate.impl->plan(task, candidate.format, soc)->build(candidate.schedule);
    const auto started = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < kernel.stages.size(); ++i) {
      kernel.stages[i].name += "_" + std::to_string(i);
    }
    if (!kernel.stages.empty())
      code_ = std::make_unique<runtime::JitModule>(
          loopnest::compile_shared_object(kernel.stages, soc), task.anchor().type);
    compile_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started)
            .count();
    std::mt19937 random(7);
    std::vector<std::size_t> bytes;
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
      if (!task.inputs[i].is_present()) {
        plain_.emplace_back();
        continue;
      }
      if (task.inputs[i].constant) {
        plain_.push_back(task.inputs[i].constant->view());
        continue;
      }
      const TensorDesc plain = task.in(i);
      keep_.push_back(allocate(storage_bytes(plain)));
      plain_.push_back({plain, keep_.back().get()});
      if (line.inputs.empty())
        fill(plain_.back(), random);
      else
        std::memcpy(plain_.back().data, line.inputs[i]->data(), storage_bytes(plain));
      const TensorDesc stored = with_format(plain, candidate.format.inputs[i], soc);
      keep_.push_back(allocate(storage_bytes(stored)));
      reference::convert_format(plain_.back(), {stored, keep_.back().get()});
      buffers_.push_back(keep_.back().get());
      bytes.push_back(storage_bytes(stored));
    }
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
      if (task.outputs[i].dtype == DataType::kUndefined) {
        buffers_.push_back(nullptr);
        bytes.push_back(0);
        continue;
      }
      const TensorDesc out = with_format(task.out(i), candidate.format.outputs[i], soc);
      keep_.push_back(allocate(storage_bytes(out)));
      std::memset(keep_.back().get(), 0xff, storage_bytes(out));
      if (i == 0) output_ = {out, keep_.back().get()};  // what --check compares
      buffers_.push_back(keep_.back().get());
      bytes.push_back(storage_bytes(out));
    }
    for (const PackedConstant& constant : kernel.constants) {
      keep_.push_back(allocate(constant.size_bytes));
      constant.pack(keep_.back().get());
      buffers_.push_back(keep_.back().get());
      bytes.push_back(constant.size_bytes);
    }
    if (kernel.workspace_bytes > 0) {
      keep_.push_back(allocate(kernel.workspace_bytes));
      buffers_.push_back(keep_.back().get());
      bytes.push_back(kernel.workspace_bytes);
    }
    if (!kernel.params.empty())
      library_ = runtime::OneDnnKernel::create(kernel.params, soc.threads, bytes, buffers_);
    std::int64_t scratch = 64;
    for (const loopnest::Function& stage : kernel.stages) {
      functions_.push_back({code_->find(stage.name), stage.rounds * stage.parallel_extent});
      scratch = std::max(scratch, stage.scratch_bytes);
    }
    keep_.push_back(allocate(static_cast<std::size_t>(scratch)));
    scratch_ = keep_.back().get();
  }

  void run() {
    if (library_) return library_->run(buffers_);
    for (const auto& [function, extent] : functions_)
      function(buffers_.data(), 0, extent, scratch_);
  }

  double best_ns(double budget_ms) {
    using Clock = std::chrono::steady_clock;
    run();
    double best = std::numeric_limits<double>::infinity(), total = 0;
    for (int i = 0; i < 5 || total < budget_ms * 1e6; ++i) {
      const auto start = Clock::now();
      run();
      const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
      best = std::min(best, ns);
      total += ns;
      if (total > 4 * budget_ms * 1e6) break;
    }
    return best;
  }

  /// Largest difference to the reference over the largest value.
  double error() {
    run();
    const TensorDesc plain = task_.out();
    if (plain.dtype == DataType::kUndefined) return 0;  // nobody reads it
    const Bytes got = allocate(storage_bytes(plain)), want = allocate(storage_bytes(plain));
    reference::convert_format(output_, {plain, got.get()});
    const Tensor expected{plain, want.get()};
    reference::run(task_.op, plain_, std::span(&expected, 1));
    const std::vector<double> g = reference::to_doubles({plain, got.get()});
    const std::vector<double> w = reference::to_doubles(expected);
    double largest = padding_difference({plain, got.get()}), scale = 1e-30;
    for (std::size_t i = 0; i < w.size(); ++i) {
      largest = std::max(largest, difference(g[i], w[i]));
      if (std::isfinite(w[i])) scale = std::max(scale, std::abs(w[i]));
    }
    return largest / scale;
  }

  double compile_ms = 0;

 private:
  static double difference(double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
    return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : INFINITY;
  }

  /// What is stored behind the last channel of a block is 0, or what roundings left of it.
  double padding_difference(const Tensor& logical) const {
    const Bytes again = allocate(storage_bytes(output_.desc));
    const std::size_t size = storage_bytes(output_.desc);
    reference::convert_format(logical, {output_.desc, again.get()});
    if (output_.desc.dtype != DataType::kFloat)
      return std::memcmp(again.get(), output_.data, size) == 0 ? 0 : INFINITY;
    double largest = 0;
    for (std::size_t i = 0; i < size / sizeof(float); ++i)
      largest = std::max(
          largest, difference(output_.as<float>()[i], static_cast<const float*>(again.get())[i]));
    return largest;
  }

  Task task_;
  std::unique_ptr<runtime::JitModule> code_;
  std::unique_ptr<runtime::OneDnnKernel> library_;
  std::vector<Bytes> keep_;
  std::vector<Tensor> plain_;
  Tensor output_;
  std::vector<void*> buffers_;
  std::vector<std::pair<runtime::StageFunction, std::int64_t>> functions_;
  void* scratch_ = nullptr;
};

std::string text_of(const Schedule& schedule) {
  std::string text;
  for (const auto& [name, value] : schedule)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return text;
}

struct Line {
  double ns = 0;
  Schedule schedule;
};

void bench(const ShapeLine& line, const Candidate& base, const Options& options, const Soc& soc,
           double peak) {
  const Task& task = line.task;
  const std::unique_ptr<Plan> plan = base.impl->plan(task, base.format, soc);
  std::vector<Schedule> schedules = {base.schedule};
  for (const std::string& part : split_words(options.schedule, ',')) {
    const auto at = part.find('=');
    schedules[0][part.substr(0, at)] = std::stoll(part.substr(at + 1));
  }
  std::mt19937 random(3);
  for (int i = 0, tries = 0; i < options.search && tries < 100 * options.search; ++tries) {
    Schedule sample;
    for (const ScheduleAxis& axis : plan->axes())
      sample[axis.name] = axis.values[random() % axis.values.size()];
    if (!plan->is_legal(sample)) continue;
    schedules.push_back(sample);
    ++i;
  }
  std::vector<Line> lines;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    Candidate candidate = base;
    candidate.schedule = schedules[i];
    if (options.assembly) {
      for (const loopnest::Function& stage : plan->build(candidate.schedule).stages)
        std::printf("%s", loopnest::assembly(stage, soc).c_str());
    }
    Runner runner(line, candidate, soc);
    if (options.check) {
      const double error = runner.error();
      const bool may_round = graph::allows_bf16(task.op) || graph::allows_fp16(task.op);
      std::printf("    %s %.1e: %s\n", error < (may_round ? 0x1p-8 : 1e-4) ? "error" : "WRONG by",
                  error, text_of(candidate.schedule).c_str());
    }
    lines.push_back({runner.best_ns(options.search != 0 ? 5 : 60), candidate.schedule});
    if (i == 0) {
      std::printf(
          "  %-17s %-13s %10.1f us %8.1f GFLOP/s %5.1f%%  estimate %8.1f us compile %5.1f ms  %s\n",
          std::string(base.impl->name()).c_str(), base.format.name.c_str(), lines[0].ns / 1e3,
          flops(task) / lines[0].ns, 100 * flops(task) / lines[0].ns / peak,
          plan->estimate_ns(plan->heuristic()) / 1e3, runner.compile_ms,
          text_of(candidate.schedule).c_str());
      std::fflush(stdout);
    }
  }
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.ns < b.ns; });
  for (std::size_t i = 0; options.search != 0 && i < std::min<std::size_t>(5, lines.size()); ++i) {
    std::printf("      %10.1f us %5.1f%%  %s\n", lines[i].ns / 1e3,
                100 * flops(task) / lines[i].ns / peak, text_of(lines[i].schedule).c_str());
  }
}

/// The reference and native kernels are not made for a task.
bool has_code(const Task& task, const Candidate& candidate, const Soc& soc) {
  const Kernel kernel =
      candidate.impl->plan(task, candidate.format, soc)->build(candidate.schedule);
  return !kernel.stages.empty() || !kernel.params.empty();
}

void bench_all(const Options& options) {
  Soc soc = detect_soc(1);
  if (options.avx2) {
    soc.target = find_target("avx2");
    soc.llvm_cpu = "x86-64-v3";
  }
  omp_set_num_threads(soc.threads);  // oneDNN's team
  const double peak = tuner::fma_peak_gflops(soc);
  std::printf("%s, %d lanes, one thread, peak %.0f GFLOP/s\n", soc.version.c_str(),
              soc.vector_lanes(), peak);
  for (const std::string& text : options.tasks) {
    const ShapeLine line = parse_task(text);
    const Task& task = line.task;
    std::printf("%s\n", text.c_str());
    for (const Candidate& candidate : default_candidates(task, soc)) {
      if (!options.impl.empty() && candidate.impl->name() != options.impl) continue;
      if (!options.format.empty() && candidate.format.name != options.format) continue;
      if (!has_code(task, candidate, soc)) continue;
      bench(line, candidate, options, soc, peak);
    }
  }
}

ExitCode run(const tools::po::variables_map& flags) {
  const Options options{.impl = tools::text_of(flags, "impl"),
                        .format = tools::text_of(flags, "format"),
                        .schedule = tools::text_of(flags, "schedule"),
                        .search = flags["search"].as<int>(),
                        .check = flags["check"].as<bool>(),
                        .avx2 = flags["avx2"].as<bool>(),
                        .assembly = flags["assembly"].as<bool>(),
                        .tasks = flags["task"].as<std::vector<std::string>>()};
  bench_all(options);
  return ExitCode::kSuccess;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{.name = "kernel_bench",
            .synopsis = "kernel_bench [flags] TASK ...",
            .summary =
                "Times kernels of single tasks on one thread: GFLOP/s, and the share of the "
                "FMA peak. TASK is in the notation of the examples, or a shape line "
                "(tests/compiler/shape_line.h).",
            .examples =
                "  kernel_bench \"conv 1x64x56x56 64x64x3x3 s1 p1 d1 g1 bias add relu\"\n"
                "  kernel_bench --impl=gemm_packed --search=40 \"matmul 128x768 768x3072 "
                "bias relu\"\n"
                "  kernel_bench \"SoftmaxV2 in=4x100\"\n"};
  auto add = tool.flags.add_options();
  add("impl", text("NAME"), "only this Impl; default: all with generated or library code");
  add("format", text("NAME"), "only this Format");
  add("schedule", text("A=N,B=N"), "axes that differ from the heuristic Schedule");
  add("search", number_or(0, "N"), "time N random legal Schedules and print the best");
  add("check", po::bool_switch(),
      "print the largest error against the reference, as a share of the largest output");
  add("avx2", po::bool_switch(), "compile for AVX2");
  add("assembly", po::bool_switch(), "print the machine code");
  add("task", po::value<std::vector<std::string>>()->required(), "tasks");
  tool.positional.add("task", -1);
  tool.run = run;
  return run_tool(argc, argv, std::move(tool));
}
