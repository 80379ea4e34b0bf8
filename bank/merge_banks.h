// Banks put together, as aoe_bank merge does: a stream through all of them in the order of their keys, so that banks of millions
// of strategies need little memory, and what only one of them knows is copied as it lies there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <vector>

#include "bank/merge_content.h"

namespace aoe::bank {

struct MergedBank {
  std::size_t tasks = 0, measurements = 0;
  std::vector<MergeConflict> conflicts;
};

/// Makes banks below `root` of all that is at `sources` (as contents_at() takes them), by is_better(). Measurements that more
/// than one has stay once, those of the first source before those of the second. Error(kBank): a source cannot be read, or a
/// bank below `root` is not empty.
std::map<BankId, MergedBank> merge_banks(const std::vector<std::filesystem::path>& sources,
                                         const std::filesystem::path& root);

}  // namespace aoe::bank
