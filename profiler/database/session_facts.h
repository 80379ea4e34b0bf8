// What is known about a profiling session before its first event: from info.json and sample.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/raw/raw_reader.h"

namespace aoe::profiler {

struct SessionFacts {
  Generation generation = Generation::kProf;
  std::int64_t process_id = 0;
  std::int64_t monotonic_to_unix_ns = 0;  ///< add to CLOCK_MONOTONIC to get Unix time
  std::string host_uid;
  std::string host_name;
  std::string processor;  ///< stands where msprof names the NPU
  std::string metric_group;
  double frequency_mhz = 0;    ///< 0: unknown
  int cores = 0;               ///< 0: unknown
  bool training_trace = true;  ///< whether FP and BP are wanted
  std::string fp_point;        ///< op names; empty: found by data flow
  std::string bp_point;
  struct Counter {
    std::string name;
    std::string event;
  };
  std::vector<Counter> counters;  ///< the meaning of RawCounters::values
};

SessionFacts session_facts(const RawInfo& raw);

}  // namespace aoe::profiler
