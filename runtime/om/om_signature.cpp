// libsodium's Ed25519ph: the file is hashed in pieces. Tested by tests/runtime/om_signature_test.cpp.
#include "runtime/om/om_signature.h"

#include <sodium.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/check.h"
#include "base/error.h"
#include "base/file.h"
#include "runtime/om/om_container.h"

namespace aoe::runtime {
namespace {

static_assert(sizeof(PublicKey) == crypto_sign_PUBLICKEYBYTES);
static_assert(sizeof(SecretKey) == crypto_sign_SECRETKEYBYTES);
static_assert(sizeof(Signature) == crypto_sign_BYTES);

constexpr std::string_view kPublicWord = "aoe-om-public-key", kSecretWord = "aoe-om-secret-key";

void need_sodium() {
  static const bool is_ready = sodium_init() >= 0;
  AOE_CHECK(is_ready, "libsodium finds no randomness");
}

template <std::size_t kBytes>
std::string key_text(std::string_view word, const std::array<unsigned char, kBytes>& key) {
  std::string hex(2 * kBytes + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), key.data(), key.size());
  hex.pop_back();
  std::string text(word);  // appended to: g++ 12 sees a sum of temporaries overlap
  text += ' ';
  text += hex;
  text += '\n';
  return text;
}

[[noreturn]] void refuse_key(const std::filesystem::path& path, std::string_view word,
                             const std::string& what) {
  throw Error(
      ExitCode::kUsage, what, path.string(),
      "give a file with a line '" + std::string(word) + " ...', as aoe_sign keygen writes it");
}

/// The keys of all lines that begin with `word`.
template <std::size_t kBytes>
std::vector<std::array<unsigned char, kBytes>> read_keys(const std::filesystem::path& path,
                                                         std::string_view word) {
  std::istringstream lines(read_file(path, ExitCode::kUsage));
  std::vector<std::array<unsigned char, kBytes>> keys;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, hex, more;
    words >> first >> hex >> more;
    if (first.empty() || first.front() == '#') continue;
    std::size_t size = 0;
    auto& key = keys.emplace_back();
    const bool is_key = first == word && hex.size() == 2 * kBytes && more.empty() &&
                        sodium_hex2bin(key.data(), key.size(), hex.data(), hex.size(), nullptr,
                                       &size, nullptr) == 0 &&
                        size == kBytes;
    if (!is_key) refuse_key(path, word, "has a line that is no " + std::string(word));
  }
  if (keys.empty()) refuse_key(path, word, "has no " + std::string(word));
  return keys;
}

/// Of all bytes, but those that the signature itself changes.
crypto_sign_state hash_of(std::string_view bytes, const std::string& where) {
  need_sodium();
  constexpr std::string_view kPurpose = "aoe om 1";
  const std::string header = header_to_sign(bytes, where);
  crypto_sign_state state;
  crypto_sign_init(&state);
  for (const std::string_view part :
       {kPurpose, std::string_view(header), bytes.substr(header.size())})
    crypto_sign_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  return state;
}

}  // namespace

OmKeys OmKeys::read(const std::filesystem::path& path) {
  return OmKeys(read_keys<sizeof(PublicKey)>(path, kPublicWord));
}

OmKeys OmKeys::from_environment() {
  const char* const path = std::getenv(kOmKeyVariable);
  return path == nullptr ? OmKeys() : read(path);
}

void OmKeys::check(std::string_view bytes, const std::string& where) const {
  if (keys_.empty()) return;
  const Signature signature = signature_of(bytes, where);
  if (signature == Signature{})
    throw Error(ExitCode::kOm, "is not signed", where, "sign it with aoe_sign");
  const crypto_sign_state hash = hash_of(bytes, where);
  const auto has_signed = [&](const PublicKey& key) {
    crypto_sign_state state = hash;
    return crypto_sign_final_verify(&state, signature.data(), key.data()) == 0;
  };
  if (std::ranges::none_of(keys_, has_signed))
    throw Error(ExitCode::kOm, "is not signed by a key that is trusted here, or was changed since",
                where, "sign it with aoe_sign, or name its key");
}

KeyPair make_key_pair() {
  need_sodium();
  KeyPair pair;
  crypto_sign_keypair(pair.public_key.data(), pair.secret_key.data());
  return pair;
}

std::string public_key_text(const PublicKey& key) {
  return key_text(kPublicWord, key);
}

std::string secret_key_text(const SecretKey& key) {
  return key_text(kSecretWord, key);
}

SecretKey read_secret_key(const std::filesystem::path& path) {
  const auto keys = read_keys<sizeof(SecretKey)>(path, kSecretWord);
  if (keys.size() > 1) refuse_key(path, kSecretWord, "has more than one key");
  return keys.front();
}

std::string sign_om(std::string bytes, const SecretKey& key, const std::string& where) {
  read_container(bytes, where);  // nobody signs what is damaged
  crypto_sign_state state = hash_of(bytes, where);
  Signature signature;
  crypto_sign_final_create(&state, signature.data(), nullptr, key.data());
  set_signature(bytes, signature);
  return bytes;
}

}  // namespace aoe::runtime
