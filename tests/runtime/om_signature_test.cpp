// Signed oms: what was signed loads with the key, and nothing else does.
#include "runtime/om/om_signature.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "runtime/om/geared_om.h"
#include "runtime/om/om_container.h"
#include "tests/runtime/om_builder.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

using aoe::tests::TempDir;

const KeyPair& site() {
  static const KeyPair pair = make_key_pair();
  return pair;
}

const std::string& plain() {
  static const std::string bytes = tests::small_om().serialize();
  return bytes;
}

const std::string& signed_om() {
  static const std::string bytes = sign_om(plain(), site().secret_key, "m.om");
  return bytes;
}

void expect_refused(const OmKeys& keys, std::string_view bytes, const std::string& cause) {
  try {
    keys.check(bytes, "m.om");
    ADD_FAILURE() << "accepted, though it " << cause;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kOm);
    EXPECT_EQ(e.where(), "m.om");
    EXPECT_NE(std::string(e.what()).find(cause), std::string::npos) << e.what();
  }
}

TEST(OmSignature, IsOfOneOfTheKeys) {
  const OmKeys keys({make_key_pair().public_key, site().public_key});
  EXPECT_NO_THROW(keys.check(signed_om(), "m.om"));
  expect_refused(OmKeys({make_key_pair().public_key}), signed_om(), "is not signed by a key");
  expect_refused(keys, plain(), "is not signed");
  EXPECT_NO_THROW(OmKeys().check(plain(), "m.om"));
}

TEST(OmSignature, LeavesAnOmThatAllCanRead) {
  EXPECT_EQ(signed_om().size(), plain().size());
  const auto bytes = std::make_shared<const std::string>(signed_om());
  EXPECT_EQ(Om::parse(*bytes, bytes, "m.om").serialize(), plain());
}

TEST(OmSignature, IsReplacedByTheNext) {
  const KeyPair other = make_key_pair();
  const std::string again = sign_om(signed_om(), other.secret_key, "m.om");
  EXPECT_NO_THROW(OmKeys({other.public_key}).check(again, "m.om"));
  expect_refused(OmKeys({site().public_key}), again, "is not signed by a key");
}

/// Also where no checksum looks, and where the checksums are put right.
TEST(OmSignature, CoversEveryByte) {
  const OmKeys keys({site().public_key});
  for (std::size_t i = 0; i < signed_om().size(); i += i < 200 ? 1 : 37) {
    std::string changed = signed_om();
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_THROW(keys.check(changed, "m.om"), Error) << "byte " << i;
  }
  Om om = tests::small_om();
  om.weights[0] ^= 1;
  std::string other = om.serialize();
  set_signature(other, signature_of(signed_om(), "m.om"));
  expect_refused(keys, other, "was changed since");
}

TEST(OmSignature, IsNotGivenToWhatIsNoOm) {
  std::string damaged = plain();
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_THROW(sign_om(damaged, site().secret_key, "m.om"), Error);
  EXPECT_THROW(sign_om("text", site().secret_key, "m.om"), Error);
}

TEST(OmSignature, KeysAreLinesOfText) {
  const TempDir directory;
  const auto path = directory / "keys";
  const std::string line = public_key_text(site().public_key);
  write_file_atomically(path, "# ours\n\n" + public_key_text(make_key_pair().public_key) + line);
  EXPECT_NO_THROW(OmKeys::read(path).check(signed_om(), "m.om"));
  write_file_atomically(path, secret_key_text(site().secret_key));
  EXPECT_EQ(read_secret_key(path), site().secret_key);
  for (const std::string& text :
       {std::string(), std::string("# nothing\n"), line.substr(0, line.size() - 2), line + "x\n",
        secret_key_text(site().secret_key)}) {
    write_file_atomically(path, text);
    EXPECT_THROW(OmKeys::read(path), Error) << text;
  }
  EXPECT_THROW(OmKeys::read(directory / "missing"), Error);
}

TEST(OmSignature, IsAskedForWhenAFileIsLoaded) {
  const TempDir directory;
  const OmKeys keys({site().public_key});
  write_file_atomically(directory / "s.om", signed_om());
  write_file_atomically(directory / "p.om", plain());
  EXPECT_EQ(GearedOm::load(directory / "s.om", keys).oms.size(), 1u);
  EXPECT_EQ(GearedOm::load_single(directory / "s.om", keys).name, "small");
  EXPECT_THROW(GearedOm::load(directory / "p.om", keys), Error);
  EXPECT_THROW(GearedOm::load_single(directory / "p.om", keys), Error);
}

}  // namespace
}  // namespace aoe::runtime
