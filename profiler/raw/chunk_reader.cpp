// Reading chunks, and finding the next sound one behind damage.
#include "profiler/raw/chunk_reader.h"

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"

namespace aoe::profiler {
namespace {

constexpr std::string_view kMagicView(kChunkMagic.data(), kChunkMagic.size());

[[noreturn]] void fail(const std::filesystem::path& path, const char* action) {
  throw Error(ExitCode::kData, std::string(action) + ": " + std::strerror(errno), path.string());
}

}  // namespace

ChunkReader::ChunkReader(std::filesystem::path path, std::vector<RawLoss>& losses)
    : path_(std::move(path)), losses_(losses), file_(std::fopen(path_.c_str(), "rb")) {
  if (file_ == nullptr) fail(path_, "cannot be opened");
  if (::fseeko(file_.get(), 0, SEEK_END) != 0) fail(path_, "cannot be read");
  size_ = static_cast<std::uint64_t>(::ftello(file_.get()));
}

std::size_t ChunkReader::read_at(std::uint64_t offset, void* into, std::size_t size) {
  // Seeking throws the stream's buffer away, so sequential reading must not seek.
  if (static_cast<std::uint64_t>(::ftello(file_.get())) != offset &&
      ::fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0)
    fail(path_, "cannot be read");
  const std::size_t done = std::fread(into, 1, size, file_.get());
  if (std::ferror(file_.get())) fail(path_, "cannot be read");
  return done;
}

std::optional<Chunk> ChunkReader::chunk_at(std::uint64_t offset, const char*& why) {
  const auto no_chunk = [&](const char* reason) {
    why = reason;
    return std::nullopt;
  };
  ChunkHeader header;
  if (read_at(offset, &header, sizeof header) < sizeof header)
    return no_chunk("the file ends within a chunk");
  if (header.magic != kChunkMagic) return no_chunk("no chunk begins here");
  if (header.header_crc != header_crc(header)) return no_chunk("a chunk's header is damaged");
  if (header.version != kChunkVersion) return no_chunk("a chunk of an unknown version");
  if (header.payload_bytes > kMaxPayloadBytes) return no_chunk("a chunk is impossibly large");
  payload_.resize(header.payload_bytes);
  if (read_at(offset + sizeof header, payload_.data(), payload_.size()) < payload_.size())
    return no_chunk("the file ends within a chunk");
  if (crc32c(payload_.data(), payload_.size()) != header.payload_crc)
    return no_chunk("a chunk's content is damaged");
  return Chunk{offset, header.sequence, header.kind, {payload_.data(), payload_.size()}};
}

std::uint64_t ChunkReader::find_magic(std::uint64_t offset) {
  std::array<char, 1 << 16> window;
  while (offset < size_) {
    const std::size_t there = read_at(offset, window.data(), window.size());
    const std::size_t found = std::string_view(window.data(), there).find(kMagicView);
    if (found != std::string_view::npos) return offset + found;
    if (there < window.size()) break;
    offset += there - (kMagicView.size() - 1);  // it may straddle two windows
  }
  return size_;
}

std::optional<Chunk> ChunkReader::next() {
  const std::uint64_t damage_begin = offset_;
  const char* why = nullptr;
  const char* first_why = nullptr;
  std::optional<Chunk> chunk;
  while (offset_ < size_ && !(chunk = chunk_at(offset_, why))) {
    if (first_why == nullptr) first_why = why;
    offset_ = find_magic(offset_ + 1);
  }
  if (offset_ > damage_begin)
    losses_.push_back({path_, damage_begin, offset_ - damage_begin, first_why});
  if (chunk) offset_ += sizeof(ChunkHeader) + chunk->payload.size();
  return chunk;
}

}  // namespace aoe::profiler
