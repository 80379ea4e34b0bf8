// Plays the steps on a map of the arena that knows of each byte which write it holds. Tested by tests/runtime/om_verify_test.cpp.
#include "runtime/om/om_flow.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "runtime/backend.h"

namespace aoe::runtime {
namespace {

/// Bytes [begin, end) of the arena.
struct Range {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
  bool is_empty() const { return begin >= end; }
  bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
};

/// The arena in pieces, each with the write that its bytes come from; 0: none.
class ArenaMap {
 public:
  using Content = std::vector<std::pair<Range, int>>;

  void write(const Range& range, int write) {
    if (range.is_empty()) return;
    split(range.begin);
    split(range.end);
    pieces_.erase(pieces_.lower_bound(range.begin), pieces_.lower_bound(range.end));
    pieces_[range.begin] = write;
  }

  /// Neighbours of one write in one piece.
  Content content(const Range& range) const {
    Content content;
    if (range.is_empty()) return content;
    for (auto piece = std::prev(pieces_.upper_bound(range.begin));
         piece != pieces_.end() && piece->first < range.end; ++piece) {
      const auto next = std::next(piece);
      const Range part{std::max(piece->first, range.begin),
                       next == pieces_.end() ? range.end : std::min(next->first, range.end)};
      if (!content.empty() && content.back().second == piece->second)
        content.back().first.end = part.end;
      else
        content.emplace_back(part, piece->second);
    }
    return content;
  }

 private:
  /// Makes a piece begin here.
  void split(std::uint64_t at) {
    pieces_.try_emplace(at, std::prev(pieces_.upper_bound(at))->second);
  }

  std::map<std::uint64_t, int> pieces_ = {{0, 0}};  ///< by where they begin
};

class Flow {
 public:
  explicit Flow(const Om& om) : om_(om), values_(om.tensors.size()) {
    for (std::size_t id = 0; id < values_.size(); ++id) {
      const Place place = om.tensors[id].place;
      values_[id].is_there = place == Place::kInput || place == Place::kWeight;
    }
  }

  std::optional<std::string> fault() {
    for (const OmStep& step : om_.steps) {
      step_ = "step '" + step.name + "'";
      for (const int id : step.inputs) read(id);
      if (!fault_) step.backend->traits().runs ? run(step) : give_views(step);
      if (fault_) return fault_;
    }
    step_ = "the model's output";
    for (const int id : om_.outputs) read(id);
    return fault_;
  }

 private:
  struct Value {
    bool is_there = false;
    ArenaMap::Content content;  ///< that it had when it was made
  };

  std::string text(int id) const {
    return "tensor " + std::to_string(id) + " '" + om_.tensors[id].name + "'";
  }

  void refuse(const std::string& what) {
    if (!fault_) fault_ = step_ + " " + what;
  }

  /// Empty outside the arena.
  Range range(int id) const {
    const OmTensor& tensor = om_.tensors[id];
    if (tensor.place != Place::kArena) return {};
    return {tensor.offset, tensor.offset + storage_bytes(tensor.desc)};
  }

  void read(int id) {
    if (id < 0) return;
    const Value& value = values_[id];
    if (!value.is_there) return refuse("reads " + text(id) + " before it is written");
    if (value.content != arena_.content(range(id)))
      refuse("reads " + text(id) + ", which was overwritten");
  }

  void run(const OmStep& step) {
    std::vector<int> written;
    for (const int id : step.outputs)
      if (id >= 0) written.push_back(id);
    if (step.workspace >= 0) written.push_back(step.workspace);
    for (std::size_t i = 0; i < written.size(); ++i) check_apart(step, written, i);
    for (const int id : written) {
      arena_.write(range(id), ++write_);
      values_[id] = {true, arena_.content(range(id))};
    }
  }

  /// What a step writes lies apart from all else that it touches, or just where an input does, whose place it takes.
  void check_apart(const OmStep& step, const std::vector<int>& written, std::size_t i) {
    const Range own = range(written[i]);
    for (std::size_t other = 0; other < i; ++other)
      if (own.overlaps(range(written[other])))
        refuse("writes " + text(written[i]) + " over " + text(written[other]));
    for (const int id : step.inputs)
      if (id >= 0 && own.overlaps(range(id)) && own != range(id))
        refuse("writes " + text(written[i]) + " into the middle of " + text(id));
  }

  /// Nothing runs: what lies in the arena was written there as parts of others, what does not by a copy before.
  void give_views(const OmStep& step) {
    for (const int id : step.outputs) {
      if (id < 0 || values_[id].is_there) continue;
      if (om_.tensors[id].place != Place::kArena)
        return refuse("gives out " + text(id) + ", which nobody wrote");
      values_[id] = {true, arena_.content(range(id))};
      if (std::ranges::count(values_[id].content, 0, &std::pair<Range, int>::second) > 0)
        refuse("finds nothing where " + text(id) + " lies");
    }
  }

  const Om& om_;
  ArenaMap arena_;
  std::vector<Value> values_;  ///< by tensor id
  std::string step_;
  int write_ = 0;  ///< the last
  std::optional<std::string> fault_;
};

}  // namespace

std::optional<std::string> flow_fault(const Om& om) {
  return Flow(om).fault();
}

}  // namespace aoe::runtime
