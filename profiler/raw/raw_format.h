// The bytes of raw profiler data: chunks, what they hold, and the files they lie in.
//
// A directory is of one of two generations:
//   PROF_{6 digits}_{17 digits}_{16 characters}/   current msprof: host/data, device_0/data, info files
//   JOB{...}/                                       SS928: data, info.json.0
// Its data files are streams of chunks, cut into slices: "<stem>.slice_<n>", n counting from 0. Streams that can be
// dropped to save space hold nothing that another stream needs.
//
// A chunk is a ChunkHeader and its payload, written at once; all integers are little-endian. Whoever
// reads needs nothing else to tell whether a chunk is whole, or to find the next one behind damage.
// Times are CLOCK_MONOTONIC nanoseconds. Payloads, by kind:
//   kStrings   {u32 id, u32 length, bytes} each
//   kThreads   {i64 os thread id, u16 thread, u16 length, bytes of the name} each
//   kModel     one model's op table, CBOR of the JSON that raw_reader.h describes
//   kEvents, kCounters, kSamples   RawEvent, RawCounters, RawSample each
//   kLost      u64: events of this collection that the recorder had to drop so far
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "profiler/recorder.h"

namespace aoe::profiler {

enum class Generation { kProf, kJob };

enum class ChunkKind : std::uint16_t {
  kStrings = 1,
  kThreads = 2,
  kModel = 3,
  kEvents = 4,
  kCounters = 5,
  kSamples = 6,
  kLost = 7
};

struct ChunkHeader {
  std::array<char, 8> magic;
  std::uint16_t version;
  ChunkKind kind;
  std::uint32_t payload_bytes;
  std::uint64_t sequence;     ///< within the stream, over all its slices, from 0
  std::uint32_t payload_crc;  ///< CRC-32C
  std::uint32_t header_crc;   ///< CRC-32C of the fields above
};
static_assert(sizeof(ChunkHeader) == 32);

inline constexpr std::array<char, 8> kChunkMagic = {'A', 'O', 'E', 'R', 'A', 'W', '\x1a', '\n'};
inline constexpr std::uint16_t kChunkVersion = 1;
/// A larger payload in a header is damage, so that damage costs no memory.
inline constexpr std::uint32_t kMaxPayloadBytes = 16 << 20;

/// CRC-32C of all fields but header_crc.
std::uint32_t header_crc(const ChunkHeader& header);

struct RawEvent {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::uint64_t value;    ///< kind-specific, see raw_reader.h
  std::uint32_t name_id;  ///< of a string of this directory
  EventKind kind;
  std::uint16_t thread;  ///< of a thread of this directory
};
static_assert(sizeof(RawEvent) == 32);

inline constexpr std::size_t kMostCounters = 8;

/// What the hardware counters say about one task, in the order of info.json's "counters".
struct RawCounters {
  std::int64_t task_begin_ns;
  std::uint16_t thread;
  std::uint16_t reserved = 0;
  std::uint32_t op_index;
  std::uint32_t run_and_model;
  std::uint32_t reserved2 = 0;
  std::array<std::uint64_t, kMostCounters> values;
};
static_assert(sizeof(RawCounters) == 88);

/// One value of a series of system data, such as the CPU time of a process.
struct RawSample {
  std::int64_t time_ns;
  double value;
  std::uint32_t series;  ///< id of its name
  std::uint32_t reserved = 0;
};
static_assert(sizeof(RawSample) == 24);

/// In the order in which they are read: what others refer to comes first.
enum class Stream : int { kDictionary, kModels, kApi, kTasks, kSystem };
inline constexpr int kStreams = 5;

struct StreamFiles {
  const char* prof_stem;  ///< relative to the directory, without ".slice_<n>"
  const char* job_stem;
  bool is_droppable;
};
const StreamFiles& files_of(Stream stream);
/// The name of slice `n`, relative to the directory.
std::string slice_name(Stream stream, Generation generation, std::uint64_t n);

}  // namespace aoe::profiler
