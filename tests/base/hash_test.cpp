// Digests are stored in banks: they must never change.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace aoe {
namespace {

TEST(Hash, MatchesTheReferenceVectorsOfMurmur3) {
  EXPECT_EQ(to_hex(hash128("")), "00000000000000000000000000000000");
  EXPECT_EQ(to_hex(hash128("hello")), "cbd8a7b341bd9b025b1e906a48ae1d19");
  EXPECT_EQ(to_hex(hash128("The quick brown fox jumps over the lazy dog")),
            "e34bbc7bbc071b6c7a433ca9c49a9347");
}

TEST(Hash, EveryLengthAndEveryByteMatters) {
  std::set<std::string> seen;
  std::string text(70, 'x');
  for (std::size_t length = 0; length <= text.size(); ++length)
    EXPECT_TRUE(seen.insert(to_hex(hash128(text.substr(0, length)))).second);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = 'y';
    EXPECT_TRUE(seen.insert(to_hex(hash128(changed))).second);
  }
}

TEST(Crc32c, MatchesTheStandardAndChains) {
  const std::string digits = "123456789";
  EXPECT_EQ(crc32c(digits.data(), digits.size()), 0xe3069283U);
  const std::string zeros(32, '\0');
  EXPECT_EQ(crc32c(zeros.data(), zeros.size()), 0x8a9136aaU);  // RFC 3720, B.4
  for (std::size_t cut = 0; cut <= digits.size(); ++cut)
    EXPECT_EQ(crc32c(digits.data() + cut, digits.size() - cut, crc32c(digits.data(), cut)),
              0xe3069283U);
}

/// Long strings go through several lanes at once, wherever they begin and end.
TEST(Crc32c, IsTheSameInOnePieceAndInMany) {
  std::mt19937 random(20261123);
  std::string bytes(60000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (const std::size_t size : {4096U, 12287U, 12288U, 12289U, 24576U, 30000U, 36871U, 59999U}) {
    const std::size_t begin = random() % (bytes.size() - size + 1);
    std::uint32_t in_pieces = 0;
    for (std::size_t at = 0; at < size; at += 1000)
      in_pieces =
          crc32c(bytes.data() + begin + at, std::min<std::size_t>(1000, size - at), in_pieces);
    EXPECT_EQ(crc32c(bytes.data() + begin, size), in_pieces) << size << " bytes from " << begin;
  }
}

}  // namespace
}  // namespace aoe
