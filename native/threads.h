// Threads: who shares the loops of a kernel. The runtime has a team of them; kernels see no more than this.
#pragma once

#include <concepts>
#include <cstdint>

namespace aoe::native {

/// What is called with iterations [begin, end). It refers to a function that the caller keeps: nothing is copied or allocated.
class Part {
 public:
  template <std::invocable<std::int64_t, std::int64_t> F>
  Part(const F& function)  // NOLINT: implicit
      : function_(&function), call_([](const void* called, std::int64_t begin, std::int64_t end) {
          (*static_cast<const F*>(called))(begin, end);
        }) {}

  void operator()(std::int64_t begin, std::int64_t end) const { call_(function_, begin, end); }

 private:
  const void* function_;
  void (*call_)(const void* called, std::int64_t begin, std::int64_t end);
};

class Threads {
 public:
  virtual ~Threads() = default;

  /// Calls `part` for parts of [0, extent), which together are all of it, at most one for each thread. `cost`: of an
  /// iteration, in nanoseconds: what is too little to be shared is one part. Throws what a part throws.
  void share(std::int64_t extent, double cost, const Part& part);
  /// How many there are: more parts than these gain nothing.
  virtual std::int64_t count() const = 0;

 private:
  virtual void run(std::int64_t extent, const Part& part) = 0;
};

/// In how many parts each of `blocks` is shared, of which there may be too few for the threads: so that there are `enough` in all, but
/// parts have `least` of the block's `extent`.
std::int64_t parts_of(std::int64_t blocks, std::int64_t enough, std::int64_t extent,
                      std::int64_t least);

/// The calling thread alone.
class OneThread final : public Threads {
 public:
  std::int64_t count() const override { return 1; }

 private:
  void run(std::int64_t extent, const Part& part) override { part(0, extent); }
};

}  // namespace aoe::native
