// Machine code of loop nests: every construct of the language against the interpreter, and memory borders. Element types:
// element_types_test.cpp; what the shared object promises: shared_object_test.cpp.
#include "compiler/loopnest/codegen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/compiler/guarded_buffer.h"
#include "tests/compiler/loopnest_eval.h"
#include "tests/compiler/machine_code.h"
#include "tests/compiler/random_floats.h"

namespace aoe::compiler::loopnest {
namespace {

/// Runs a function of x (read), y (read and written) by machine code of every Soc and by the
/// interpreter.
void expect_agreement(const Function& function, const std::vector<float>& x, std::size_t y_count) {
  std::vector<float> input = x, expected(y_count, -1.0f);
  const EvalBuffer eval[] = {{input.data(), static_cast<std::int64_t>(x.size())},
                             {expected.data(), static_cast<std::int64_t>(y_count)}};
  evaluate(function, eval);
  for (const Soc& soc : test_socs()) {
    GuardedBuffer guarded(x.size() * sizeof(float));
    std::memcpy(guarded.as(), x.data(), guarded.size_bytes());
    GuardedBuffer output(y_count * sizeof(float));
    std::fill_n(output.as(), y_count, -1.0f);
    void* const buffers[] = {guarded.as(), output.as()};
    compile_and_run(function, soc, buffers);
    for (std::size_t i = 0; i < y_count; ++i) {
      ASSERT_EQ(output.as()[i], expected[i]) << soc.version << " element " << i << " of\n"
                                             << to_text(function);
    }
  }
}

struct Access2 {
  int lanes;
  std::int64_t stride;
  int active;  ///< -1: all lanes

  /// Elements from the lowest to the highest that the access touches.
  std::int64_t reach() const { return ((active < 0 ? lanes : active) - 1) * std::abs(stride) + 1; }
};

std::vector<Access2> strided_cases() {
  std::vector<Access2> cases;
  for (const int lanes : {1, 8, 16, 5}) {
    for (const std::int64_t stride : {0, 1, 2, 3, 4, 7, -1, -3}) {
      for (const int active : {-1, 1, lanes / 2 + 1, lanes}) {
        if (active <= lanes) cases.push_back({lanes, stride, active});
      }
    }
  }
  return cases;
}

/// y gets x through an access at `first` whose count of lanes comes from a variable: constants take
/// another way through the code generator. copy(builder, x, y, count) emits it.
template <typename Copy>
Function strided_function(const Access2& access, Copy copy) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
  b.parallel(1, [&](Int) {
    const int used = access.active;
    b.loop("n", used, used + 2, 1, [&](Int n) {
      copy(b, x, y, used < 0 ? std::optional<Int>() : std::optional<Int>(min(n, Int(used))));
    });
  });
  return b.finish();
}

TEST(StridedAccess, LoadsWithoutReadingOutside) {
  for (const Access2& access : strided_cases()) {
    const std::int64_t first = access.stride < 0 ? access.reach() - 1 : 0;
    const Function f = strided_function(access, [&](Builder& b, Buffer x, Buffer y, auto count) {
      b.store(y, 0, b.load(x, first, access.lanes, count, access.stride));
    });
    expect_agreement(f, random_floats(static_cast<std::size_t>(access.reach())),
                     static_cast<std::size_t>(access.lanes));
  }
}

TEST(StridedAccess, StoresWithoutWritingOutside) {
  for (const Access2& access : strided_cases()) {
    if (access.stride == 0) continue;  // a store of all lanes to one element is refused
    const std::int64_t first = access.stride < 0 ? access.reach() - 1 : 0;
    const Function f = strided_function(access, [&](Builder& b, Buffer x, Buffer y, auto count) {
      b.store(y, first, b.load(x, 0, access.lanes), count, access.stride);
    });
    expect_agreement(f, random_floats(static_cast<std::size_t>(access.lanes)),
                     static_cast<std::size_t>(access.reach()));
  }
}

TEST(MaskedAccess, TouchesNothingWhenNoLaneIsActive) {
  for (const Soc& soc : test_socs()) {
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kWrite);
    b.parallel(2, [&](Int p) {
      const Int none = p * -5;  // 0 and -5 lanes
      for (const int lanes : {1, soc.vector_lanes()}) {
        b.store(y, 0, b.load(x, 0, lanes, none), none);
        b.store(y, 0, b.load(x, 0, lanes, none, 2), none, 2);
        b.store(y, 0, b.load(x, 0, lanes, none, 0), none);
      }
    });
    GuardedBuffer nothing(0);
    void* const buffers[] = {nothing.as(), nothing.as()};
    compile_and_run(b.finish(), soc, buffers);  // would crash on the guard page
  }
}

TEST(Transpose, OfEverySize) {
  for (const int n : {1, 2, 3, 4, 5, 8, 16}) {
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
    b.parallel(1, [&](Int) {
      std::vector<Vec> rows;
      for (int i = 0; i < n; ++i) rows.push_back(b.get(b.local(b.load(x, i * n, n))));
      for (int i = 0; i < n; ++i) b.store(y, i * n, transpose_row(rows, i));
    });
    expect_agreement(b.finish(), random_floats(static_cast<std::size_t>(n * n)),
                     static_cast<std::size_t>(n * n));
  }
}

TEST(Interleave, OfAnyNumberOfRows) {
  for (const int lanes : {1, 4, 8, 16}) {
    for (const int n : {1, 2, 3, 4, 7}) {
      Builder b("f");
      const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
      b.parallel(1, [&](Int) {
        std::vector<Vec> rows;
        for (int i = 0; i < n; ++i) rows.push_back(b.get(b.local(b.load(x, i * lanes, lanes))));
        for (int i = 0; i < n; ++i) b.store(y, i * lanes, interleave(rows, i));
      });
      const auto elements = static_cast<std::size_t>(n * lanes);
      expect_agreement(b.finish(), random_floats(elements), elements);
    }
  }
}

TEST(Permute, OneVectorAndTwo) {
  std::mt19937 random(3);
  for (const int lanes : {1, 2, 4, 8, 16}) {
    std::vector<int> one, two;
    for (int i = 0; i < lanes; ++i) {
      one.push_back(static_cast<int>(random()) & (lanes - 1));
      two.push_back(static_cast<int>(random()) & (2 * lanes - 1));
    }
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
    b.parallel(1, [&](Int) {
      const Vec low = b.load(x, 0, lanes), high = b.load(x, lanes, lanes);
      b.store(y, 0, permute(low, one));
      b.store(y, lanes, permute(low, high, two));
    });
    const auto elements = static_cast<std::size_t>(2 * lanes);
    expect_agreement(b.finish(), random_floats(elements), elements);
  }
}

TEST(ControlFlow, LoopsThatMayBeEmptyAndBranches) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
  b.parallel(7, [&](Int p) {
    const Local sum = b.local(splat(0.0f, 4));
    b.loop("k", p, p * 2 % 7, 1, [&](Int k) {
      b.assign(sum, b.get(sum) + b.load(x, k, 4));
      b.if_(
          k % 2 == Int(0) && !(k == Int(4)), [&] { b.assign(sum, b.get(sum) * splat(2.0f, 4)); },
          [&] { b.assign(sum, -b.get(sum)); });
    });
    b.if_(Int(3) < p || p == Int(1),
          [&] { b.assign(sum, b.get(sum) + broadcast(to_float(p * 3), 4)); });
    b.store(y, p * 4, b.get(sum));
  });
  expect_agreement(b.finish(), random_floats(16), 28);
}

TEST(Locals, AreReadWhereTheStatementStands) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
  b.parallel(1, [&](Int) {
    const Local a = b.local(b.load(x, 0, 4));
    const Vec late = b.get(a) + splat(1.0f, 4);
    b.assign(a, b.load(x, 4, 4));
    b.store(y, 0, late);                 // sees the second value
    const Vec stored = b.load(y, 0, 4);  // of the buffer, read twice: before and after the store
    b.store(y, 4, stored);
    b.store(y, 0, splat(9.0f, 4));
    b.store(y, 8, stored);
  });
  expect_agreement(b.finish(), random_floats(8), 12);
}

TEST(Scratch, IsPrivateMemoryOfTheFunction) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead);
  const Buffer s = b.scratch("s", 5), t = b.scratch("t", 16);
  const Buffer y = b.buffer("y", Access::kReadWrite);
  b.parallel(3, [&](Int p) {
    b.loop("i", 0, 5, 1, [&](Int i) { b.store(s, i, b.load(x, p * 5 + i, 1)); });
    b.store(t, 0, b.load(x, p, 8) * splat(2.0f, 8));
    b.loop("i", 0, 5, 1,
           [&](Int i) { b.store(y, p * 5 + i, b.load(s, Int(4) - i, 1) + b.load(t, i, 1)); });
  });
  const Function function = b.finish();
  EXPECT_EQ(function.scratch_bytes, 128);
  expect_agreement(function, random_floats(15), 15);
}

}  // namespace
}  // namespace aoe::compiler::loopnest
