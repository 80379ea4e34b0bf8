// HelperThreads: threads that take part in the loops of the one thread that owns them, as far as they find a core to run on.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace aoe::runtime {

/// Generated code over `extent` parallel iterations from `first` on, in any parts and order.
struct ParallelLoop {
  void (*function)(void* const* buffers, std::int64_t begin, std::int64_t end,
                   void* scratch) = nullptr;
  void* const* buffers = nullptr;
  std::int64_t first = 0, extent = 0;
  std::byte* scratch = nullptr;    ///< of the owner, then of each helper
  std::size_t scratch_stride = 0;  ///< bytes from one to the next
  int pieces = 1;                  ///< of a thread's share, which others may take
};

/// Of a loop that took so long: a call each is nothing beside 25 us.
int good_pieces(std::uint64_t ticks);

/// Where part `part` of `parts` begins, which is where the one before ends. Rounded up, so that part 0, whose thread is never
/// late, is the larger one and has all of a loop of one iteration.
constexpr std::int64_t part_begin(std::int64_t extent, int part, int parts) {
  return (extent * part + parts - 1) / parts;
}

/// Each thread that was asked for has a share of a loop of its own, so that what it wrote in one loop it finds in its caches in the
/// next. A share is a part, or, of a long loop, a few in a row; who is done takes parts of others' that nobody has begun, the last ones first.
/// Only a part that a helper has begun is waited for: where other processes hold the cores, a helper comes late and finds nothing left, and
/// the owner is never slower than alone but for that; a core that is slower than the others does less. (An OpenMP region waits for all of its threads to come: with one other
/// process spinning on two cores a convolution of 0.23 ms took 8 ms.)
class HelperThreads {
 public:
  /// Those of the calling thread, at least so many, or fewer when the system gives no more (a warning says so, once).
  /// They end with the calling thread.
  static HelperThreads& of_this_thread(int helpers);

  /// Tests make their own. They are of the thread that makes them.
  explicit HelperThreads(int helpers);
  ~HelperThreads();
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  int count() const { return static_cast<int>(threads_.size()); }

  /// Carries the loop out on the calling thread and at most `threads` - 1 helpers. Not in parallel with itself.
  void run(const ParallelLoop& loop, int threads);

 private:
  /// Which loop is open, and in how many parts for how many threads: one word, so that a late helper never takes parts of
  /// one loop by the count of another. Later loops have larger words.
  struct Ticket {
    std::uint64_t word = 0;
    int parts() const { return static_cast<int>(word & kMostThreads); }
    int members() const { return static_cast<int>(word >> 10 & kMostThreads); }
    int pieces() const { return std::max(1, parts() / members()); }
  };
  static constexpr std::uint64_t kMostThreads = 1023;  ///< parts as well

  void serve(int member);
  Ticket wait_for_loop_after(Ticket seen);
  Ticket sleep_until_loop_after(Ticket seen);
  void open(Ticket ticket);
  /// Runs parts that nobody has begun, the member's own first. How many.
  int take_parts(Ticket ticket, int member);
  int take_part(Ticket ticket, int part, int member);
  bool claim(int part, Ticket ticket);
  void run_part(int part, int parts, int member) const;
  void wait_for_helpers(std::uint32_t finished);
  void stay_away(std::uint64_t late_ticks);

  /// The last loop in which somebody claimed this part.
  struct alignas(64) Claim {
    std::atomic<std::uint64_t> word{0};
  };

  const ParallelLoop* loop_ = nullptr;  ///< the open one; read only by who has claimed a part of it
  std::uint64_t began_ = 0;             ///< ticks, the open loop; read as loop_ is
  std::uint64_t loops_ = 0;
  std::uint32_t helped_ = 0;         ///< parts that helpers have taken, ever
  std::unique_ptr<Claim[]> claims_;  ///< by part
  alignas(64) std::atomic<std::uint64_t> open_{0};
  alignas(64) std::atomic<std::uint32_t> finished_{0};  ///< parts that helpers are done with, ever
  alignas(64) std::atomic<std::uint32_t> alarm_{0};     ///< sleepers wait for it to change
  std::atomic<int> sleepers_{0};
  std::atomic<bool> is_over_{false};
  std::atomic<std::uint64_t> waits_since_{0};  ///< ticks; 0: the owner does not sleep
  std::mutex away_;                            ///< of who stays away for a while
  std::condition_variable called_back_;
  std::vector<std::thread> threads_;
};

}  // namespace aoe::runtime
