// The container of an om: a header page with a section table, then the sections, each from a page's beginning on. What
// the sections hold is not its business.
#pragma once

#include <array>
#include <cstdint>
#include <list>
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

/// A file before it is written: a header, the sections and the zeros between them, in pieces, so that weights need not be
/// in memory twice.
class OmFile {
 public:
  OmFile() = default;
  OmFile(OmFile&&) = default;  // a copy's views would be of what this one keeps
  OmFile& operator=(OmFile&&) = default;
  /// The file keeps `bytes`.
  void add(SectionKind kind, std::string bytes);
  /// `bytes` must outlive the file.
  void add_view(SectionKind kind, std::string_view bytes);
  /// In order, to be written one behind the other; valid until the next add.
  std::vector<std::string_view> pieces();
  std::string bytes();

 private:
  std::list<std::string> kept_;  ///< strings stay where they are when a list moves
  std::string header_;
  std::vector<OmSection> sections_;
};

std::size_t size_of(std::span<const std::string_view> pieces);

/// Views of `bytes`, every checksum verified, in the order of the file. Throws Error(kOm) that names `where`.
std::vector<OmSection> read_container(std::string_view bytes, const std::string& where);

/// In the header; all zeros: not signed. See om_signature.h.
using Signature = std::array<unsigned char, 64>;
/// Throw Error(kOm) that names `where` when the header is damaged.
Signature signature_of(std::string_view bytes, const std::string& where);
/// The header's page as if it had no signature.
std::string header_to_sign(std::string_view bytes, const std::string& where);
/// Of a file whose header is sound.
void set_signature(std::string& bytes, const Signature& signature);

}  // namespace aoe::runtime
