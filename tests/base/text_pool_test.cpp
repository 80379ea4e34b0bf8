#include "base/text_pool.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"

namespace aoe {
namespace {

std::shared_ptr<const TextIndex> index_of(std::vector<std::string> list) {
  return std::make_shared<const TextIndex>(std::move(list));
}

TEST(TextPool, AddsBehindWhatIsKnown) {
  TextPool pool(index_of({"a", "", "c"}));
  EXPECT_EQ(pool.place_of("c"), 2);
  EXPECT_EQ(pool.place_of("d"), 3);
  EXPECT_EQ(pool.place_of(std::string_view("a\0", 2)), 4) << "a NUL is as good as any";
  EXPECT_EQ(pool.place_of("d"), 3);
  EXPECT_EQ(pool.at(1), "");
  EXPECT_EQ(pool.at(4), std::string("a\0", 2));
  EXPECT_EQ(pool.find(5), nullptr);
  EXPECT_EQ(pool.find(-1), nullptr);
  EXPECT_THROW(pool.at(5), Error);
}

TEST(TextPool, ForgetsWhatWasAdded) {
  TextPool pool(index_of({"a"}));
  pool.place_of("b");
  pool.place_of("d");
  pool.forget(1);
  EXPECT_EQ(pool.at(1), "b");
  EXPECT_EQ(pool.find(2), nullptr);
  pool.forget();
  EXPECT_EQ(pool.find(1), nullptr);
  EXPECT_EQ(pool.place_of("c"), 1);
  EXPECT_EQ(pool.place_of("a"), 0);
}

TEST(TextPool, KnowsItsLongest) {
  TextPool pool(index_of({"abc", "a"}));
  EXPECT_EQ(pool.longest(), 3u);
  pool.place_of("b");
  EXPECT_EQ(pool.longest(), 3u);
  pool.place_of("abcd");
  EXPECT_EQ(pool.longest(), 4u);
  pool.forget();
  EXPECT_EQ(pool.longest(), 3u);
}

TEST(TextPool, TakesSoManyBytesAndNoMore) {
  TextPool pool(index_of({"known and long"}), 5);
  pool.place_of("known and long");
  pool.place_of("abc");
  EXPECT_THROW(pool.place_of("def"), Error);
  EXPECT_EQ(pool.added().size(), 1u) << "nothing stays of what is refused";
  EXPECT_EQ(pool.longest(), 14u);
  pool.place_of("de");
  pool.place_of("abc");
  pool.place_of("");
  EXPECT_THROW(pool.place_of("f"), Error);
  pool.forget(1);
  EXPECT_EQ(pool.place_of("fg"), 2) << "what is forgotten takes nothing";
  pool.forget();
  pool.place_of("abcde");
  EXPECT_THROW(pool.place_of("f"), Error);
}

TEST(TextPool, TextsStayWhereTheyAre) {
  TextPool pool;
  const std::string* const place = pool.find(pool.place_of("first"));
  for (int i = 0; i < 10'000; ++i) pool.place_of(std::to_string(i));
  EXPECT_EQ(pool.find(0), place);
  EXPECT_EQ(pool.place_of("9999"), 10'000);
}

TEST(TextPool, EachThreadHasItsOwn) {
  EXPECT_EQ(TextPool::current(), nullptr);
  TextPool outer, inner;
  const TextPool::Scope scope(outer);
  std::thread([] { EXPECT_EQ(TextPool::current(), nullptr); }).join();
  {
    const TextPool::Scope nested(inner);
    EXPECT_EQ(TextPool::current(), &inner);
  }
  EXPECT_EQ(TextPool::current(), &outer);
}

}  // namespace
}  // namespace aoe
