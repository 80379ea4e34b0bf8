// CSV as RFC 4180 has it, with "\n"; JSON as an array with one object per row.
#include "profiler/export/table_writer.h"

#include <cmath>

#include "base/check.h"

namespace aoe::profiler {
namespace {

void append_csv_text(std::string& out, std::string_view value) {
  if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += value;
    return;
  }
  out += '"';
  for (const char c : value) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace

TableWriter::TableWriter(Options options, std::vector<std::string> columns)
    : options_(std::move(options)), columns_(std::move(columns)) {
  AOE_CHECK(!columns_.empty(), "a table without columns");
  for (const std::string& column : columns_) {
    std::string key = keys_.empty() ? "{" : ",";
    append_json_string(key, column);
    keys_.push_back(key + ":");
  }
}

std::filesystem::path TableWriter::path(std::optional<std::size_t> slice) const {
  return options_.directory /
         (options_.stem + (slice ? "_slice_" + std::to_string(*slice) : "") + options_.suffix +
          (options_.format == SummaryFormat::kCsv ? ".csv" : ".json"));
}

void TableWriter::open() {
  file_ = std::make_unique<TextFile>(path(std::nullopt));
  rows_ = 0;
  if (options_.format == SummaryFormat::kJson) {
    file_->buffer() += '[';
    return;
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) file_->buffer() += ',';
    append_csv_text(file_->buffer(), columns_[i]);
  }
  file_->buffer() += '\n';
}

void TableWriter::close(bool is_last) {
  if (options_.format == SummaryFormat::kJson) file_->buffer() += "\n]\n";
  const bool is_only = is_last && written_.empty();
  written_.push_back(path(is_only ? std::nullopt : std::optional(written_.size())));
  file_->finish_as(written_.back());
  file_.reset();
}

std::string& TableWriter::cell() {
  if (column_ == 0) {
    if (file_ != nullptr && rows_ == options_.rows_per_file) close(/*is_last=*/false);
    if (file_ == nullptr) open();
    if (options_.format == SummaryFormat::kJson) file_->buffer() += rows_ == 0 ? "\n" : ",\n";
  }
  AOE_CHECK(column_ < columns_.size(), options_.stem + ": more cells than columns");
  std::string& out = file_->buffer();
  if (options_.format == SummaryFormat::kJson)
    out += keys_[column_];
  else if (column_ > 0)
    out += ',';
  ++column_;
  return out;
}

TableWriter& TableWriter::text(std::string_view value) {
  std::string& out = cell();
  if (value.empty()) value = "N/A";
  if (options_.format == SummaryFormat::kJson)
    append_json_string(out, value);
  else
    append_csv_text(out, value);
  return *this;
}

TableWriter& TableWriter::na() {
  cell() += options_.format == SummaryFormat::kJson ? "\"N/A\"" : "N/A";
  return *this;
}

TableWriter& TableWriter::integer(std::int64_t value) {
  append_integer(cell(), value);
  return *this;
}

TableWriter& TableWriter::us(std::int64_t ns) {
  append_us(cell(), ns);
  return *this;
}

TableWriter& TableWriter::real(double value, int decimals) {
  if (!std::isfinite(value)) return na();
  append_real(cell(), value, decimals);
  return *this;
}

void TableWriter::end_row() {
  AOE_CHECK(column_ == columns_.size(), options_.stem + ": " + std::to_string(column_) +
                                            " cells for " + std::to_string(columns_.size()) +
                                            " columns");
  file_->buffer() += options_.format == SummaryFormat::kJson ? "}" : "\n";
  column_ = 0;
  ++rows_;
  file_->maybe_flush();
}

std::vector<std::filesystem::path> TableWriter::finish() {
  if (file_ != nullptr) close(/*is_last=*/true);
  return std::move(written_);
}

}  // namespace aoe::profiler
