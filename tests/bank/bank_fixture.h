// Tasks and strategies that the bank's tests store.
#pragma once

#include "bank/knowledge_bank.h"

namespace aoe::bank {

inline constexpr const char* kTestSoc = "x86_64-test-2t";

inline TaskKey test_key(int number) {
  return {"{\"task\":" + std::to_string(number) + "}", kTestSoc};
}

inline Strategy test_strategy(const std::string& format, double time_ns, std::int64_t tile = 1) {
  Strategy s{format, "direct", 1, {{"tile", tile}}, {}};
  s.measured = {time_ns, 2 * time_ns, "faster", "paired-1", 2, 10, "2026-01-01T00:00:00Z"};
  return s;
}

}  // namespace aoe::bank
