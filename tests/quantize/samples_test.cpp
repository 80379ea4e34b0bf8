// Directories of .npy files as samples.
#include "quantize/samples.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/graph.h"
#include "runtime/npy.h"
#include "tests/temp_dir.h"

namespace aoe::quantize {
namespace {

void write(const std::filesystem::path& path, const Shape& shape,
           DataType dtype = DataType::kFloat) {
  std::filesystem::create_directories(path.parent_path());
  Constant value({.dtype = dtype, .shape = shape});
  if (dtype == DataType::kFloat)
    for (std::int64_t i = 0; i < element_count(shape); ++i)
      static_cast<float*>(value.mutable_data())[i] = static_cast<float>(i);
  runtime::write_npy(path, value.view());
}

Declarations image(const Shape& shape) {
  return {{"x", {.dtype = DataType::kFloat, .shape = shape}}};
}

std::string refusal(const std::filesystem::path& directory, const Declarations& inputs) {
  try {
    read_samples(directory, inputs);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kData);
    return error.what();
  }
  return "";
}

TEST(Samples, OneInputTakesEveryFile) {
  const tests::TempDir directory;
  write(directory / "b.npy", {1, 2, 3});
  write(directory / "a.npy", {3, 2, 3});  // three of a batch of one
  write(directory / "c.npy", {2, 3});     // without the batch
  const std::vector<Sample> samples = read_samples(directory.path(), image({1, 2, 3}));
  ASSERT_EQ(samples.size(), 5u);
  EXPECT_EQ(samples[2].at("x")->view().as<float>()[0], 12);  // a.npy comes first: its third
  EXPECT_EQ(samples[3].at("x")->view().as<float>()[0], 0);
  for (const Sample& each : samples) EXPECT_EQ(each.at("x")->desc().shape, (Shape{1, 2, 3}));
}

TEST(Samples, OpenDimensionsTakeTheFilesSizes) {
  const tests::TempDir directory;
  write(directory / "a.npy", {4, 7});
  EXPECT_EQ(read_samples(directory.path(), image({kUnknownDim, 7})).size(), 1u);
  EXPECT_EQ(read_samples(directory.path(), image(graph::kUnknownRankShape)).size(), 1u);
  write(directory / "b.npy", {5, 7});
  EXPECT_NE(
      refusal(directory.path(), image({kUnknownDim, 7})).find("different shapes: 4x7 and 5x7"),
      std::string::npos);
}

TEST(Samples, SeveralInputsTakeADirectoryEach) {
  const Declarations inputs = {{"in/x:0", {.dtype = DataType::kFloat, .shape = {1, 2}}},
                               {"ids", {.dtype = DataType::kInt64, .shape = {1}}}};
  const tests::TempDir directory;
  write(directory / "0/in_x_0.npy", {1, 2});
  write(directory / "0/ids.npy", {1}, DataType::kInt64);
  write(directory / "1/in_x_0.npy", {1, 2});
  EXPECT_NE(refusal(directory.path(), inputs).find("ids.npy"), std::string::npos);
  write(directory / "1/ids.npy", {2}, DataType::kInt64);
  EXPECT_NE(refusal(directory.path(), inputs).find("holds 2 samples, another input's file 1"),
            std::string::npos);
  write(directory / "1/ids.npy", {1}, DataType::kInt64);
  EXPECT_EQ(read_samples(directory.path(), inputs).size(), 2u);
}

TEST(Samples, WhatDoesNotFitIsNamed) {
  const tests::TempDir directory;
  EXPECT_NE(refusal(directory.path(), image({1, 2})).find("there are no samples"),
            std::string::npos);
  EXPECT_NE(refusal(directory / "absent", image({1, 2})).find("No such file"), std::string::npos);
  write(directory / "a.npy", {1, 3});
  EXPECT_NE(refusal(directory.path(), image({1, 2})).find("a.npy: holds float32 1x3"),
            std::string::npos);
  write(directory / "a.npy", {1, 2}, DataType::kInt64);
  EXPECT_NE(refusal(directory.path(), image({1, 2})).find("a.npy: holds int64"), std::string::npos);
  write(directory / "a.npy", {3, 2});
  EXPECT_NE(refusal(directory.path(), image({2, 2})).find("a.npy: holds float32 3x2"),
            std::string::npos);
  write(directory / "a.npy", {0, 2});
  EXPECT_NE(refusal(directory.path(), image({2, 2})).find("a.npy"), std::string::npos);
}

}  // namespace
}  // namespace aoe::quantize
