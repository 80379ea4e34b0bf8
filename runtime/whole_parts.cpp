// Tested by tests/runtime/whole_parts_test.cpp.
#include "runtime/whole_parts.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>

#include "native/scratch.h"
#include "reference/slicing.h"
#include "runtime/threads/helper_threads.h"

namespace aoe::runtime {
namespace {

constexpr std::size_t kCacheLine = 64;

std::size_t in_lines(std::size_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

}  // namespace

struct WholeParts::Job {
  WholeParts& parts;
  const std::vector<std::vector<SlicePiece>>& shares;
  const TensorTable& tensors;
  TaskClock* clock;
  const std::function<void()>& own_time;
  std::atomic<bool> has_failed{false};
  std::mutex lock;
  std::exception_ptr failure = {};  ///< the first

  void fail() noexcept {
    const std::lock_guard guard(lock);
    if (!failure) failure = std::current_exception();
    has_failed.store(true, std::memory_order_relaxed);
  }
};

/// A thread in one run.
class WholeParts::Worker {
 public:
  Worker(Job& job, Member& member)
      : job_(job),
        parts_(job.parts),
        member_(member),
        is_owner_(&member == parts_.members_.data()),
        memory_(in_lines(parts_.arena_bytes_) + parts_.scratch_bytes_ + 1),
        rooms_(parts_.lengths_.size()) {
    auto* const arena = memory_.as<std::byte>();
    for (GeneratedBody::Hand& hand : member.hands)
      hand.set_memory(arena, arena + in_lines(parts_.arena_bytes_));
  }

  /// Pieces that nobody has begun, of this share first.
  void run_from(std::size_t share) {
    const std::size_t shares = job_.shares.size();
    for (std::size_t i = 0; i < shares; ++i) run_share((share + i) % shares);
  }

 private:
  /// Memory for what does not lie in one piece.
  struct Room {
    native::Scratch memory;
    std::int64_t source = SliceBorder::kNoSource;  ///< the slice that it is full of
  };
  using Rooms = std::vector<std::optional<Room>>;  ///< of what a body reads, then of what it makes

  void run_share(std::size_t share) {
    const std::vector<SlicePiece>& pieces = job_.shares[share];
    std::atomic<std::size_t>& next = parts_.claims_[share].pieces;
    while (!job_.has_failed.load(std::memory_order_relaxed)) {
      const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= pieces.size()) return;
      run_piece(pieces[i]);
    }
  }

  void run_piece(const SlicePiece& piece) {
    const std::size_t n = piece.length - parts_.first_;
    const Length& length = parts_.lengths_[n];
    GeneratedBody::Hand& hand = member_.hands[n];
    Rooms& rooms = rooms_[n];
    const auto &reads = length.borders.reads, &makes = length.borders.makes;
    rooms.resize(reads.size() + makes.size());
    for (std::size_t i = 0; i < reads.size(); ++i)
      hand.set_input(i, place_read(reads[i], rooms[i], piece));
    for (std::size_t i = 0; i < makes.size(); ++i)
      hand.set_output(i, place_made(makes[i], rooms[reads.size() + i], piece));
    TaskClock* const clock = is_owner_ ? job_.clock : nullptr;
    if (clock != nullptr) job_.own_time();
    length.body.run(hand, clock);
    for (std::size_t i = 0; i < makes.size(); ++i)
      if (is_apart(makes[i], piece) && makes[i].id >= 0)
        makes[i].write(rooms[reads.size() + i]->memory.as<void>(),
                       job_.tensors.address(makes[i].id), piece.first, piece.count);
  }

  static bool is_apart(const SliceBorder& border, const SlicePiece& piece) {
    return border.axis != reference::kWhole && (border.is_apart || piece.count < border.slices);
  }

  void* in_place(const SliceBorder& border, const SlicePiece& piece) const {
    auto* const whole = static_cast<std::byte*>(job_.tensors.address(border.id));
    if (border.axis == reference::kWhole) return whole;
    return whole + static_cast<std::size_t>(piece.first) * border.bytes;
  }

  static Room& room_for(const SliceBorder& border, std::optional<Room>& room) {
    if (!room) room.emplace(Room{native::Scratch(storage_bytes(border.part))});
    return *room;
  }

  /// What is stretched to all slices of a piece is not copied again for the next one.
  void* place_read(const SliceBorder& border, std::optional<Room>& place,
                   const SlicePiece& piece) const {
    if (!is_apart(border, piece)) return in_place(border, piece);
    Room& room = room_for(border, place);
    const std::int64_t source = border.one_source(piece.first, piece.count);
    if (source == SliceBorder::kNoSource || source != room.source)
      border.read(job_.tensors.address(border.id), room.memory.as<void>(), piece.first,
                  piece.count);
    room.source = source;
    return room.memory.as<void>();
  }

  void* place_made(const SliceBorder& border, std::optional<Room>& place,
                   const SlicePiece& piece) const {
    if (!is_apart(border, piece)) return in_place(border, piece);
    return room_for(border, place).memory.as<void>();
  }

  Job& job_;
  WholeParts& parts_;
  Member& member_;
  const bool is_owner_;
  const native::Scratch memory_;
  std::vector<Rooms> rooms_;  ///< by length
};

std::unique_ptr<WholeParts> WholeParts::of(std::span<const Executor* const> bodies,
                                           std::span<const std::int64_t> lengths,
                                           std::int64_t longest, int threads) {
  const auto first = static_cast<std::size_t>(
      std::ranges::find_if(lengths, [&](std::int64_t length) { return length <= longest; }) -
      lengths.begin());
  std::vector<Length> able;
  for (std::size_t i = first; i < bodies.size(); ++i) {
    std::optional<GeneratedBody> body = GeneratedBody::of(*bodies[i]);
    if (!body) return nullptr;
    able.push_back({std::move(*body)});
  }
  if (able.empty()) return nullptr;
  return std::unique_ptr<WholeParts>(new WholeParts(first, std::move(able), threads));
}

WholeParts::WholeParts(std::size_t first, std::vector<Length> lengths, int threads)
    : threads_(threads),
      first_(first),
      lengths_(std::move(lengths)),
      members_(static_cast<std::size_t>(threads)),
      claims_(static_cast<std::size_t>(threads)) {
  for (const Length& length : lengths_) {
    arena_bytes_ = std::max(arena_bytes_, length.body.arena_bytes());
    scratch_bytes_ = std::max(scratch_bytes_, length.body.scratch_bytes());
    for (Member& member : members_) member.hands.push_back(length.body.hand());
  }
}

WholeParts::~WholeParts() = default;

void WholeParts::work(void* const* buffers, std::int64_t begin, std::int64_t end, void* member) {
  auto& job = *static_cast<Job*>(buffers[0]);
  try {
    Worker worker(job, *static_cast<Member*>(member));
    for (std::int64_t share = begin; share < end; ++share)
      worker.run_from(static_cast<std::size_t>(share));
  } catch (...) {
    job.fail();
  }
}

void WholeParts::run(const std::vector<std::vector<SlicePiece>>& shares, const TensorTable& tensors,
                     TaskClock* clock, const std::function<void()>& own_time) {
  for (Claims& claims : claims_) claims.pieces.store(0, std::memory_order_relaxed);
  Job job{*this, shares, tensors, clock, own_time};
  void* const buffers[] = {&job};
  HelperThreads::of_this_thread(threads_ - 1)
      .run({.function = work,
            .buffers = buffers,
            .extent = static_cast<std::int64_t>(shares.size()),
            .scratch = reinterpret_cast<std::byte*>(members_.data()),
            .scratch_stride = sizeof(Member)},
           threads_);
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace aoe::runtime
