// Signatures of om files: Ed25519 over every byte, so that a site loads only what it signed. An om is a program; a checksum
// says that it came whole, a signature from whom it came.
//
//   OmKeys keys = OmKeys::read("site.pub");
//   GearedOm model = GearedOm::load("m.om", keys);           // throws Error(kOm) unless one of the keys signed it
//
// The signature lies in the header's page, where other readers see zeros: a signed om is an om for all of them.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace aoe::runtime {

using PublicKey = std::array<unsigned char, 32>;
using SecretKey = std::array<unsigned char, 64>;  ///< seed and public key

/// The variable that names the file of keys for whoever loads oms through acl/*.h.
inline constexpr const char* kOmKeyVariable = "AOE_OM_KEY";

/// The keys whose oms are loaded. None: oms are loaded whoever made them.
class OmKeys {
 public:
  OmKeys() = default;
  explicit OmKeys(std::vector<PublicKey> keys) : keys_(std::move(keys)) {}
  /// A text file of one key a line, as public_key_text() writes it, between empty lines and comments (#). Throws
  /// Error(kUsage) when there is none in it.
  static OmKeys read(const std::filesystem::path& path);
  /// Of the file that kOmKeyVariable names; none when it is not set.
  static OmKeys from_environment();

  /// Throws Error(kOm) that names `where` unless one of them signed these bytes of an om file, or there is none.
  void check(std::string_view bytes, const std::string& where) const;

 private:
  std::vector<PublicKey> keys_;
};

struct KeyPair {
  PublicKey public_key;
  SecretKey secret_key;
};
KeyPair make_key_pair();

std::string public_key_text(const PublicKey& key);
std::string secret_key_text(const SecretKey& key);
/// Throws Error(kUsage) that names `path`.
SecretKey read_secret_key(const std::filesystem::path& path);

/// The bytes of an om file, signed; a signature that is there already is replaced. Throws Error(kOm) that names `where` when
/// it is no om, or is damaged.
std::string sign_om(std::string bytes, const SecretKey& key, const std::string& where);

}  // namespace aoe::runtime
