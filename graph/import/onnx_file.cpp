// Reading and parsing model files, and saying what is wrong with those that are none.
#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/text_format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

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

/// Whether the stream ended is for the caller to ask.
bool parse_binary(google::protobuf::io::ZeroCopyInputStream* stream, onnx::ModelProto& model) {
  google::protobuf::io::CodedInputStream coded(stream);
  coded.SetTotalBytesLimit(INT_MAX);         // the default is less than many models' weights
  google::protobuf::SetLogHandler(nullptr);  // what it would print, our error says
  return model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

[[noreturn]] void fail_as_no_model(const fs::path& name) {
  fail(name, "is not an ONNX model, or truncated or damaged",
       "give a complete .onnx file (weights beyond 2 GB belong in external data)");
}

}  // namespace

onnx::ModelProto load_model(const fs::path& path) {
  check_is_readable(path);
  check_memory(fs::file_size(path), "model " + path.string());
  FileStream file(path);
  onnx::ModelProto model;
  if (is_text(path)) {
    model = from_text(file.get(), path);
  } else if (!parse_binary(file.get(), model)) {
    if (file.error() != 0)
      fail(path, std::string("cannot be read: ") + std::strerror(file.error()), "");
    fail_as_no_model(path);
  }
  check_is_model(path, model);
  return model;
}

onnx::ModelProto parse_model(std::string_view bytes, const fs::path& name) {
  if (bytes.empty()) fail(name, "is empty", "export the model again");
  if (bytes.size() > INT_MAX) fail_as_no_model(name);
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  onnx::ModelProto model;
  if (is_text(name))
    model = from_text(&stream, name);
  else if (!parse_binary(&stream, model))
    fail_as_no_model(name);
  check_is_model(name, model);
  return model;
}

}  // namespace aoe::graph
