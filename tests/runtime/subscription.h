// A subscription to a model's records: the pipe they come through, who reads it, and what the C API says of them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "runtime/acl/op_record.h"

namespace aoe::runtime::tests {

constexpr std::size_t kRecord = sizeof(acl::OpRecord);
constexpr int kOps = 2;  ///< of two_op_om()

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() { close_read_end(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_read_end() {
    if (read_end >= 0) ::close(read_end);
    read_end = -1;
  }
  /// Until the other end is closed, in pieces of this size.
  std::string read_all(std::size_t piece = 4096) const {
    std::string all, buffer(piece, '\0');
    for (ssize_t n; (n = ::read(read_end, buffer.data(), piece)) > 0;)
      all.append(buffer.data(), static_cast<std::size_t>(n));
    return all;
  }

  int read_end = -1;
  int write_end = -1;  ///< the library's, once subscribed
};

/// Reads a pipe to its end on a thread of its own.
class Reader {
 public:
  explicit Reader(const Pipe& pipe, std::size_t piece = 4096)
      : thread_([this, &pipe, piece] { bytes_ = pipe.read_all(piece); }) {}
  ~Reader() {
    if (thread_.joinable()) thread_.join();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  const std::string& bytes() {
    thread_.join();
    return bytes_;
  }

 private:
  std::string bytes_;
  std::thread thread_;
};

/// "-" where it is refused.
inline std::string text_of_record(const std::string& bytes, std::uint32_t i,
                                  decltype(aclprofGetOpName) get,
                                  decltype(aclprofGetOpNameLen) get_length) {
  std::size_t length = 0;
  if (get_length(bytes.data(), bytes.size(), i, &length) != ACL_SUCCESS) return "-";
  std::string buffer(length, '\0');
  if (get(bytes.data(), bytes.size(), i, buffer.data(), length) != ACL_SUCCESS) return "-";
  return buffer.c_str();
}
inline std::string name_of(const std::string& bytes, std::uint32_t i) {
  return text_of_record(bytes, i, aclprofGetOpName, aclprofGetOpNameLen);
}

inline std::string type_of(const std::string& bytes, std::uint32_t i) {
  return text_of_record(bytes, i, aclprofGetOpType, aclprofGetOpTypeLen);
}

class Subscribe : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override {
    aclFinalize();
    for (const aclprofSubscribeConfig* config : configs_) aclprofDestroySubscribeConfig(config);
  }

  const aclprofSubscribeConfig* config(int descriptor, int8_t with_times = 1,
                                       aclprofAicoreMetrics metrics = ACL_AICORE_NONE) {
    configs_.push_back(aclprofCreateSubscribeConfig(with_times, metrics, &descriptor));
    return configs_.back();
  }

  std::vector<const aclprofSubscribeConfig*> configs_;
};

}  // namespace aoe::runtime::tests
