// Tested by tests/bank/encoding_test.cpp.
#include "bank/encoding.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/nesting.h"

namespace aoe::bank {
namespace {

static_assert(std::endian::native == std::endian::little, "reals are stored as they lie in memory");

class Encoder {
 public:
  Encoder() { bytes_ += kEncodingMark; }

  void count(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  /// Small ones of both signs are short.
  void integer(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    count(bits << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  void real(double value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    count(value.size());
    bytes_ += value;
  }
  void samples(const SampleSummary& each) {
    real(each.median_ns);
    real(each.spread_ns);
    integer(each.count);
  }
  void provenance(const Provenance& from) {
    count(from.is_empty() ? 0 : 1);
    if (from.is_empty()) return;
    for (const std::string* each : {&from.engine, &from.llvm, &from.onednn, &from.cpu,
                                    &from.microcode, &from.kernel, &from.model, &from.node})
      text(*each);
    count(from.seed);
    samples(from.won);
    samples(from.by_default);
  }
  void measurement(const Measurement& m) {
    real(m.time_ns);
    real(m.default_time_ns);
    text(m.verdict);
    text(m.policy);
    integer(m.threads);
    integer(m.trials);
    text(m.when_utc);
  }
  void strategy(const Strategy& each) {
    text(each.format);
    text(each.impl);
    integer(each.impl_version);
    count(each.schedule.size());
    for (const auto& [axis, value] : each.schedule) {
      text(axis);
      integer(value);
    }
    measurement(each.measured);
    text(each.rewrite);
    provenance(each.provenance);
  }
  void set(const StrategySet& all) {
    for (const Strategy& each : all.strategies) strategy(each);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// What a count in damaged bytes may make us reserve.
constexpr std::size_t kUsualFormats = 4;

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {
    if (!is_encoded(bytes)) throw DamagedBytes("unknown encoding");
    rest_.remove_prefix(1);
  }

  std::uint64_t count() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes(1).front());
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    throw DamagedBytes("a number is too long");
  }
  /// Of things that follow; each takes a byte at least.
  std::size_t length() {
    const std::uint64_t value = count();
    if (value > rest_.size()) throw DamagedBytes("a value ends early");
    return value;
  }
  std::int64_t integer() {
    const std::uint64_t bits = count();
    return static_cast<std::int64_t>(bits >> 1 ^ (~(bits & 1) + 1));
  }
  int small_integer() {
    const std::int64_t value = integer();
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
      throw DamagedBytes("a number is out of range");
    return static_cast<int>(value);
  }
  double real() {
    double value = 0;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view view() { return bytes(length()); }
  std::string text() { return std::string(view()); }

  SampleSummary samples() { return {real(), real(), integer()}; }
  Provenance provenance() {
    Provenance from;
    if (count() == 0) return from;
    for (std::string* each : {&from.engine, &from.llvm, &from.onednn, &from.cpu, &from.microcode,
                              &from.kernel, &from.model, &from.node})
      *each = view();
    from.seed = count();
    from.won = samples();
    from.by_default = samples();
    return from;
  }
  Measurement measurement() {
    return {real(), real(), text(), text(), small_integer(), integer(), text()};
  }
  Strategy strategy() {
    Strategy made{text(), text(), small_integer(), {}, {}};
    for (std::size_t left = length(); left > 0; --left) {
      std::string axis = text();
      made.schedule.emplace_hint(made.schedule.end(), std::move(axis), integer());
    }
    made.measured = measurement();
    made.rewrite = view();
    // Whoever shows a strategy takes it for JSON.
    if (!made.rewrite.empty() && (!nests_little_json(made.rewrite) || !is_json(made.rewrite)))
      throw DamagedBytes("a rewrite is no JSON");
    made.provenance = provenance();
    return made;
  }
  StrategySet set(std::size_t size) {
    StrategySet made;
    made.strategies.reserve(std::min(size, kUsualFormats));
    while (made.strategies.size() < size) made.strategies.push_back(strategy());
    return made;
  }
  void end() const {
    if (!rest_.empty()) throw DamagedBytes("a value is longer than what it says");
  }

 private:
  std::string_view bytes(std::size_t size) {
    if (size > rest_.size()) throw DamagedBytes("a value ends early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

/// What stands before the strategies.
struct EntryHead {
  std::size_t confirmed, unconfirmed;
  std::string_view description, soc_version;
  explicit EntryHead(Decoder& from)
      : confirmed(from.length()),
        unconfirmed(from.length()),
        description(from.view()),
        soc_version(from.view()) {}
};

}  // namespace

std::string encode(const BankEntry& entry) {
  Encoder to;
  to.count(entry.set.strategies.size());
  to.count(entry.unconfirmed.strategies.size());
  to.text(entry.key.description);
  to.text(entry.key.soc_version);
  to.set(entry.set);
  to.set(entry.unconfirmed);
  return to.take();
}

std::string encode(const Record& record) {
  Encoder to;
  to.strategy(record.strategy);
  to.text(record.status);
  to.text(record.detail);
  to.count(record.seed);
  const std::map<std::string_view, double> features(record.features.begin(), record.features.end());
  to.count(features.size());
  for (const auto& [name, value] : features) {
    to.text(name);
    to.real(value);
  }
  return to.take();
}

BankEntry decode_entry(std::string_view bytes) {
  Decoder from(bytes);
  const EntryHead head(from);
  BankEntry entry{{std::string(head.description), std::string(head.soc_version)},
                  from.set(head.confirmed)};
  entry.unconfirmed = from.set(head.unconfirmed);
  from.end();
  return entry;
}

Record decode_record(std::string_view bytes) {
  Decoder from(bytes);
  Record record{from.strategy()};
  record.status = from.text();
  record.detail = from.text();
  record.seed = from.count();
  for (std::size_t left = from.length(); left > 0; --left) {
    std::string name = from.text();
    record.features.emplace_back(std::move(name), from.real());
  }
  from.end();
  return record;
}

std::optional<StrategySet> decode_part(std::string_view bytes, const TaskKey& key, EntryPart part) {
  Decoder from(bytes);
  const EntryHead head(from);
  if (head.description != key.description || head.soc_version != key.soc_version)
    return std::nullopt;
  StrategySet set = from.set(head.confirmed);
  if (part == EntryPart::kConfirmed) return set;
  return from.set(head.unconfirmed);
}

bool has_no_strategies(std::string_view bytes) {
  Decoder from(bytes);
  const EntryHead head(from);
  return head.confirmed + head.unconfirmed == 0;
}

}  // namespace aoe::bank
