// The marker as JSON, read as something that anybody may have written.
#include "bank/marker.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/json_text.h"

namespace aoe::bank {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

constexpr const char* kFile = "BANK";
constexpr const char* kMarkerKind = "aoe knowledge bank";

/// What cannot be looked at is no missing file.
bool is_there(const fs::path& path) {
  std::error_code status;
  const bool found = fs::exists(path, status);
  if (status)
    throw Error(ExitCode::kBank, "cannot be looked at: " + status.message(), path.string(),
                "grant the permission to read it");
  return found;
}

/// A first commit that is under way has made the lock but not the marker yet.
void require_nothing_else(const fs::path& directory) {
  std::error_code status;
  fs::directory_iterator entry(directory, status);
  for (; !status && entry != fs::directory_iterator(); entry.increment(status)) {
    const std::string name = entry->path().filename().string();
    if (name != "lock" && !name.starts_with("BANK.tmp"))
      throw Error(ExitCode::kBank, "is not a bank (no file BANK in it)", directory.string(),
                  "name a bank's directory, or an empty one");
  }
  if (status)
    throw Error(ExitCode::kBank, "cannot be listed: " + status.message(), directory.string(),
                "grant the permission to read it");
}

[[noreturn]] void reject(const fs::path& marker) {
  throw Error(ExitCode::kBank, "is not a bank marker, or a damaged one", marker.string(),
              "move the directory away, or restore a backup");
}

Marker parse(const json& content, const fs::path& path) {
  const auto field = [&](const char* name) {
    const auto found = content.find(name);
    return found == content.end() ? json() : *found;
  };
  if (!content.is_object() || field("kind") != kMarkerKind) reject(path);
  const json layout = field("layout"), soc = field("soc_version"), is_new = field("is_new");
  if (!layout.is_number_integer() || layout.get<std::int64_t>() < 1) reject(path);
  // Of a newer layout only the number has to make sense to us.
  if (layout.get<std::int64_t>() > kLayout)
    throw Error(ExitCode::kBank,
                "bank was written by a newer version (layout " + json_text(layout) +
                    ", this one knows " + std::to_string(kLayout) + ")",
                path.parent_path().string(), "upgrade this program");
  if (!soc.is_string() || !(is_new.is_null() || is_new.is_boolean())) reject(path);
  return {soc.get<std::string>(), layout.get<int>(), is_new.is_boolean() && is_new.get<bool>()};
}

}  // namespace

std::optional<Marker> read_marker(const fs::path& directory) {
  if (!is_there(directory)) return std::nullopt;
  if (!fs::is_directory(directory))
    throw Error(ExitCode::kBank, "is not a bank (not a directory)", directory.string(),
                "name a bank's directory");
  const fs::path path = directory / kFile;
  if (!is_there(path)) {
    require_nothing_else(directory);
    return std::nullopt;
  }
  return parse(read_json_file(path, ExitCode::kBank), path);
}

std::optional<Marker> read_marker(const fs::path& directory, const std::string& soc_version) {
  std::optional<Marker> marker = read_marker(directory);
  if (marker && marker->soc_version != soc_version)
    throw Error(ExitCode::kBank,
                "bank is for soc_version " + marker->soc_version + ", not " + soc_version,
                directory.string(), "name the bank of this hardware");
  return marker;
}

void write_marker(const fs::path& directory, const Marker& marker) {
  json content = {
      {"kind", kMarkerKind}, {"layout", marker.layout}, {"soc_version", marker.soc_version}};
  if (marker.is_new) content["is_new"] = true;
  write_file_atomically(directory / kFile, json_text(content, 2) + "\n", true);
}

}  // namespace aoe::bank
