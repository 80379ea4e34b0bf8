// Messages as files.
#include "tuner/fleet/spool.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "base/nesting.h"
#include "tuner/measure/worker.h"

namespace aoe::tuner {
using nlohmann::json;
namespace fs = std::filesystem;
namespace {
constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 28;
}

fs::path Spool::lessons(const std::string& soc_version) const {
  return lessons() / to_hex(hash128(soc_version));
}

std::string fleet_version() {
  constexpr int kMessages = 2;  // count up when they change
  return worker_version() + "-" + std::to_string(kMessages);
}

bool is_node_name(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  const auto may_stand = [](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '-');
  };
  return !name.empty() && name.size() <= kLongest && name.front() != '-' &&
         std::ranges::all_of(name, may_stand);
}

void write_message(const fs::path& path, const json& message) {
  write_file_atomically(path, cbor_bytes(message));
}

std::optional<json> read_message(const fs::path& path) {
  std::error_code status;
  const std::uintmax_t size = fs::file_size(path, status);
  if (status) return std::nullopt;
  const auto refuse = [&](const char* what) {
    return Error(ExitCode::kFailure, what, path.string());
  };
  if (size > kMostBytes) throw refuse("is larger than any message");
  const std::string bytes = read_file(path, ExitCode::kFailure);
  if (!nests_little_cbor(bytes)) throw refuse("nests too deeply for a message");
  json message = cbor_or_discarded(bytes);
  if (!message.is_object()) throw refuse("is no message");
  return message;
}

std::optional<MessageVersion> message_version(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return MessageVersion{
      .inode = status.st_ino,
      .written_at_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

std::optional<std::int64_t> last_touch(const fs::path& path) {
  const auto version = message_version(path);
  if (!version) return std::nullopt;
  return version->written_at_ns;
}

void touch(const fs::path& path) {
  (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // one that fails is one not seen
}

}  // namespace aoe::tuner
