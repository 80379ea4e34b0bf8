// A report as the C interface shows it: pointers into texts that live as long as the view.
#pragma once

#include <string>
#include <vector>

#include "aoe/aoe.h"
#include "api/tuning_run.h"

namespace aoe::api {

class ResultView {
 public:
  explicit ResultView(const RunReport& report);
  ResultView(const ResultView&) = delete;
  ResultView& operator=(const ResultView&) = delete;

  const AoeTuningResult& get() const { return result_; }

 private:
  RunReport report_;
  std::string improvement_, improvement_interval_, improvement_reason_, ended_by_;
  std::string verdict_, gears_, result_path_, bank_path_, om_path_, output_path_;
  std::vector<std::string> gain_improvements_;
  std::vector<AoeGain> gains_;
  std::vector<const char*> failed_ops_;
  AoeTuningResult result_ = {};
};

}  // namespace aoe::api
