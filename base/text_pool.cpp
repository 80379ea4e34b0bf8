// See text_pool.h. Tested by tests/base/text_pool_test.cpp.
#include "base/text_pool.h"

#include <algorithm>

#include "base/error.h"

namespace aoe {
namespace {

constinit thread_local TextPool* current_pool = nullptr;

}  // namespace

TextIndex::TextIndex(std::vector<std::string> list) : list_(std::move(list)) {
  places_.reserve(list_.size());
  for (std::size_t i = 0; i < list_.size(); ++i) {
    places_.try_emplace(list_[i], static_cast<std::int64_t>(i));
    longest_ = std::max(longest_, list_[i].size());
  }
}

std::optional<std::int64_t> TextIndex::find(std::string_view text) const {
  const auto found = places_.find(text);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

std::int64_t TextPool::place_of(std::string_view text) {
  if (const auto known = known_->find(text)) return *known;
  if (const auto found = places_.find(text); found != places_.end()) return found->second;
  if (text.size() > most_bytes_ - bytes_)
    throw Error(ExitCode::kFailure,
                "texts that are added take more than " + std::to_string(most_bytes_) + " bytes");
  bytes_ += text.size();
  longest_ = std::max(longest_, text.size());
  const std::int64_t place = known_count() + std::ssize(added_);
  places_.emplace(added_.emplace_back(text), place);
  return place;
}

const std::string* TextPool::find(std::int64_t place) const {
  if (place < 0 || place >= known_count() + std::ssize(added_)) return nullptr;
  if (place < known_count()) return &known_->list()[static_cast<std::size_t>(place)];
  return &added_[static_cast<std::size_t>(place - known_count())];
}

const std::string& TextPool::at(std::int64_t place) const {
  if (const std::string* text = find(place)) return *text;
  throw Error(ExitCode::kData, "there is no text " + std::to_string(place) + ", only " +
                                   std::to_string(known_count()) + " that the model lists and " +
                                   std::to_string(added_.size()) + " that were added");
}

void TextPool::forget(std::size_t kept) {
  for (; added_.size() > kept; added_.pop_back()) {
    bytes_ -= added_.back().size();
    places_.erase(added_.back());
  }
  if (kept == 0) longest_ = known_->longest();
}

TextPool* TextPool::current() {
  return current_pool;
}

TextPool::Scope::Scope(TextPool& pool) : outer_(current_pool) {
  current_pool = &pool;
}

TextPool::Scope::~Scope() {
  current_pool = outer_;
}

}  // namespace aoe
