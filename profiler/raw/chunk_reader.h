// ChunkReader: the sound chunks of one file, one after the other; damage is skipped and reported.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/raw/raw_reader.h"

namespace aoe::profiler {

struct Chunk {
  std::uint64_t offset;
  std::uint64_t sequence;
  ChunkKind kind;
  std::string_view payload;  ///< until the next call
};

class ChunkReader {
 public:
  /// Throws Error(kData) when the file cannot be opened.
  ChunkReader(std::filesystem::path path, std::vector<RawLoss>& losses);
  /// nullopt at the end. Throws Error(kData) when the file cannot be read.
  std::optional<Chunk> next();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  /// How many bytes of up to `size` were there.
  std::size_t read_at(std::uint64_t offset, void* into, std::size_t size);
  /// The chunk at `offset`, or why there is none.
  std::optional<Chunk> chunk_at(std::uint64_t offset, const char*& why);
  /// Where the magic stands next, at `offset` or later; the file's size when nowhere.
  std::uint64_t find_magic(std::uint64_t offset);

  std::filesystem::path path_;
  std::vector<RawLoss>& losses_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;  ///< of the next chunk
  std::vector<char> payload_;
};

}  // namespace aoe::profiler
