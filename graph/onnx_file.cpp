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
#include "graph/onnx_proto.h"
#include "graph/onnx_text.h"

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

onnx::ModelProto load_text(const fs::path& path) {
  check_is_readable(path);
  FileStream file(path);
  FirstComplaint complaint;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&complaint);
  onnx::ModelProto model;
  if (!parser.Parse(file.get(), &model))
    fail(path, "is not an ONNX model as protobuf text" + complaint.text(),
         "dumps of other graph engines hold another representation");
  check_is_model(path, model);
  return model;
}

}  // namespace

onnx::ModelProto load_model(const fs::path& path) {
  if (is_text(path)) return load_text(path);
  check_is_readable(path);
  FileStream file(path);
  google::protobuf::io::CodedInputStream coded(file.get());
  coded.SetTotalBytesLimit(INT_MAX);         // the default is less than many models' weights
  google::protobuf::SetLogHandler(nullptr);  // what it would print, our error says
  onnx::ModelProto model;
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    if (file.error() != 0)
      fail(path, std::string("cannot be read: ") + std::strerror(file.error()), "");
    fail(path, "is not an ONNX model, or truncated or damaged",
         "give a complete .onnx file (weights beyond 2 GB belong in external data)");
  }
  check_is_model(path, model);
  return model;
}

}  // namespace aoe::graph
