#include "compiler/loopnest/object_memo.h"

#include <gtest/gtest.h>

#include <string>

namespace aoe::compiler::loopnest {
namespace {

Digest128 key(int i) {
  return hash128(std::to_string(i));
}

TEST(ObjectMemo, FindsWhatItKeeps) {
  ObjectMemo memo(100);
  EXPECT_FALSE(memo.find(key(1)));
  memo.keep(key(1), "one");
  memo.keep(key(2), "two");
  EXPECT_EQ(memo.find(key(1)), "one");
  EXPECT_EQ(memo.find(key(2)), "two");
}

TEST(ObjectMemo, ForgetsWhatWasNotAskedForLately) {
  ObjectMemo memo(100);
  memo.keep(key(0), std::string(10, 'a'));
  memo.keep(key(1), std::string(10, 'b'));
  for (int i = 2; i < 100; ++i) {
    memo.keep(key(i), std::string(10, 'c'));
    ASSERT_TRUE(memo.find(key(0))) << "asked for after each, " << i;
  }
  EXPECT_FALSE(memo.find(key(1)));
  EXPECT_TRUE(memo.find(key(99)));
}

TEST(ObjectMemo, IsBounded) {
  ObjectMemo memo(1000);
  for (int i = 0; i < 1000; ++i) memo.keep(key(i), std::string(100, 'x'));
  int found = 0;
  for (int i = 0; i < 1000; ++i) found += memo.find(key(i)).has_value();
  EXPECT_LE(found, 20);
}

}  // namespace
}  // namespace aoe::compiler::loopnest
