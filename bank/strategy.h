// Strategy values: what tuning found, without any database. The compiler asks a StrategySource;
// bank/ implements it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "base/hash.h"

namespace aoe::bank {

/// Named integer parameters of one Impl's loop nest; ordered, so that texts are stable.
using Schedule = std::map<std::string, std::int64_t>;

/// The identity of a task. `description` is canonical JSON text (op, attributes, epilogue, shapes,
/// dtypes, which inputs are constant): equal tasks of any two models have equal texts.
/// `soc_version` includes the thread count.
struct TaskKey {
  std::string description;
  std::string soc_version;

  Digest128 digest() const { return hash128(description); }
  /// The key that results print: 64 bits in decimal.
  std::string repo_key() const { return std::to_string(hash64(description)); }
};

/// How a time was measured; stored with it, compared before it is trusted.
struct Measurement {
  double time_ns = 0;  ///< median
  /// The heuristic default's: interleaved with it in a race, at the beginning of the same search
  /// for a record of a search. 0: unknown.
  double default_time_ns = 0;
  std::string verdict;  ///< "faster", "same", "slower", "ambiguous" against the default
  std::string policy;   ///< name and version of the measuring policy
  int threads = 0;
  std::int64_t trials = 0;  ///< candidates measured for this task when it was won
  std::string when_utc;     ///< ISO 8601
};

/// The samples of one side of a comparison.
struct SampleSummary {
  double median_ns = 0;
  double spread_ns = 0;    ///< between the quartiles
  std::int64_t count = 0;  ///< 0: not known
};

/// Where and with what a strategy was won. Empty of those that older programs have stored.
struct Provenance {
  std::string engine, llvm, onednn;    ///< versions
  std::string cpu, microcode, kernel;  ///< of the machine; "" where the system does not say
  std::string model, node;  ///< where the task was met: the model's name, the first node's
  std::uint64_t seed = 0;
  SampleSummary won;         ///< of this strategy
  SampleSummary by_default;  ///< of its default, in the same run
  bool is_empty() const { return engine.empty(); }
};

/// Format + Impl + Schedule. A task keeps at most one per Format, so that Formats can be chosen for
/// the whole model.
struct Strategy {
  std::string format;  ///< name of the Impl's FormatChoice: "NCHW", "NHWC", "NC1HWC0", "ND"
  std::string impl;
  int impl_version = 0;
  Schedule schedule;
  Measurement measured;
  /// Graph bank only: the rewrite plan (graph/subgraphs/rewrite_plan.h) as JSON text; Format, Impl and
  /// Schedule are empty then.
  std::string rewrite = {};
  Provenance provenance = {};
};

/// All strategies of one task, fastest first. A set without a winner says that nothing beats the default, and how fast
/// each Format is: what the choice of Formats for a whole model needs to know.
struct StrategySet {
  std::vector<Strategy> strategies;
  bool has_winner() const;  ///< one of them is faster than the default
};

/// What the machine can do at most, measured on it with as many threads as its soc_version says; for reports.
struct Roofs {
  double peak_gflops = 0;  ///< float32 multiply-adds in registers
  double memory_gb_s = 0;  ///< read from memory
  std::string when_utc;    ///< ISO 8601
};

/// Interface: where the compiler gets strategies from. Thread-safe for concurrent find().
class StrategySource {
 public:
  virtual ~StrategySource() = default;
  /// std::nullopt is a miss. Entries of another Impl version, soc or policy are left out by the
  /// source.
  virtual std::optional<StrategySet> find(const TaskKey& key) const = 0;
  /// Where strategies come from, for the om's tuning section and logs: "custom bank <path>",
  /// "none".
  virtual std::string description() const = 0;
  /// Whether find() will find nothing, whatever the key: then nobody need work keys out.
  virtual bool is_empty() const { return false; }
  /// nullopt: nobody has measured.
  virtual std::optional<Roofs> roofs() const { return std::nullopt; }
};

nlohmann::json to_json(const Strategy& strategy);
Strategy strategy_from_json(const nlohmann::json& json);
nlohmann::json to_json(const StrategySet& set);
StrategySet strategy_set_from_json(const nlohmann::json& json);

}  // namespace aoe::bank
