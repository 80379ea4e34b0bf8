// Exports the summaries of a synthetic profile and reads them back: for tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "profiler/database/importer.h"
#include "profiler/export/summary.h"
#include "tests/profiler/synthetic_profile.h"

namespace aoe::profiler::tests {

/// Rows of cells; the first is the header. Understands quotes.
inline std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = rows.back().back();
    if (quoted) {
      if (c != '"')
        cell += c;
      else if (i + 1 < text.size() && text[i + 1] == '"')
        cell += text[++i];
      else
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\n') {
      if (i + 1 < text.size()) rows.emplace_back(1);
    } else {
      cell += c;
    }
  }
  return rows;
}

struct ExportedTables {
  std::map<std::string, std::string> texts;  ///< by file name

  bool has(const std::string& prefix) const {
    const auto found = texts.lower_bound(prefix);
    return found != texts.end() && found->first.starts_with(prefix);
  }
  std::vector<std::vector<std::string>> rows(const std::string& prefix) const {
    const auto found = texts.lower_bound(prefix);
    if (!has(prefix)) {
      ADD_FAILURE() << "no file " << prefix;
      return {{}};
    }
    return parse_csv(found->second);
  }
  /// The cell of a column in a row, counted from 1.
  std::string cell(const std::string& prefix, std::size_t row, const std::string& column) const {
    const auto all = rows(prefix);
    for (std::size_t i = 0; i < all.front().size(); ++i)
      if (all.front()[i] == column && row < all.size()) return all[row].at(i);
    ADD_FAILURE() << prefix << " has no " << column << " in row " << row;
    return {};
  }
};

inline ExportedTables export_tables(SyntheticProfile& raw, const SummaryOptions& options = {}) {
  raw.flush();
  const Database profile(import_raw(raw.directory()).database);
  ExportedTables exported;
  for (const auto& path :
       export_summaries(profile, raw.directory() / "out", "20261121101112", options))
    exported.texts[path.filename().string()] = read_file(path, ExitCode::kFailure);
  return exported;
}

}  // namespace aoe::profiler::tests
