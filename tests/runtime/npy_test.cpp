// .npy files: what NumPy writes is read, what we write is what NumPy would write, the rest is refused by name.
#include "runtime/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

std::string npy(const std::string& dictionary, const std::string& elements, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  const auto length = static_cast<std::uint32_t>(dictionary.size());
  file.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return file + dictionary + elements;
}

class Npy : public ::testing::Test {
 protected:
  Constant read(const std::string& bytes) {
    write_file_atomically(dir_ / "t.npy", bytes);
    return read_npy(dir_ / "t.npy");
  }
  void expect_refused(const std::string& bytes, const std::string& cause) {
    try {
      read(bytes);
      ADD_FAILURE() << cause << ": was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kData);
      EXPECT_EQ(e.where(), (dir_ / "t.npy").string());
      EXPECT_NE(std::string(e.what()).find(cause), std::string::npos) << e.what();
    }
  }
  aoe::tests::TempDir dir_;
};

TEST_F(Npy, ReadsWhatNumpyWrites) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  const std::string elements(reinterpret_cast<const char*>(values), sizeof values);
  for (const char version : {'\1', '\2', '\3'}) {
    const Constant c = read(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    \n",
                                elements, version));
    EXPECT_EQ(c.desc().dtype, DataType::kFloat);
    EXPECT_EQ(c.desc().shape, (Shape{2, 3}));
    EXPECT_EQ(std::memcmp(c.data(), values, sizeof values), 0);
  }
  EXPECT_EQ(read(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }\n", elements))
                .desc()
                .shape,
            Shape{6});
  EXPECT_EQ(read(npy("{'shape': (), 'fortran_order': False, 'descr': '|b1'}\n", "\1")).desc().shape,
            Shape{});
  EXPECT_EQ(
      read(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5), }\n", "")).desc().shape,
      (Shape{0, 5}));
}

TEST_F(Npy, WritesTheHeaderThatNumpyWrites) {
  std::int16_t values[] = {1, -1, 300};
  write_npy(dir_ / "t.npy", {{.dtype = DataType::kInt16, .shape = {3}}, values});
  const std::string file = read_file(dir_ / "t.npy", ExitCode::kData);
  EXPECT_EQ(file.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(file.substr(10, 60), "{'descr': '<i2', 'fortran_order': False, 'shape': (3, ), }  ");
  EXPECT_EQ(file[127], '\n');
  EXPECT_EQ(file.substr(128), std::string(reinterpret_cast<const char*>(values), 6));
}

TEST_F(Npy, EveryTypeComesBack) {
  for (const DataType dtype :
       {DataType::kFloat, DataType::kFloat16, DataType::kInt8, DataType::kInt32, DataType::kUint8,
        DataType::kInt16, DataType::kUint16, DataType::kUint32, DataType::kInt64, DataType::kUint64,
        DataType::kDouble, DataType::kBool}) {
    const TensorDesc desc{.dtype = dtype, .shape = {2, 1, 5}};
    std::vector<char> bytes(storage_bytes(desc));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i & 1);
    write_npy(dir_ / "t.npy", {desc, bytes.data()});
    const Constant back = read_npy(dir_ / "t.npy");
    EXPECT_EQ(back.desc(), desc);
    EXPECT_EQ(std::memcmp(back.data(), bytes.data(), bytes.size()), 0);
  }
}

TEST_F(Npy, RefusesWhatItCannotRead) {
  expect_refused("", "is not a .npy file");
  expect_refused("PK\x03\x04 a zip archive", "is not a .npy file");
  expect_refused(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "1234"),
                 "Fortran order");
  expect_refused(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "1234"), "'>f4'");
  expect_refused(npy("{'descr': '<U7', 'fortran_order': False, 'shape': (1,), }", "1234"), "'<U7'");
  expect_refused(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"),
                 "structured");
  expect_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "1234"),
                 "4 bytes of elements");
  expect_refused(
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", ""),
      "0 bytes of elements");
  expect_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""), "shape");
  expect_refused(npy("{'descr': '<f4', 'fortran_order': False, }", ""), "no 'shape'");
  expect_refused(npy("{}", "", 9), "unknown version");
}

TEST_F(Npy, RefusesTruncationAtEveryByte) {
  float value = 1;
  write_npy(dir_ / "whole.npy", {{.dtype = DataType::kFloat, .shape = {}}, &value});
  const std::string whole = read_file(dir_ / "whole.npy", ExitCode::kData);
  for (std::size_t size = 0; size < whole.size(); ++size) expect_refused(whole.substr(0, size), "");
}

}  // namespace
}  // namespace aoe::runtime
