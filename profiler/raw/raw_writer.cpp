// Writing chunks, cutting slices, keeping to the limits of the disk.
#include "profiler/raw/raw_writer.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"
#include "base/system_calls.h"

namespace aoe::profiler {
namespace {

std::string chunk_bytes(ChunkKind kind, std::uint64_t sequence, std::string_view payload) {
  ChunkHeader header{.magic = kChunkMagic,
                     .version = kChunkVersion,
                     .kind = kind,
                     .payload_bytes = static_cast<std::uint32_t>(payload.size()),
                     .sequence = sequence,
                     .payload_crc = crc32c(payload.data(), payload.size()),
                     .header_crc = 0};
  header.header_crc = header_crc(header);
  std::string chunk(reinterpret_cast<const char*>(&header), sizeof header);
  return chunk.append(payload);
}

/// A disk that cannot be asked is not taken for full: writing will tell.
std::uint64_t free_bytes_of(const std::filesystem::path& directory) {
  struct statvfs disk {};
  if (::statvfs(directory.c_str(), &disk) != 0) return ~std::uint64_t{0};
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

RawWriterOptions with_defaults(RawWriterOptions options) {
  if (!options.free_bytes)
    options.free_bytes = [directory = options.directory] { return free_bytes_of(directory); };
  // Dropping works by whole slices: a limit of few slices would drop much of what it could keep.
  constexpr std::uint64_t kSlicesWithinLimit = 16;
  if (options.storage_limit_bytes)
    options.slice_bytes =
        std::min(options.slice_bytes, *options.storage_limit_bytes / kSlicesWithinLimit);
  return options;
}

}  // namespace

RawWriter::RawWriter(RawWriterOptions options) : options_(with_defaults(std::move(options))) {
}

RawWriter::~RawWriter() = default;

std::filesystem::path RawWriter::path_of(Stream stream) const {
  return options_.directory /
         slice_name(stream, options_.generation, open_[static_cast<int>(stream)].number);
}

bool RawWriter::stop(const std::string& reason) {
  stop_reason_ = reason;
  return false;
}

bool RawWriter::add(Stream stream, ChunkKind kind, std::string_view payload) {
  AOE_CHECK(payload.size() <= kMaxPayloadBytes, "the payload is too large for one chunk");
  if (!stop_reason_.empty()) return false;
  OpenSlice& slice = open_[static_cast<int>(stream)];
  if (slice.file.is_open() && slice.bytes >= options_.slice_bytes) close_slice(stream);
  const std::string chunk = chunk_bytes(kind, slice.next_sequence, payload);
  if (!make_room(chunk.size())) return false;
  if (!slice.file.is_open() && !open_slice(stream)) return false;
  if (!write_chunk(stream, chunk)) return false;
  ++slice.next_sequence;
  return true;
}

bool RawWriter::make_room(std::uint64_t chunk_bytes) {
  while (options_.storage_limit_bytes && total_bytes_ + chunk_bytes > *options_.storage_limit_bytes)
    if (!drop_oldest_slice())
      return stop("the storage limit of " + std::to_string(*options_.storage_limit_bytes >> 20) +
                  " MB is reached and nothing is left to drop");
  while (options_.free_bytes() < kLeastFreeBytes)
    if (!options_.storage_limit_bytes || !drop_oldest_slice())
      return stop("less than " + std::to_string(kLeastFreeBytes >> 20) +
                  " MB are left on the disk");
  return true;
}

bool RawWriter::drop_oldest_slice() {
  if (droppable_.empty()) {  // then of the open ones, the largest
    int largest = -1;
    for (int i = 0; i < kStreams; ++i)
      if (open_[i].file.is_open() && files_of(static_cast<Stream>(i)).is_droppable &&
          (largest < 0 || open_[i].bytes > open_[largest].bytes))
        largest = i;
    if (largest < 0) return false;
    close_slice(static_cast<Stream>(largest));
  }
  const ClosedSlice oldest = droppable_.front();
  droppable_.pop_front();
  if (::unlink(oldest.path.c_str()) != 0) return false;
  total_bytes_ -= oldest.bytes;
  ++dropped_slices_;
  return true;
}

bool RawWriter::open_slice(Stream stream) {
  const std::filesystem::path path = path_of(stream);
  Descriptor file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0640));
  if (!file.is_open()) return stop(path.string() + " cannot be written: " + std::strerror(errno));
  open_[static_cast<int>(stream)].file = std::move(file);
  open_[static_cast<int>(stream)].bytes = 0;
  return true;
}

void RawWriter::close_slice(Stream stream) {
  OpenSlice& slice = open_[static_cast<int>(stream)];
  if (files_of(stream).is_droppable) droppable_.push_back({path_of(stream), slice.bytes});
  slice.file.reset();
  ++slice.number;
}

bool RawWriter::write_chunk(Stream stream, const std::string& chunk) {
  OpenSlice& slice = open_[static_cast<int>(stream)];
  const int status = write_all(slice.file.number(), chunk) ? 0 : errno;
  if (status != 0) {
    // Back to the last whole chunk. If even that fails, the reader skips the torn one.
    const bool is_cut = ::ftruncate(slice.file.number(), static_cast<off_t>(slice.bytes)) == 0;
    return stop(path_of(stream).string() + " cannot be written: " + std::strerror(status) +
                (is_cut ? "" : " (it ends within a chunk)"));
  }
  slice.bytes += chunk.size();
  total_bytes_ += chunk.size();
  return true;
}

}  // namespace aoe::profiler
