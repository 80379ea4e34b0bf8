// The container of an om: header, section table, checksums, mapping. The sections' contents are in
// om_graph.h. Tested by tests/runtime/om_test.cpp.
#include "runtime/om.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "runtime/om_graph.h"

namespace aoe::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "an om is little-endian");

constexpr std::uint64_t kPageBytes = 4096;
constexpr char kMagic[8] = {'A', 'O', 'E', 'O', 'M', 0, 0, 1};
/// Raise it when an older reader could not run what is written now.
constexpr std::uint32_t kFormatVersion = 1;

enum SectionKind : std::uint32_t { kGraph, kWeights, kCode, kTuning, kSectionCount };
constexpr const char* kSectionNames[kSectionCount] = {"graph", "weights", "code", "tuning"};

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
  SectionEntry sections[kSectionCount];
  char zeros[kPageBytes - 24 - kSectionCount * sizeof(SectionEntry) - 4];
  std::uint32_t crc;
};
static_assert(sizeof(Header) == kPageBytes && sizeof(SectionEntry) == 24);

std::uint64_t round_up_to_page(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

std::uint32_t crc_of(const Header& header) {
  return crc32c(&header, offsetof(Header, crc));
}

/// The content of all sections, in the order of the file.
using Sections = std::array<std::string_view, kSectionCount>;

Header make_header(const Sections& sections) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format_version = kFormatVersion;
  header.section_count = kSectionCount;
  header.total_bytes = kPageBytes;
  for (std::uint32_t kind = 0; kind < kSectionCount; ++kind) {
    const std::string_view bytes = sections[kind];
    const std::uint64_t offset = round_up_to_page(header.total_bytes);
    header.sections[kind] = {kind, crc32c(bytes.data(), bytes.size()), offset, bytes.size()};
    header.total_bytes = offset + bytes.size();
  }
  header.crc = crc_of(header);
  return header;
}

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ExitCode::kOm, what, where, "compile the model again with atc");
}

Header read_header(std::string_view bytes, const std::string& where) {
  if (bytes.substr(0, sizeof kMagic) != std::string_view(kMagic, sizeof kMagic))
    throw Error(ExitCode::kOm, "is not an om file", where, "atc makes one from an ONNX model");
  if (bytes.size() < kPageBytes)
    refuse(where, "is truncated: " + std::to_string(bytes.size()) + " bytes, not even a header");
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  // Before the checksum: a later version may have another header.
  if (header.format_version != kFormatVersion)
    refuse(where, "has om format version " + std::to_string(header.format_version) +
                      ", this program reads version " + std::to_string(kFormatVersion));
  if (header.crc != crc_of(header)) refuse(where, "is damaged: the header's checksum does not fit");
  if (bytes.size() != header.total_bytes)
    refuse(where,
           std::string(bytes.size() < header.total_bytes ? "is truncated: " : "is too long: ") +
               std::to_string(bytes.size()) + " bytes instead of " +
               std::to_string(header.total_bytes));
  return header;
}

/// The table leaves no freedom: sections follow each other page by page, with zeros between them.
Sections read_sections(std::string_view bytes, const std::string& where) {
  const Header header = read_header(bytes, where);
  if (header.section_count != kSectionCount) refuse(where, "has a malformed section table");
  Sections sections;
  std::uint64_t end = kPageBytes;
  for (std::uint32_t kind = 0; kind < kSectionCount; ++kind) {
    const SectionEntry& entry = header.sections[kind];
    const std::uint64_t offset = round_up_to_page(end);
    if (entry.kind != kind || entry.offset != offset || offset > bytes.size() ||
        entry.size_bytes > bytes.size() - offset)
      refuse(where, "has a malformed section table");
    if (bytes.substr(end, offset - end).find_first_not_of('\0') != std::string_view::npos)
      refuse(where, std::string("is damaged: before the ") + kSectionNames[kind] + " section");
    sections[kind] = bytes.substr(offset, entry.size_bytes);
    if (crc32c(sections[kind].data(), sections[kind].size()) != entry.crc)
      refuse(where, std::string("is damaged: the checksum of the ") + kSectionNames[kind] +
                        " section does not fit");
    end = offset + entry.size_bytes;
  }
  if (end != bytes.size()) refuse(where, "has a malformed section table");
  return sections;
}

nlohmann::json read_tuning(std::string_view bytes, const std::string& where) {
  try {
    return nlohmann::json::from_cbor(bytes.begin(), bytes.end());
  } catch (const nlohmann::json::exception& e) {
    refuse(where, std::string("the tuning section is malformed: ") + e.what());
  }
}

struct Mapping {
  const void* address;
  std::size_t size_bytes;
  ~Mapping() { ::munmap(const_cast<void*>(address), size_bytes); }
};

struct FileDescriptor {
  int fd;
  ~FileDescriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

std::string Om::serialize() const {
  const std::string graph = graph_to_cbor(*this);
  std::string tuning_bytes;
  nlohmann::json::to_cbor(tuning, tuning_bytes);
  const auto built_or_loaded = [](const std::string& built, std::string_view loaded) {
    return built.empty() ? loaded : std::string_view(built);
  };
  const Sections sections = {graph, built_or_loaded(weights, weights_view),
                             built_or_loaded(code, code_view), tuning_bytes};
  const Header header = make_header(sections);
  std::string file;
  file.reserve(header.total_bytes);
  file.append(reinterpret_cast<const char*>(&header), sizeof header);
  for (std::uint32_t kind = 0; kind < kSectionCount; ++kind) {
    file.resize(header.sections[kind].offset, '\0');
    file.append(sections[kind]);
  }
  return file;
}

Om Om::parse(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& where) {
  const Sections sections = read_sections(bytes, where);
  Om om;
  om.mapping = std::move(owner);
  om.weights_view = sections[kWeights];
  om.code_view = sections[kCode];
  om.graph_bytes = sections[kGraph].size();
  om.tuning = read_tuning(sections[kTuning], where);
  graph_from_cbor(sections[kGraph], where, om);
  verify_graph(om, where);
  return om;
}

Om Om::load(const std::filesystem::path& path) {
  const std::string where = path.string();
  const auto cannot = [&](const char* action) {
    throw Error(ExitCode::kOm, std::string("cannot be ") + action + ": " + std::strerror(errno),
                where);
  };
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) cannot("opened");
  struct stat status {};
  if (::fstat(file.fd, &status) != 0) cannot("read");
  if (!S_ISREG(status.st_mode)) throw Error(ExitCode::kOm, "is not a regular file", where);
  if (status.st_size == 0) throw Error(ExitCode::kOm, "is empty", where);
  const auto size_bytes = static_cast<std::size_t>(status.st_size);
  // Populated: verification reads every byte anyway.
  void* address = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.fd, 0);
  if (address == MAP_FAILED) cannot("mapped");
  const auto mapping = std::make_shared<const Mapping>(address, size_bytes);
  return parse({static_cast<const char*>(address), size_bytes}, mapping, where);
}

}  // namespace aoe::runtime
