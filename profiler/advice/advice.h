// Advice: rules over an imported profile, each with the rows that show what it says.
//
//   for (const Finding& finding : advise(profile)) ...
//   write_advice(advise(profile), "PROF_.../mindstudio_profiler_output/prof_rule_0.json");
//
// A rule is one file of rules/: it registers its names and a function that returns what it found, or
// nothing. Thresholds are constants at the top of each.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/database/database.h"
#include "profiler/export/op_times.h"

namespace aoe::profiler {

/// The tables of prof_rule_0.json.
enum class AdviceView { kOpSummary, kOpParallel, kModelSummary };
std::string_view name_of(AdviceView view);

struct Evidence {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< the weightiest first
};

/// What a rule says about this profile.
struct Diagnosis {
  std::string description;  ///< what is so, with figures
  std::string suggestion;   ///< what to do, down to the command where there is one
  Evidence evidence;
};

/// What all rules look at, read once.
struct AdviceInput {
  explicit AdviceInput(const Database& database);

  const Database& profile;
  std::vector<OpTimes> ops;
  std::vector<TypeTimes> types;
  std::int64_t op_ns = 0;         ///< sum over `ops`, of typical times: medians by their count
  std::int64_t execution_ns = 0;  ///< sum over executions of models
  std::int64_t executions = 0;

  double share_of_ops(std::int64_t ns) const {
    return op_ns == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(op_ns);
  }
};

/// Some of the ops, and their time.
struct OpSelection {
  std::vector<const OpTimes*> ops;  ///< the longest first; they lie in the AdviceInput
  std::int64_t typical_ns = 0;
};
OpSelection select_ops(const AdviceInput& input, const std::function<bool(const OpTimes&)>& wanted);

struct Rule {
  std::string name;  ///< of its file
  std::string type;  ///< "Computation", "Memory", "Operator Schedule", ... (reference 6B)
  std::string subtype;
  AdviceView view = AdviceView::kOpSummary;
  std::function<std::optional<Diagnosis>(const AdviceInput&)> check;
};

class RuleRegistry {
 public:
  RuleRegistry();  ///< with the rules of rules/
  void add(Rule rule) { rules_.push_back(std::move(rule)); }
  const std::vector<Rule>& rules() const { return rules_; }

 private:
  std::vector<Rule> rules_;
};

struct Finding {
  std::string rule, type, subtype;
  AdviceView view = AdviceView::kOpSummary;
  Diagnosis diagnosis;
};

std::vector<Finding> advise(const Database& profile);

/// {"data": {"Op Summary": [{"Rule Type", "Rule Subtype", "Rule Description", "Rule Suggestion",
/// "Tuning Data": [...]}], "Op Parallel": [], "Model Summary": []}}
void write_advice(const std::vector<Finding>& findings, const std::filesystem::path& path);

// For rules.
std::string percent(double share);          ///< "12.3%"
std::string microseconds(std::int64_t ns);  ///< "1234.567"
/// Of control flow, and of ops in parts: nothing to tune in itself.
bool runs_bodies(const OpRow& op);
/// The command that tunes a model's operators.
std::string tune_command(const ModelRow& model);
/// At most this many rows of evidence: an advice is read by people.
inline constexpr std::size_t kMostEvidence = 10;

}  // namespace aoe::profiler
