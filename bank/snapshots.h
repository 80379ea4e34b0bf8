// The snapshots of a bank's directory: complete databases that nobody changes once they are there.
//
// A commit copies the newest whole one (hard links where files never change), writes into the copy,
// seals it and publishes it by a rename. So whatever happens to one of them, the others stay, and
// nothing that a reader sees is ever half-written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"

namespace aoe::bank {

using SnapshotList = std::map<std::uint64_t, std::filesystem::path>;  ///< by number

/// Error(kBank): the directory cannot be listed, or a name in it begins as one of a snapshot and is
/// none.
SnapshotList list_snapshots(const std::filesystem::path& directory);

/// The newest of the snapshots that `open` takes. What is skipped is said as a warning; when all are
/// damaged, the newest one's Error(kBank) is thrown. nullopt: there is none.
/// `open` gets snapshots whose files are those that were sealed; it throws on further damage.
std::optional<std::filesystem::path> newest_whole_snapshot(
    const std::filesystem::path& directory,
    const std::function<void(const std::filesystem::path&)>& open);

/// Of one snapshot: nullopt when its files are those that were sealed, and `open` took it. What the process lacks, descriptors, is
/// thrown: it says nothing of the snapshot, which a repair would move away.
std::optional<Error> damage_of(const std::filesystem::path& snapshot,
                               const std::function<void(const std::filesystem::path&)>& open);

/// A place for the next snapshot: what a commit that did not end has left there is removed.
std::filesystem::path fresh_staging_directory(const std::filesystem::path& directory);

/// Links the files that never change, copies the others; `to` is there and empty. What an
/// unfinished database needs (its log) comes along. Error(kBank).
void copy_database(const std::filesystem::path& from, const std::filesystem::path& to);

/// Writes the list of files that a reader checks, and syncs all of it. Error(kBank).
void seal(const std::filesystem::path& staged);

/// Gives the sealed directory its name; it is there after a power loss, too, when this returns.
/// Then removes old snapshots, but never the three newest whole ones. Error(kBank).
void publish(const std::filesystem::path& staged, const std::filesystem::path& directory);

}  // namespace aoe::bank
