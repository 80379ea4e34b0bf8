// The format is https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
#include "profiler/export/trace_writer.h"

#include <cmath>

namespace aoe::profiler {

TraceWriter::TraceWriter(const std::filesystem::path& path) : file_(path), out_(file_.buffer()) {
  out_ += '[';
}

void TraceWriter::begin(std::string_view name, char phase, const Track& track) {
  out_ += events_++ == 0 ? "\n{\"name\":" : ",\n{\"name\":";
  append_json_string(out_, name);
  out_ += ",\"ph\":\"";
  out_ += phase;
  out_ += "\",\"pid\":";
  append_integer(out_, track.pid);
  out_ += ",\"tid\":";
  append_integer(out_, track.tid);
  has_args_ = false;
}

void TraceWriter::close() {
  out_ += has_args_ ? "}}" : "}";
  file_.maybe_flush();
}

void TraceWriter::key(std::string_view name) {
  out_ += has_args_ ? ",\"" : ",\"args\":{\"";
  has_args_ = true;
  out_ += name;
  out_ += "\":";
}

TraceWriter& TraceWriter::arg(std::string_view name, std::string_view value) {
  key(name);
  append_json_string(out_, value);
  return *this;
}

TraceWriter& TraceWriter::arg(std::string_view name, std::int64_t value) {
  key(name);
  append_integer(out_, value);
  return *this;
}

TraceWriter& TraceWriter::arg(std::string_view name, double value) {
  key(name);
  if (std::isfinite(value))
    append_real(out_, value, 3);
  else
    out_ += "null";  // JSON has no other word for it
  return *this;
}

void TraceWriter::metadata(std::string_view kind, const Track& track) {
  begin(kind, 'M', track);
}

void TraceWriter::process(std::int64_t pid, std::string_view name, std::string_view label,
                          Layer layer) {
  const Track track{.pid = pid};
  metadata("process_name", track);
  arg("name", name).close();
  metadata("process_labels", track);
  arg("labels", label).close();
  metadata("process_sort_index", track);
  arg("sort_index", static_cast<std::int64_t>(layer)).close();
}

void TraceWriter::thread(const Track& track, std::string_view name, std::int64_t sort_index) {
  metadata("thread_name", track);
  arg("name", name).close();
  metadata("thread_sort_index", track);
  arg("sort_index", sort_index).close();
}

TraceWriter& TraceWriter::slice(std::string_view name, const Track& track, std::int64_t start_ns,
                                std::int64_t duration_ns) {
  begin(name, 'X', track);
  out_ += ",\"ts\":";
  append_us(out_, start_ns);
  out_ += ",\"dur\":";
  append_us(out_, duration_ns);
  return *this;
}

TraceWriter& TraceWriter::counter(std::string_view name, const Track& track, std::int64_t time_ns) {
  begin(name, 'C', track);
  out_ += ",\"ts\":";
  append_us(out_, time_ns);
  return *this;
}

void TraceWriter::flow(char phase, std::string_view category, std::string_view name,
                       std::int64_t id, const Track& track, std::int64_t time_ns) {
  begin(name, phase, track);
  out_ += ",\"ts\":";
  append_us(out_, time_ns);
  out_ += ",\"cat\":";
  append_json_string(out_, category);
  out_ += ",\"id\":";
  append_integer(out_, id);
  if (phase == 'f') out_ += ",\"bp\":\"e\"";
  close();
}

void TraceWriter::flow_start(std::string_view category, std::string_view name, std::int64_t id,
                             const Track& track, std::int64_t time_ns) {
  flow('s', category, name, id, track, time_ns);
}

void TraceWriter::flow_end(std::string_view category, std::string_view name, std::int64_t id,
                           const Track& track, std::int64_t time_ns) {
  flow('f', category, name, id, track, time_ns);
}

void TraceWriter::finish() {
  out_ += "\n]\n";
  file_.finish();
}

}  // namespace aoe::profiler
