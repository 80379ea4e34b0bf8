// Summaries: one table per file, CSV or JSON.
//
//   export_summaries(profile, "PROF_.../mindstudio_profiler_output", timestamp, {.format = kJson});
//
// A table is one file of summaries/, which registers its name, its columns and how its rows are
// written. Columns follow the reference (6A for JOB, 6B for PROF); what a CPU cannot tell reads N/A.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "profiler/database/database.h"
#include "profiler/export/table_writer.h"
#include "profiler/export/timeline.h"

namespace aoe::profiler {

struct SummaryOptions {
  SummaryFormat format = SummaryFormat::kCsv;
  ExportSelection selection;
  std::int64_t rows_per_file = 1'000'000;
  std::vector<std::string> left_out;  ///< names of tables
};

/// One file of a table. JOB tables have one per model, with figures in its name.
struct SummaryPart {
  std::string stem;
  const ModelRow* model = nullptr;
};

struct SummaryRequest {
  const Database& profile;
  const ExportSelection& selection;
  const ModelRow* model;  ///< of the part; nullptr: all
};

struct SummaryTable {
  std::string name;
  Generation generation = Generation::kProf;
  std::vector<std::string> columns;
  /// Columns behind these that depend on what was collected. May be empty.
  std::function<std::vector<std::string>(const Database&)> more_columns;
  std::function<void(const SummaryRequest&, TableWriter&)> write;
  /// Empty: one part, named as the table.
  std::function<std::vector<SummaryPart>(const Database&, const ExportSelection&)> parts;

  std::vector<std::string> all_columns(const Database& profile) const;
};

class SummaryRegistry {
 public:
  SummaryRegistry();  ///< with the tables of summaries/
  void add(SummaryTable table) { tables_.push_back(std::move(table)); }
  const std::vector<SummaryTable>& tables() const { return tables_; }

 private:
  std::vector<SummaryTable> tables_;
};

/// The files of all tables that have rows.
std::vector<std::filesystem::path> export_summaries(const Database& profile,
                                                    const std::filesystem::path& directory,
                                                    const std::string& timestamp,
                                                    const SummaryOptions& options);

}  // namespace aoe::profiler
