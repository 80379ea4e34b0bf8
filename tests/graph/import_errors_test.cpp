// Bad models: one clear line each, and never a crash.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::tests {
namespace {

/// The message with the temporary directory taken out; "imports" when there is none.
std::string import_message(const std::string& bytes, const graph::ImportOptions& options = {}) {
  const TempDir directory;
  write_file_atomically(directory / "m.onnx", bytes);
  try {
    graph::import_onnx(directory / "m.onnx", options);
  } catch (const Error& error) {
    std::string text = error.what();
    const std::string prefix = directory.path().string() + "/";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  return "imports";
}

constexpr const char* kRelu = "g (float[2] x) => (float[2] y) { y = Relu (x) }";

TEST(BadModel, MissingFileAndDirectory) {
  const TempDir directory;
  for (const auto& [path, what] : {std::pair{directory / "absent.onnx", "no such file"},
                                   std::pair{directory.path(), "is a directory"}}) {
    try {
      graph::import_onnx(path, {});
      ADD_FAILURE() << path << " is imported";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kModel);
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
      EXPECT_EQ(error.where(), path.string());
    }
  }
}

TEST(BadModel, NoOnnx) {
  EXPECT_EQ(import_message(""), "m.onnx: is empty; export the model again");
  EXPECT_NE(import_message("this is not a protobuf message at all").find("is not an ONNX model"),
            std::string::npos);
  EXPECT_NE(import_message(std::string(1000, '\0')).find("is not an ONNX model"),
            std::string::npos);
}

TEST(BadModel, FilesOfOtherKindsAreNamed) {
  EXPECT_EQ(import_message("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n"),
            "m.onnx: is a pointer of Git LFS, not the model; git lfs pull fetches the model");
  EXPECT_EQ(import_message("AOEOM" + std::string(100, '\1')),
            "m.onnx: is an om; give the ONNX model that it was compiled from; aoe_run runs oms");
  for (const std::string& begin :
       {std::string("\x20\0\0\0ORTM", 8), std::string("\x20\0\0\0TFL3", 8),
        std::string("\x89HDF\r\n"), std::string("PK\3\4"),
        std::string("\x40\0\0\0\0\0\0\0{\"w\":", 13), std::string("<!DOCTYPE html>")})
    EXPECT_EQ(import_message(begin + std::string(100, '\7')).find("is not an ONNX model"),
              std::string::npos)
        << begin;
}

TEST(BadModel, TruncatedAnywhereIsRefusedOrHarmless) {
  const std::string bytes = model_bytes(
      "g (float[1,2,4,4] x) => (float[1,3,4,4] y) <float[3,2,1,1] w> { c = Conv (x, w) y = Relu "
      "(c) }");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string message = import_message(bytes.substr(0, size));
    EXPECT_NE(message, "imports") << "first " << size << " of " << bytes.size() << " bytes";
  }
}

TEST(BadModel, FlippedBytesNeverCrash) {
  const std::string bytes = model_bytes(
      "g (float[1,2,4,4] x) => (float[1,3,2,2] y) <float[3,2,1,1] w> "
      "{ c = Conv (x, w) y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (c) }");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      import_message(damaged);  // any answer will do
    }
  }
}

TEST(BadModel, AllUnsupportedOperatorsInOneMessage) {
  EXPECT_EQ(import_message(model_bytes("g (float[2] x) => (float[2] y) { a = Frobnicate (x) b = "
                                       "Relu (a) y = local.Twist (b) }")),
            "m.onnx: 2 unsupported operators: node that produces 'a' (ONNX Frobnicate, opset 13), "
            "node that produces "
            "'y' (ONNX local.Twist, opset 1); replace them, or export the model another way");
}

TEST(BadModel, SearchesSayWhatToExportInstead) {
  const std::string said =
      import_message(model_bytes(R"(g (int32[1,4] x, int32[1] n) => (int32[?] y) {
    y = com.microsoft.BeamSearch <decoder = d () => (float[1] z) { z = Constant <value = float[1] {1}> () }>
      (x, n)
  })"));
  EXPECT_NE(said.find("BeamSearch, opset"), std::string::npos) << said;
  EXPECT_NE(said.find("export that by itself, and choose its words in the program"),
            std::string::npos)
      << said;
}

TEST(BadModel, OperatorOlderThanItsFirstOpset) {
  EXPECT_NE(import_message(model_bytes("g (float[1,2,3,3] x, float[1,3,3,2] s) => (float[1,2,3,3] "
                                       "y) { y = GridSample (x, s) }",
                                       13))
                .find("(ONNX GridSample, opset 13, known from 16)"),
            std::string::npos);
}

TEST(BadModel, SizesOfAFunctionThatAreNoIntegers) {
  EXPECT_EQ(
      import_message(model_bytes("g (float[2,2,3] x) => (float[2,3,4,2] y) {"
                                 " size = Constant <value = double[4] {2.0, 1.0, 3.0, 4.0}> ()"
                                 " y = AffineGrid (x, size) }",
                                 20)),
      "m.onnx: node AffineGrid_0: an input is float64 4 ND, needs int32 or int64");
}

TEST(BadModel, AFunctionAlongAnAxisThatIsNotThere) {
  const auto along = [](const std::string& axis) {
    return import_message(
        model_bytes("g (float[2,3] x, float[3] s) => (float[2,3] y) {"
                    " y = RMSNormalization <axis = " +
                        axis + "> (x, s) }",
                    23));
  };
  EXPECT_EQ(along("1048576"),
            "m.onnx: node that produces 'y' (ONNX RMSNormalization): axis 1048576 is outside a "
            "tensor of rank 2");
  EXPECT_EQ(along("-3"),
            "m.onnx: node that produces 'y' (ONNX RMSNormalization): axis -3 is outside a tensor "
            "of rank 2");
}

TEST(BadModel, BrokenWiring) {
  EXPECT_EQ(import_message(model_bytes("g (float[2] x) => (float[2] y) { y = Add (x, z) }")),
            "m.onnx: node that produces 'y' (ONNX Add): reads 'z', which is no input, no "
            "initializer and no output of "
            "another node");
  EXPECT_EQ(
      import_message(model_bytes("g (float[2] x) => (float[2] y) { y = Relu (x) y = Abs (x) }")),
      "m.onnx: node that produces 'y' (ONNX Abs): produces 'y', which exists already");
  EXPECT_EQ(import_message(model_bytes(
                "g (float[2] x) => (float[2] y) { a = Add (x, b) b = Relu (a) y = Abs (b) }")),
            "m.onnx: node that produces 'a' (ONNX Add): depends on its own output: the graph has a "
            "cycle");
  EXPECT_EQ(
      import_message(model_bytes("g (float[2] x) => (float[2] y, float[2] z) { y = Relu (x) }")),
      "m.onnx: output 'z': is produced by no node");
}

TEST(BadModel, ContradictoryShapes) {
  EXPECT_NE(
      import_message(
          model_bytes("g (float[2,3] x) => (float[2,5] y) <float[4,5] w> { y = MatMul (x, w) }"))
          .find("node MatMul_0"),
      std::string::npos);
}

// Exporters trace one input and write down its output's shape: ONNX Runtime warns and runs such models.
TEST(BadModel, AnOutputDeclaredWronglyCountsAsComputed) {
  const TempDir directory;
  write_file_atomically(
      directory / "m.onnx",
      model_bytes("g (float[2,3] x) => (float[2,4] y) <float[3,5] w> { y = MatMul (x, w) }"));
  testing::internal::CaptureStderr();
  const graph::Graph graph = graph::import_onnx(directory / "m.onnx", {});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(graph.values[graph.outputs[0]].desc.shape, (Shape{2, 5}));
  EXPECT_NE(said.find("output 'y': contradictory shapes: it is declared float32 2x4 and computed "
                      "as float32 2x5, which counts"),
            std::string::npos)
      << said;
  EXPECT_EQ(import_message(model_bytes("g (float[2] x) => (int64[2] y) { y = Relu (x) }")),
            "m.onnx: output 'y': contradictory types: it is declared int64 2 and computed as "
            "float32 2");
}

TEST(BadModel, TypesThatAreNoTensorsOfNumbers) {
  onnx::ModelProto model = parsed_model(kRelu);
  auto* type = model.mutable_graph()->mutable_input(0)->mutable_type();
  type->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  EXPECT_EQ(
      import_message(model.SerializeAsString()),
      "m.onnx: input 'x': is a sequence, whose length must be known; give the shape of each "
      "of its tensors, as in --input_shape=\"x[0]:2,3;x[1]:2,3\"; an empty sequence is \"x:\"");
  type->mutable_map_type()->set_key_type(onnx::TensorProto::INT64);
  EXPECT_EQ(import_message(model.SerializeAsString()),
            "m.onnx: value 'x': is a map; only tensors of numbers and bools are supported");
}

TEST(BadModel, InitializersThatDoNotFitTheirShape) {
  onnx::ModelProto model =
      parsed_model("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }");
  onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.clear_float_data();
  tensor.set_raw_data(std::string(7, 'x'));
  EXPECT_EQ(import_message(model.SerializeAsString()),
            "m.onnx: tensor 'w': holds 7 bytes, float32 2 needs 8");
  tensor.set_dims(0, std::int64_t{1} << 62);
  EXPECT_NE(import_message(model.SerializeAsString()).find("is larger than 2^48 bytes"),
            std::string::npos);
  tensor.set_dims(0, -2);
  EXPECT_NE(import_message(model.SerializeAsString()).find("has a negative dimension: -2"),
            std::string::npos);
  tensor.set_dims(0, 2);
  tensor.set_data_type(onnx::TensorProto::STRING);
  EXPECT_EQ(import_message(model.SerializeAsString()),
            "m.onnx: tensor 'w': holds 0 elements, its shape 2 needs 2");
}

/// Where its weight lies.
onnx::StringStringEntryProto* location_of(onnx::ModelProto& external) {
  onnx::StringStringEntryProto* const location =
      external.mutable_graph()->mutable_initializer(0)->add_external_data();
  location->set_key("location");
  return location;
}

TEST(BadModel, ExternalDataStaysBesideTheModel) {
  onnx::ModelProto model = external_model();
  onnx::StringStringEntryProto* const location = location_of(model);
  for (const char* path : {"/etc/passwd", "../w.bin", "a/../../w.bin", ""}) {
    location->set_value(path);
    EXPECT_NE(import_message(model.SerializeAsString()).find("not below the model's directory"),
              std::string::npos)
        << path;
  }
  location->set_value("absent.bin");
  EXPECT_NE(
      import_message(model.SerializeAsString()).find("external data absent.bin cannot be read"),
      std::string::npos);
}

TEST(BadModel, ExternalDataFollowsNoLinkToElsewhere) {
  onnx::ModelProto model = external_model();
  onnx::StringStringEntryProto* const location = location_of(model);
  const TempDir directory;
  const std::filesystem::path here = directory / "here";
  std::filesystem::create_directories(here / "sub");
  write_file_atomically(directory / "secret", "12345678");
  write_file_atomically(here / "sub/w.bin", "12345678");
  std::filesystem::create_symlink(directory / "secret", here / "link");
  std::filesystem::create_directory_symlink(directory.path(), here / "up");
  std::filesystem::create_symlink("sub/w.bin", here / "inside");
  ASSERT_EQ(::mkfifo((here / "pipe").c_str(), 0600), 0);
  const auto import = [&](const char* path) -> std::string {
    location->set_value(path);
    write_file_atomically(here / "m.onnx", model.SerializeAsString());
    try {
      graph::import_onnx(here / "m.onnx", {});
    } catch (const Error& error) {
      return error.what();
    }
    return "imports";
  };
  EXPECT_EQ(import("sub/w.bin"), "imports");
  EXPECT_EQ(import("inside"), "imports");
  for (const char* path : {"link", "up/secret"})
    EXPECT_NE(import(path).find("not below the model's directory"), std::string::npos) << path;
  EXPECT_NE(import("pipe").find("not a regular file"), std::string::npos);
}

/// As caches of downloads have them: names that are links to files side by side, and a link to a model that has its data beside it.
TEST(BadModel, ExternalDataMayLieBesideTheFileOfALinkedModel) {
  onnx::ModelProto model = external_model();
  location_of(model)->set_value("m.onnx_data");
  const TempDir directory;
  const std::filesystem::path files = directory / "files", names = directory / "names";
  std::filesystem::create_directories(files);
  std::filesystem::create_directories(names);
  write_file_atomically(files / "0a1b", model.SerializeAsString());
  write_file_atomically(files / "2c3d", "12345678");
  std::filesystem::create_symlink("../files/0a1b", names / "m.onnx");
  std::filesystem::create_symlink("../files/2c3d", names / "m.onnx_data");
  EXPECT_NO_THROW(graph::import_onnx(names / "m.onnx", {}));

  std::filesystem::remove(names / "m.onnx_data");
  std::filesystem::rename(files / "2c3d", files / "m.onnx_data");
  EXPECT_NO_THROW(graph::import_onnx(names / "m.onnx", {}));

  write_file_atomically(directory / "secret", "12345678");
  std::filesystem::create_symlink(directory / "secret", names / "m.onnx_data");
  EXPECT_THROW(graph::import_onnx(names / "m.onnx", {}), Error);
}

TEST(BadModel, APipeIsNoModel) {
  const TempDir directory;
  ASSERT_EQ(::mkfifo((directory / "m.onnx").c_str(), 0600), 0);  // nobody ever writes into it
  EXPECT_THROW(graph::import_onnx(directory / "m.onnx", {}), Error);
}

TEST(BadModel, TextsAreUtf8) {
  onnx::ModelProto model = parsed_model(kRelu);
  model.set_producer_name("\xff");  // nobody reads it
  EXPECT_EQ(import_message(model.SerializeAsString()), "imports");
  onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
  node.set_name("caf\xe9");
  EXPECT_NE(import_message(model.SerializeAsString()).find("graph.node.name"), std::string::npos);
  node.set_name("fine");
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("mode");
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s("\xc3");
  EXPECT_NE(import_message(model.SerializeAsString()).find("graph.node.attribute.s"),
            std::string::npos);
}

TEST(BadModel, BranchesThatDifferInRankAreReported) {
  EXPECT_NE(
      import_message(
          model_bytes("g (float[2] x, bool c) => (float y) { y = If (c) <"
                      "then_branch = t () => (float[2] a) { a = Relu (x) },"
                      "else_branch = e () => (float b) { b = ReduceSum <keepdims = 0> (x) }> }"))
          .find("(ONNX If, opset 13: output 'y' of its branches changes its rank)"),
      std::string::npos);
}

TEST(BadModel, PartsOfAFunctionThatCannotBeSaidAreReported) {
  EXPECT_NE(
      import_message(model_bytes("g (float[8] x) => (float[?] y) {"
                                 " n = NonZero (x) s = Squeeze (n) y = CastLike (x, s) }",
                                 18))
          .find(
              "(ONNX CastLike, opset 18: the element type of an input is known only when it runs)"),
      std::string::npos);
}

/// What only stands behind an unsupported node is not called so.
TEST(BadModel, NodesBehindAnUnsupportedOneAreNotListed) {
  const std::string message = import_message(model_bytes(
      "g (float[8] x) => (float[8] y) { a = StringSplit (x) b = CastLike (x, a) y = Tan (b) }",
      20));
  EXPECT_NE(message.find("1 unsupported operator: "), std::string::npos) << message;
  EXPECT_NE(message.find("ONNX StringSplit"), std::string::npos) << message;
}

TEST(BadModel, ZeroPointsOfOtherColumns) {
  const auto product = [](const std::string& zeros) {
    return import_message(model_bytes("g (uint8[2,3] a, int8[3,4] b, uint8[1] z, int8[" + zeros +
                                      "] w) => (int32[2,4] y) { y = MatMulInteger (a, b, z, w) }"));
  };
  EXPECT_EQ(product("4"), "imports");
  EXPECT_NE(product("5").find("a scale or zero point of 5 does not stretch to 3x4"),
            std::string::npos)
      << product("5");
}

TEST(BadModel, PackedWeightsThatCannotBeRead) {
  onnx::ModelProto model = parsed_model(
      "g (float[1,32] x, uint8[4,2,8] w, float[4,2] s, int32[32] i) => (float[1,4] y) {"
      " y = Gemm <K = 32, N = 4, bits = 4, block_size = 16> (x, w, s) }");
  auto& microsoft = *model.add_opset_import();
  microsoft.set_domain("com.microsoft");
  microsoft.set_version(1);
  onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
  node.set_domain("com.microsoft");
  node.set_op_type("MatMulNBits");
  const auto message = [&] { return import_message(model.SerializeAsString()); };
  const auto set = [&](const std::string& name, std::int64_t value) {
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.name() == name) attribute.set_i(value);
  };
  EXPECT_EQ(message(), "imports");
  node.add_input("");
  node.add_input("i");
  EXPECT_EQ(message(), "imports") << "its g_idx is computed";
  node.mutable_input()->DeleteSubrange(3, 2);
  set("bits", 3);
  EXPECT_NE(message().find("its weights have 3 bits"), std::string::npos) << message();
  set("bits", 2);
  EXPECT_NE(message().find("its weights are 4x2x8, K, N, bits and block_size need 4x2x4"),
            std::string::npos)
      << message();
  set("bits", 4);
  set("K", 33);
  EXPECT_NE(message().find("its input has rows of 32 elements, K is 33"), std::string::npos);
  set("K", 32);
  set("block_size", 24);
  EXPECT_NE(message().find("block_size a power of two from 16 on"), std::string::npos);
}

TEST(BadModel, FunctionsThatCallThemselves) {
  EXPECT_NE(import_message(model_bytes("g (float[2] x) => (float[2] y) { y = local.f (x) }\n"
                                       "<opset_import: [\"\" : 13, \"local\" : 1], domain: "
                                       "\"local\"> f (a) => (b) { b = local.f (a) }"))
                .find("calls functions too deeply"),
            std::string::npos);
}

TEST(BadModel, OutNodesThatAreNotThere) {
  const std::string bytes = model_bytes(kRelu);
  EXPECT_EQ(
      import_message(bytes, {.out_nodes = {"absent:0"}}),
      "--out_nodes: the model has no node 'absent'; write it like --out_nodes=\"node_name:0\"");
  EXPECT_EQ(import_message(bytes, {.out_nodes = {"Relu_0:1"}}),
            "--out_nodes: node 'Relu_0' has no output '1'; it has 1");
}

}  // namespace
}  // namespace aoe::tests
