// The container of an om: a header page with a section table, then the sections, each from a page's beginning on. What
// the sections hold is not its business.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aoe::runtime {

/// In the order of the file; a file with gears has one graph section for each of them, and only such a file has kGears.
enum class SectionKind : std::uint32_t { kGraph, kWeights, kCode, kTuning, kGears };

struct OmSection {
  SectionKind kind;
  std::string_view bytes;
};

std::string write_container(std::span<const OmSection> sections);

/// Views of `bytes`, every checksum verified, in the order of the file. Throws Error(kOm) that names `where`.
std::vector<OmSection> read_container(std::string_view bytes, const std::string& where);

}  // namespace aoe::runtime
