// The work of one tuning job, from the model to the om, the result and the bank.
#pragma once

#include <filesystem>
#include <string>

#include "api/settings.h"
#include "api/subjects.h"
#include "base/error.h"
#include "tuner/tuner.h"

namespace aoe::api {

/// How it ended, and where things are.
struct RunReport {
  std::string tuning_name;
  tuner::TuneOutcome outcome;
  Gears gears;
  std::filesystem::path result_path;
  std::filesystem::path bank_directory;
  std::filesystem::path om_path;      ///< empty: none was written
  std::filesystem::path output_path;  ///< empty: none was wanted or written
};

/// Throws Error: what is wrong with the options, the model, the bank, the places of files. An outcome that failed or was stopped
/// is a report.
RunReport tune_subject(const Settings& settings, const Subject& subject);

/// What to say of a report whose bank failed at the end; the run is whole, but the next one and atc would not know of it.
Error bank_error(const std::vector<tuner::RescuedBank>& rescued, const std::string& soc_version);

}  // namespace aoe::api
