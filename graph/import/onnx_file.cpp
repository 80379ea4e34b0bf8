// Reading and parsing model files, and saying what is wrong with those that are none.
#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/text_format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/memory.h"
#include "graph/import/onnx_proto.h"
#include "graph/import/onnx_text.h"

namespace aoe::graph {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, const std::string& what, const std::string& advice) {
  throw Error(ExitCode::kModel, what, path.string(), advice);
}

void check_is_readable(const fs::path& path) {
  std::error_code status;
  if (fs::is_directory(path, status)) fail(path, "is a directory", "give an .onnx file");
  if (!fs::exists(path, status)) fail(path, "no such file", "check the path of the model");
  if (!fs::is_regular_file(path, status))  // a pipe may never end
    fail(path, "is not a regular file", "give an .onnx file");
  if (fs::file_size(path, status) == 0) fail(path, "is empty", "export the model again");
}

/// The file as a protobuf stream, closed at the end.
class FileStream {
 public:
  explicit FileStream(const fs::path& path) : stream_(open(path)) {
    stream_.SetCloseOnDelete(true);
  }
  google::protobuf::io::ZeroCopyInputStream* get() { return &stream_; }
  int error() const { return stream_.GetErrno(); }

 private:
  static int open(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) fail(path, std::string("cannot be opened: ") + std::strerror(errno), "");
    return fd;
  }
  google::protobuf::io::FileInputStream stream_;
};

/// Parsing accepts any bytes that happen to be fields; a model has more than that.
void check_is_model(const fs::path& path, const onnx::ModelProto& model) {
  const std::string advice = "give a complete .onnx file, or export the model again";
  if (!model.has_graph()) fail(path, "is not an ONNX model or truncated: it has no graph", advice);
  if (model.ir_version() <= 0) fail(path, "is not an ONNX model: it has no IR version", advice);
  if (model.opset_import_size() == 0)
    fail(path, "is truncated or not an ONNX model: it imports no operator set", advice);
  if (model.graph().output_size() == 0) fail(path, "has a graph without outputs", advice);
  if (const auto place = place_of_bad_text(model))
    fail(path, "has bytes in " + *place + " that are not UTF-8 text", "export the model again");
}

/// Models written as text, the form in which graphs are dumped to be read.
bool is_text(const fs::path& path) {
  return path.extension() == ".txt" || path.extension() == ".pbtxt";
}

/// Where the parser stopped, in its words.
class FirstComplaint final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty())
      text_ = " at line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) +
              ": " + message;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

onnx::ModelProto from_text(google::protobuf::io::ZeroCopyInputStream* stream,
                           const fs::path& name) {
  FirstComplaint complaint;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&complaint);
  onnx::ModelProto model;
  if (!parser.Parse(stream, &model))
    fail(name, "is not an ONNX model as protobuf text" + complaint.text(),
         "dumps of other graph engines hold another representation");
  return model;
}

std::string begin_of(const fs::path& path) {
  std::string bytes(32, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

/// Whether the stream ended is for the caller to ask.
bool parse_binary(google::protobuf::io::ZeroCopyInputStream* stream, onnx::ModelProto& model) {
  google::protobuf::io::CodedInputStream coded(stream);
  coded.SetTotalBytesLimit(INT_MAX);         // the default is less than many models' weights
  google::protobuf::SetLogHandler(nullptr);  // what it would print, our error says
  return model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

/// Calls `visit(number)` for each field of a message that has a length; what it leaves of it is skipped. Ends where no field is.
template <typename Visit>
void visit_fields(google::protobuf::io::CodedInputStream& coded, const Visit& visit) {
  bool is_sound = true;
  while (const std::uint32_t tag = is_sound ? coded.ReadTag() : 0) {
    std::uint64_t value = 0;
    std::uint32_t length = 0;
    switch (tag & 7) {
      case 0:
        is_sound = coded.ReadVarint64(&value);
        break;
      case 1:
        is_sound = coded.Skip(8);
        break;
      case 2: {
        if (!coded.ReadVarint32(&length) || length > INT_MAX) return;
        const auto outer = coded.PushLimit(static_cast<int>(length));
        visit(tag >> 3);
        is_sound = coded.Skip(coded.BytesUntilLimit());
        coded.PopLimit(outer);
        break;
      }
      case 5:
        is_sound = coded.Skip(4);
        break;
      default:
        return;
    }
  }
}

/// A string of more than 50 MB protobuf lets grow as it reads it, each time to twice its size: then there are the old one and the copy.
/// The most that there is at once while the file is parsed, which is its size unless an initializer is so large.
std::uint64_t bytes_to_parse(const fs::path& path) {
  constexpr int kGraph = 7, kInitializer = 5, kRawData = 9;  // onnx.proto
  constexpr std::uint64_t kAtOnce = 50'000'000;
  std::uint64_t most = fs::file_size(path);
  if (most <= kAtOnce) return most;
  FileStream file(path);
  google::protobuf::io::CodedInputStream coded(file.get());
  coded.SetTotalBytesLimit(INT_MAX);
  const auto visit_tensor = [&](std::uint32_t field) {
    const auto bytes = static_cast<std::uint64_t>(coded.BytesUntilLimit());
    if (field != kRawData || bytes <= kAtOnce) return;
    std::uint64_t grown = kAtOnce;
    while (2 * grown < bytes) grown *= 2;
    most = std::max(most, static_cast<std::uint64_t>(coded.CurrentPosition()) + 2 * grown);
  };
  visit_fields(coded, [&](std::uint32_t in_model) {
    if (in_model != kGraph) return;
    visit_fields(coded, [&](std::uint32_t in_graph) {
      if (in_graph == kInitializer) visit_fields(coded, visit_tensor);
    });
  });
  return most;
}

/// What else lies under the name of a model, by bytes near its begin.
struct Foreign {
  std::size_t at;
  std::string_view bytes;
  const char* what;
  const char* advice;
};
constexpr Foreign kForeign[] = {
    {0, "version https://git-lfs", "is a pointer of Git LFS, not the model",
     "git lfs pull fetches the model"},
    {0, "AOEOM", "is an om", "give the ONNX model that it was compiled from; aoe_run runs oms"},
    {4, "ORTM", "is a model in ONNX Runtime's own format",
     "give the ONNX model that it was made of"},
    {4, "TFL3", "is a model of TensorFlow Lite", "convert it to ONNX, with tf2onnx"},
    {0, "\x89HDF", "is an HDF5 file, such as Keras writes",
     "convert the model to ONNX, with tf2onnx"},
    {0, "PK\3\4", "is a zip archive, such as PyTorch writes",
     "export the model with torch.onnx.export(), or unpack the archive"},
    {8, "{\"", "is a file of weights, such as safetensors", "export the model to ONNX"},
    {0, "<!", "is a page of HTML", "download the model again"},
    {0, "<html", "is a page of HTML", "download the model again"}};

[[noreturn]] void fail_as_no_model(const fs::path& name, std::string_view begin) {
  for (const Foreign& each : kForeign)
    if (begin.size() > each.at && begin.substr(each.at).starts_with(each.bytes))
      fail(name, std::string(each.what), each.advice);
  fail(name, "is not an ONNX model, or truncated or damaged",
       "give a complete .onnx file (weights beyond 2 GB belong in external data)");
}

}  // namespace

onnx::ModelProto load_model(const fs::path& path) {
  check_is_readable(path);
  check_memory(is_text(path) ? fs::file_size(path) : bytes_to_parse(path),
               "model " + path.string());
  FileStream file(path);
  onnx::ModelProto model;
  if (is_text(path)) {
    model = from_text(file.get(), path);
  } else if (!parse_binary(file.get(), model)) {
    if (file.error() != 0)
      fail(path, std::string("cannot be read: ") + std::strerror(file.error()), "");
    fail_as_no_model(path, begin_of(path));
  }
  check_is_model(path, model);
  return model;
}

onnx::ModelProto parse_model(std::string_view bytes, const fs::path& name) {
  if (bytes.empty()) fail(name, "is empty", "export the model again");
  if (bytes.size() > INT_MAX) fail_as_no_model(name, bytes.substr(0, 32));
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  onnx::ModelProto model;
  if (is_text(name))
    model = from_text(&stream, name);
  else if (!parse_binary(&stream, model))
    fail_as_no_model(name, bytes.substr(0, 32));
  check_is_model(name, model);
  return model;
}

}  // namespace aoe::graph
