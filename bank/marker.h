// The file BANK: says that a directory is a bank, of which layout, and for which hardware.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace aoe::bank {

/// Of the directory. 1 had a live database in `db/` beside its snapshots; 2 has snapshots alone.
inline constexpr int kLayout = 2;

struct Marker {
  std::string soc_version;
  int layout = kLayout;
  bool is_new = false;  ///< nothing was committed yet: without snapshots it is not damaged
};

/// nullopt: no bank there yet, be it that the directory is missing or that its first commit is under
/// way. Error(kBank): something else is there, it is damaged, unreadable, or of a newer layout.
std::optional<Marker> read_marker(const std::filesystem::path& directory);
/// Error(kBank) also when the bank is of another soc_version.
std::optional<Marker> read_marker(const std::filesystem::path& directory,
                                  const std::string& soc_version);

/// On disk when it returns. Error(kOutput).
void write_marker(const std::filesystem::path& directory, const Marker& marker);

}  // namespace aoe::bank
