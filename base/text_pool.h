// Texts by number: the list of a model, and behind it the texts that one execution adds, which are forgotten after it.
//
//   TextPool pool(index);                   // an execution's own
//   const TextPool::Scope scope(pool);      // operators on this thread look their numbers up in it
//
// A text keeps its place as long as the pool has it, so that texts are equal where their places are.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace aoe {

/// The list of a model, which never changes: any number of executions share it.
class TextIndex {
 public:
  explicit TextIndex(std::vector<std::string> list);
  TextIndex(const TextIndex&) = delete;
  TextIndex& operator=(const TextIndex&) = delete;

  const std::vector<std::string>& list() const { return list_; }
  std::size_t longest() const { return longest_; }  ///< bytes
  std::optional<std::int64_t> find(std::string_view text) const;

 private:
  std::vector<std::string> list_;
  std::unordered_map<std::string_view, std::int64_t> places_;  ///< of texts in list_
  std::size_t longest_ = 0;
};

/// Serves one thread at a time.
class TextPool {
 public:
  TextPool() : TextPool(std::make_shared<const TextIndex>(std::vector<std::string>())) {}
  explicit TextPool(std::shared_ptr<const TextIndex> known, std::size_t most_bytes = kMostBytes)
      : known_(std::move(known)), most_bytes_(most_bytes), longest_(known_->longest()) {}
  TextPool(const TextPool&) = delete;
  TextPool& operator=(const TextPool&) = delete;

  /// Of all that are added, no fewer than an ONNX file can have: texts that double each time would take all memory.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 31;

  /// A text that is new gets the next place. Throws Error(kFailure) beyond `most_bytes`.
  std::int64_t place_of(std::string_view text);
  /// nullptr where there is no such place; else valid until forget().
  const std::string* find(std::int64_t place) const;
  /// Throws Error(kData) where there is no such place.
  const std::string& at(std::int64_t place) const;

  const TextIndex& known() const { return *known_; }
  std::int64_t known_count() const { return std::ssize(known_->list()); }
  const std::deque<std::string>& added() const { return added_; }
  /// Bytes; no text is longer.
  std::size_t longest() const { return longest_; }
  /// What was added behind the first `kept` texts.
  void forget(std::size_t kept = 0);

  /// What operators of this thread read and add to; nullptr outside every Scope.
  static TextPool* current();

  class Scope {
   public:
    explicit Scope(TextPool& pool);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    TextPool* outer_;
  };

 private:
  std::shared_ptr<const TextIndex> known_;
  std::deque<std::string> added_;  ///< where texts stay when others are added
  std::unordered_map<std::string_view, std::int64_t> places_;  ///< of texts in added_
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;  ///< of texts in added_
  std::size_t longest_;
};

}  // namespace aoe
