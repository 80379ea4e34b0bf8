// RawWriter: writes the chunks of a raw directory, within a bound of disk space.
//
// Each chunk goes out whole, by one call of the operating system: after a crash of the process the files hold all that was
// added. When the storage limit is reached, or the disk is nearly full, the oldest droppable slices go. When that does not
// help, the writer stops for good and says why; the files stay sound up to there.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "profiler/raw/raw_format.h"

namespace aoe::profiler {

/// With less than that left the disk counts as full, so that the program's own files still find room.
inline constexpr std::uint64_t kLeastFreeBytes = 20 << 20;

struct RawWriterOptions {
  std::filesystem::path directory;  ///< its data directories exist
  Generation generation = Generation::kProf;
  std::optional<std::uint64_t> storage_limit_bytes;
  std::uint64_t slice_bytes = 16 << 20;  ///< a slice that has grown to this is followed by the next
  /// Free space of the disk; empty: asks the operating system.
  std::function<std::uint64_t()> free_bytes;
};

class RawWriter {
 public:
  explicit RawWriter(RawWriterOptions options);
  ~RawWriter();
  RawWriter(const RawWriter&) = delete;
  RawWriter& operator=(const RawWriter&) = delete;

  /// At most kMaxPayloadBytes. False when it was not written because the writer stopped.
  bool add(Stream stream, ChunkKind kind, std::string_view payload);
  /// Why it stopped; empty while it goes on.
  const std::string& stop_reason() const { return stop_reason_; }
  std::uint64_t dropped_slices() const { return dropped_slices_; }
  /// Written so far, those dropped since included.
  std::uint64_t chunks(Stream stream) const {
    return open_[static_cast<int>(stream)].next_sequence;
  }

 private:
  struct OpenSlice {
    Descriptor file;
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    std::uint64_t next_sequence = 0;
  };
  struct ClosedSlice {
    std::filesystem::path path;
    std::uint64_t bytes;
  };

  bool make_room(std::uint64_t chunk_bytes);
  bool drop_oldest_slice();
  bool open_slice(Stream stream);
  void close_slice(Stream stream);
  bool write_chunk(Stream stream, const std::string& chunk);
  bool stop(const std::string& reason);
  std::filesystem::path path_of(Stream stream) const;

  const RawWriterOptions options_;
  OpenSlice open_[kStreams];
  std::deque<ClosedSlice> droppable_;  ///< the oldest first
  std::uint64_t total_bytes_ = 0;
  std::uint64_t dropped_slices_ = 0;
  std::string stop_reason_;
};

}  // namespace aoe::profiler
