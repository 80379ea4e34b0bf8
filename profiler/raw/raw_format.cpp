// Names of the data files, checksum of chunk headers.
#include "profiler/raw/raw_format.h"

#include "base/hash.h"

namespace aoe::profiler {
namespace {

// "aging" and "unaging" are the tooling's words for what may be dropped and what may not.
constexpr StreamFiles kFiles[kStreams] = {
    {"host/data/unaging.dictionary", "data/AclModule.dictionary", false},
    {"device_0/data/unaging.models", "data/AAcore.models", false},
    {"host/data/aging.api_event", "data/AclModule.api_event", true},
    {"device_0/data/aging.task", "data/AAcore.task", true},
    {"host/data/aging.system", "data/AclModule.system", true},
};

}  // namespace

std::uint32_t header_crc(const ChunkHeader& header) {
  return crc32c(&header, offsetof(ChunkHeader, header_crc));
}

const StreamFiles& files_of(Stream stream) {
  return kFiles[static_cast<int>(stream)];
}

std::string slice_name(Stream stream, Generation generation, std::uint64_t n) {
  const StreamFiles& files = files_of(stream);
  return std::string(generation == Generation::kProf ? files.prof_stem : files.job_stem) +
         ".slice_" + std::to_string(n);
}

}  // namespace aoe::profiler
