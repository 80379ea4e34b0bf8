// Claims by compare-and-swap, waits that spin before they sleep. Tested by tests/runtime/helper_threads_test.cpp.
#include "runtime/threads/helper_threads.h"

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/log.h"
#include "profiler/recorder.h"
#include "runtime/threads/forked_thread.h"
#include "runtime/threads/signals_blocked.h"

namespace aoe::runtime {
namespace {

// About a millisecond: longer than nearly every stage that one thread carries out alone, and than what many programs do
// between two runs. Waking a sleeper takes 50 to 90 us on a virtual machine.
constexpr std::uint64_t kHelperSpinTicks = 4'000'000;
// A part is balanced with the others, so that the wait for its end is short, unless its helper has lost its core.
constexpr int kOwnerSpins = 2000;
// A gap in a loop of a few instructions: another process had the core, and wants it again.
constexpr std::uint64_t kLostCoreTicks = 60'000;

// A helper that kept the owner waiting for a third of a millisecond had lost its core in the middle of a part. It stays
// away for eight times as long, so that what helping costs at worst is an eighth of the time. (One other process spinning
// on two cores, UltraFace: 3.7 ms with a helper that comes back at once, 2.2 alone, 1.8 when quiet.)
constexpr std::uint64_t kLateTicks = 1'000'000;
// ... and for a quarter of the loop: two cores that differ by a few percent are a millisecond apart after a long loop, and
// both are needed for the next one. (ViT-B/16 at batch 8, steps of 60 ms: 2.5 s, and 1.95 with this.)
constexpr std::uint64_t kLateShare = 4;
constexpr std::uint64_t kAwayFactor = 8;
constexpr auto kLongestAway = std::chrono::milliseconds(100);

constexpr int kMostPieces = 8;

/// What a thread leaves behind when it ends.
struct OfThread {
  std::unique_ptr<HelperThreads> helpers;
  ~OfThread() {
    // The parent's helpers are no threads of this process: nothing to join, and their memory stays.
    if (came_through_fork()) {
      [[maybe_unused]] HelperThreads* const of_parent = helpers.release();
    }
  }
};

}  // namespace

int good_pieces(std::uint64_t ticks) {
  constexpr std::uint64_t kPieceTicks = 100'000;
  return static_cast<int>(std::clamp<std::uint64_t>(ticks / kPieceTicks, 1, kMostPieces));
}

HelperThreads& HelperThreads::of_this_thread(int helpers) {
  thread_local OfThread mine;
  thread_local int asked = -1;
  if (mine.helpers == nullptr || asked < helpers) {
    mine.helpers.reset();  // ends the fewer ones first
    mine.helpers = std::make_unique<HelperThreads>(helpers);
    asked = helpers;
  }
  return *mine.helpers;
}

HelperThreads::HelperThreads(int helpers) {
  helpers = std::min(helpers, static_cast<int>(kMostThreads) - 1);
  claims_ = std::make_unique<Claim[]>(
      std::min<std::size_t>(static_cast<std::size_t>(helpers + 1) * kMostPieces, kMostThreads));
  const SignalsBlocked blocked;
  try {
    for (int i = 1; i <= helpers; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (const std::system_error& e) {  // the system's limit of threads: what there is serves
    logger("runtime")->warn("only {} of {} threads could be started: {}", threads_.size() + 1,
                            helpers + 1, e.what());
  }
}

HelperThreads::~HelperThreads() {
  {
    const std::lock_guard lock(away_);
    is_over_ = true;
  }
  called_back_.notify_all();
  open({++loops_ << 20});
  for (std::thread& thread : threads_) thread.join();
}

void HelperThreads::run(const ParallelLoop& loop, int threads) {
  const int members = std::min(threads, count() + 1);
  const std::int64_t most_pieces = std::min({loop.extent, std::int64_t{members} * kMostPieces,
                                             static_cast<std::int64_t>(kMostThreads)}) /
                                   members;
  const auto pieces = std::clamp<std::int64_t>(most_pieces, 1, members > 1 ? loop.pieces : 1);
  const int parts = static_cast<int>(std::min(members * pieces, loop.extent));
  if (parts <= 1) {
    if (parts == 1) loop.function(loop.buffers, loop.first, loop.first + loop.extent, loop.scratch);
    return;
  }
  loop_ = &loop;
  began_ = profiler::now_ticks();
  const Ticket ticket{++loops_ << 20 | static_cast<std::uint64_t>(members) << 10 |
                      static_cast<std::uint64_t>(parts)};
  claims_[0].word.store(ticket.word, std::memory_order_relaxed);
  open(ticket);
  run_part(0, parts, 0);
  const int own = 1 + take_parts(ticket, 0);
  helped_ += static_cast<std::uint32_t>(parts - own);
  wait_for_helpers(helped_);
}

/// Sequentially consistent with sleep_until_loop_after(): either the owner sees the sleeper, or the sleeper the loop.
void HelperThreads::open(Ticket ticket) {
  open_.store(ticket.word, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  alarm_.fetch_add(1, std::memory_order_release);
  alarm_.notify_all();
}

int HelperThreads::take_parts(Ticket ticket, int member) {
  const int pieces = ticket.pieces(), shares = ticket.parts() / pieces;
  int taken = 0;
  for (int i = 0; i < shares; ++i) {
    const int first = (member + i) % shares * pieces;
    for (int piece = 0; piece < pieces; ++piece)
      taken += take_part(ticket, i == 0 ? first + piece : first + pieces - 1 - piece, member);
  }
  return taken;
}

int HelperThreads::take_part(Ticket ticket, int part, int member) {
  if (!claim(part, ticket)) return 0;
  run_part(part, ticket.parts(), member);
  return 1;
}

/// A claim of a loop that is over fails: all of its parts were claimed, then or later. By difference, since loops are
/// counted in 44 bits.
bool HelperThreads::claim(int part, Ticket ticket) {
  std::atomic<std::uint64_t>& word = claims_[static_cast<std::size_t>(part)].word;
  std::uint64_t before = word.load(std::memory_order_relaxed);
  return static_cast<std::int64_t>(ticket.word - before) > 0 &&
         word.compare_exchange_strong(before, ticket.word, std::memory_order_acq_rel);
}

void HelperThreads::run_part(int part, int parts, int member) const {
  const ParallelLoop& loop = *loop_;
  const std::int64_t begin = loop.first + part_begin(loop.extent, part, parts);
  const std::int64_t end = loop.first + part_begin(loop.extent, part + 1, parts);
  loop.function(loop.buffers, begin, end,
                loop.scratch + loop.scratch_stride * static_cast<std::size_t>(member));
}

void HelperThreads::wait_for_helpers(std::uint32_t finished) {
  std::uint32_t now = 0;
  for (int i = 0; i < kOwnerSpins; ++i) {
    if (finished_.load(std::memory_order_acquire) == finished) return;
    _mm_pause();
  }
  waits_since_.store(profiler::now_ticks(), std::memory_order_release);
  while ((now = finished_.load(std::memory_order_acquire)) != finished)
    finished_.wait(now, std::memory_order_acquire);
  waits_since_.store(0, std::memory_order_relaxed);
}

void HelperThreads::serve(int member) {
  Ticket ticket;
  while (true) {
    ticket = wait_for_loop_after(ticket);
    if (is_over_) return;
    if (member >= ticket.members()) continue;
    const int taken = take_parts(ticket, member);
    if (taken == 0) continue;
    const std::uint64_t waits_since = waits_since_.load(std::memory_order_acquire);
    const std::uint64_t late = waits_since == 0 ? 0 : profiler::now_ticks() - waits_since;
    const std::uint64_t late_after = std::max(kLateTicks, (waits_since - began_) / kLateShare);
    finished_.fetch_add(static_cast<std::uint32_t>(taken), std::memory_order_release);
    finished_.notify_one();  // a system call only when the owner sleeps
    if (late > late_after) stay_away(late);
  }
}

void HelperThreads::stay_away(std::uint64_t late_ticks) {
  const auto late =
      std::chrono::nanoseconds(static_cast<std::int64_t>(profiler::to_ns(late_ticks)));
  std::unique_lock lock(away_);
  called_back_.wait_for(lock, std::min<std::chrono::nanoseconds>(kAwayFactor * late, kLongestAway),
                        [this] { return is_over_.load(); });
}

HelperThreads::Ticket HelperThreads::wait_for_loop_after(Ticket seen) {
  const std::uint64_t begin = profiler::now_ticks();
  for (std::uint64_t last = begin;;) {
    const Ticket now{open_.load(std::memory_order_acquire)};
    if (now.word != seen.word) return now;
    _mm_pause();
    const std::uint64_t ticks = profiler::now_ticks();
    if (ticks - begin > kHelperSpinTicks || ticks - last > kLostCoreTicks)
      return sleep_until_loop_after(seen);
    last = ticks;
  }
}

HelperThreads::Ticket HelperThreads::sleep_until_loop_after(Ticket seen) {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  Ticket now;
  while (true) {
    const std::uint32_t alarm = alarm_.load(std::memory_order_acquire);
    now.word = open_.load(std::memory_order_seq_cst);
    if (now.word != seen.word) break;
    alarm_.wait(alarm, std::memory_order_acquire);
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return now;
}

}  // namespace aoe::runtime
