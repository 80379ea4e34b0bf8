// Header, section table, checksums. Tested by tests/runtime/om_test.cpp.
#include "runtime/om/om_container.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/ceil_div.h"
#include "base/check.h"
#include "base/error.h"
#include "base/gears.h"
#include "base/hash.h"
#include "base/memory.h"

namespace aoe::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "an om is little-endian");

constexpr std::uint64_t kPageBytes = 4096;
constexpr char kOmMagic[8] = {'A', 'O', 'E', 'O', 'M', 0, 0, 1};
// The version is the least that a reader must know: raise it for files that an older reader could not run.
constexpr std::uint32_t kOneShapeVersion = 1;
constexpr std::uint32_t kGearsVersion = 2;

constexpr const char* kSectionNames[] = {"graph", "weights", "code", "tuning", "gears"};
constexpr std::size_t kMostSections = kMostGears + 4;

struct SectionEntry {
  std::uint32_t kind;
  std::uint32_t crc;
  std::uint64_t offset;
  std::uint64_t size_bytes;
};

/// The first page of the file. Its checksum covers the whole page, its zeros included.
struct Header {
  char magic[8];
  std::uint32_t format_version;
  std::uint32_t section_count;
  std::uint64_t total_bytes;
  SectionEntry sections[kMostSections];
  Signature signature;
  char zeros[kPageBytes - 24 - kMostSections * sizeof(SectionEntry) - sizeof(Signature) - 4];
  std::uint32_t crc;
};
static_assert(sizeof(Header) == kPageBytes && sizeof(SectionEntry) == 24);

std::uint64_t round_up_to_page(std::uint64_t bytes) {
  return round_up(bytes, kPageBytes);
}

std::uint32_t crc_of(const Header& header) {
  return crc32c(&header, offsetof(Header, crc));
}

Header make_header(std::span<const OmSection> sections) {
  AOE_CHECK(sections.size() <= kMostSections, "too many sections");
  Header header{};
  std::memcpy(header.magic, kOmMagic, sizeof kOmMagic);
  header.format_version =
      sections.back().kind == SectionKind::kGears ? kGearsVersion : kOneShapeVersion;
  header.section_count = static_cast<std::uint32_t>(sections.size());
  header.total_bytes = kPageBytes;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const std::string_view bytes = sections[i].bytes;
    const std::uint64_t offset = round_up_to_page(header.total_bytes);
    header.sections[i] = {static_cast<std::uint32_t>(sections[i].kind),
                          crc32c(bytes.data(), bytes.size()), offset, bytes.size()};
    header.total_bytes = offset + bytes.size();
  }
  header.crc = crc_of(header);
  return header;
}

[[noreturn]] void refuse_container(const std::string& where, const std::string& what) {
  throw Error(ExitCode::kOm, what, where, "compile the model again with atc");
}

Header read_header(std::string_view bytes, const std::string& where) {
  if (bytes.substr(0, sizeof kOmMagic) != std::string_view(kOmMagic, sizeof kOmMagic))
    throw Error(ExitCode::kOm, "is not an om file", where, "atc makes one from an ONNX model");
  if (bytes.size() < kPageBytes)
    refuse_container(where,
                     "is truncated: " + std::to_string(bytes.size()) + " bytes, not even a header");
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  // Before the checksum: a later version may have another header.
  if (header.format_version < kOneShapeVersion || header.format_version > kGearsVersion)
    refuse_container(where, "has om format version " + std::to_string(header.format_version) +
                                ", this program reads versions " +
                                std::to_string(kOneShapeVersion) + " to " +
                                std::to_string(kGearsVersion));
  if (header.crc != crc_of(header))
    refuse_container(where, "is damaged: the header's checksum does not fit");
  if (bytes.size() != header.total_bytes)
    refuse_container(
        where, std::string(bytes.size() < header.total_bytes ? "is truncated: " : "is too long: ") +
                   std::to_string(bytes.size()) + " bytes instead of " +
                   std::to_string(header.total_bytes));
  return header;
}

/// The kinds that a file of this version and number of sections has, in order; empty when there is no such file.
std::vector<SectionKind> expected_kinds(const Header& header) {
  const bool has_gears = header.format_version == kGearsVersion;
  const std::size_t others = has_gears ? 4 : 3;
  if (header.section_count <= others) return {};
  const std::size_t graphs = header.section_count - others;
  if (has_gears ? graphs < kLeastGears || graphs > kMostGears : graphs != 1) return {};
  std::vector<SectionKind> kinds(graphs, SectionKind::kGraph);
  kinds.insert(kinds.end(), {SectionKind::kWeights, SectionKind::kCode, SectionKind::kTuning});
  if (has_gears) kinds.push_back(SectionKind::kGears);
  return kinds;
}

}  // namespace

void OmFile::add(SectionKind kind, std::string bytes) {
  add_view(kind, kept_.emplace_back(std::move(bytes)));
}

void OmFile::add_view(SectionKind kind, std::string_view bytes) {
  sections_.push_back({kind, bytes});
}

std::vector<std::string_view> OmFile::pieces() {
  static constexpr char kZeros[kPageBytes] = {};
  const Header header = make_header(sections_);
  header_.assign(reinterpret_cast<const char*>(&header), sizeof header);
  std::vector<std::string_view> pieces = {header_};
  std::uint64_t end = kPageBytes;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const std::uint64_t offset = header.sections[i].offset;
    if (offset > end) pieces.emplace_back(kZeros, offset - end);
    pieces.push_back(sections_[i].bytes);
    end = offset + sections_[i].bytes.size();
  }
  return pieces;
}

std::string OmFile::bytes() {
  const std::vector<std::string_view> parts = pieces();
  std::string file;
  check_memory(size_of(parts), "an om as one piece");
  file.reserve(size_of(parts));
  for (const std::string_view part : parts) file.append(part);
  return file;
}

std::size_t size_of(std::span<const std::string_view> pieces) {
  std::size_t bytes = 0;
  for (const std::string_view piece : pieces) bytes += piece.size();
  return bytes;
}

/// The table leaves no freedom: sections follow each other page by page, with zeros between them.
std::vector<OmSection> read_container(std::string_view bytes, const std::string& where) {
  const Header header = read_header(bytes, where);
  const std::vector<SectionKind> kinds = expected_kinds(header);
  if (kinds.empty()) refuse_container(where, "has a malformed section table");
  std::vector<OmSection> sections;
  std::uint64_t end = kPageBytes;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const SectionEntry& entry = header.sections[i];
    const std::uint64_t offset = round_up_to_page(end);
    if (entry.kind != static_cast<std::uint32_t>(kinds[i]) || entry.offset != offset ||
        offset > bytes.size() || entry.size_bytes > bytes.size() - offset)
      refuse_container(where, "has a malformed section table");
    const std::string section_name = kSectionNames[entry.kind];
    if (bytes.substr(end, offset - end).find_first_not_of('\0') != std::string_view::npos)
      refuse_container(where, "is damaged: before the " + section_name + " section");
    const std::string_view content = bytes.substr(offset, entry.size_bytes);
    if (crc32c(content.data(), content.size()) != entry.crc)
      refuse_container(where,
                       "is damaged: the checksum of the " + section_name + " section does not fit");
    sections.push_back({kinds[i], content});
    end = offset + entry.size_bytes;
  }
  if (end != bytes.size()) refuse_container(where, "has a malformed section table");
  return sections;
}

Signature signature_of(std::string_view bytes, const std::string& where) {
  return read_header(bytes, where).signature;
}

std::string header_to_sign(std::string_view bytes, const std::string& where) {
  Header header = read_header(bytes, where);
  header.signature = {};
  header.crc = 0;
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

void set_signature(std::string& bytes, const Signature& signature) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.signature = signature;
  header.crc = crc_of(header);
  std::memcpy(bytes.data(), &header, sizeof header);
}

}  // namespace aoe::runtime
