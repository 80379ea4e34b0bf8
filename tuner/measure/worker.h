// The worker process: the program itself, started again in a hidden mode, that compiles and runs
// candidates for its parent. Whatever a candidate does to it, the parent sees as a failed Timing.
#pragma once

#include <string>

#include "tuner/measure/op_bench.h"

namespace aoe::tuner {

inline constexpr const char* kWorkerArgument = "--measure-worker";
/// Of the product, and of what the messages mean: a parent and its worker must agree.
std::string worker_version();
inline constexpr int kWorkerSocket = 3;  ///< file descriptor the parent leaves open
/// How often, about, a worker that measures in rounds says how long they take.
inline constexpr double kRoundsToldEverySeconds = 1;

/// First thing in main() of a program that measures: when this process was started as a worker, it
/// serves until the parent closes the socket, and exits. Otherwise it returns at once. Tests give a
/// `build` of their own, with candidates that misbehave.
void run_if_worker(int argc, char** argv, BuildOm build = build_op_om);

}  // namespace aoe::tuner
