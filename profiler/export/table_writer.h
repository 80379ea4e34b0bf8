// TableWriter: rows of one summary as CSV or JSON, cut into files of a million rows.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/export/text_file.h"

namespace aoe::profiler {

enum class SummaryFormat { kCsv, kJson };

/// No file appears before the first row: what has no data has no file. A cell that is not there
/// reads N/A. Cells come in the order of the columns.
class TableWriter {
 public:
  struct Options {
    std::filesystem::path directory;
    std::string stem;    ///< "op_summary"
    std::string suffix;  ///< "_20261121101112", behind "_slice_<n>" where there are several files
    SummaryFormat format = SummaryFormat::kCsv;
    std::int64_t rows_per_file = 1'000'000;
  };
  TableWriter(Options options, std::vector<std::string> columns);

  TableWriter& text(std::string_view value);
  TableWriter& integer(std::int64_t value);
  TableWriter& us(std::int64_t ns);  ///< three decimals
  TableWriter& real(double value, int decimals = 3);
  TableWriter& na();
  TableWriter& integer(const std::optional<std::int64_t>& value) {
    return value ? integer(*value) : na();
  }
  TableWriter& real(const std::optional<double>& value, int decimals = 3) {
    return value ? real(*value, decimals) : na();
  }
  void end_row();

  /// The files; empty when there were no rows.
  std::vector<std::filesystem::path> finish();

 private:
  std::string& cell();
  void open();
  void close(bool is_last);
  std::filesystem::path path(std::optional<std::size_t> slice) const;

  const Options options_;
  const std::vector<std::string> columns_;
  std::vector<std::string> keys_;  ///< JSON: what stands before each value
  std::unique_ptr<TextFile> file_;
  std::size_t column_ = 0;
  std::int64_t rows_ = 0;
  std::vector<std::filesystem::path> written_;
};

}  // namespace aoe::profiler
