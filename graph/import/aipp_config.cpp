// Reading the configuration: prototxt, one table row for each key.
#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "base/near_names.h"
#include "base/to_number.h"
#include "graph/import/aipp.h"

namespace aoe::graph {
namespace {

struct Token {
  std::string text;
  int line = 0;
};

class Failure {
 public:
  explicit Failure(std::string where) : where_(std::move(where)) {}
  [[noreturn]] void operator()(int line, const std::string& what,
                               const std::string& advice = {}) const {
    throw Error(ExitCode::kUsage, what, where_ + ", line " + std::to_string(line), advice);
  }

 private:
  std::string where_;
};

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> tokens;
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(c)) || c == ',' || c == ';') {
      ++i;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '{' || c == '}' || c == ':') {
      tokens.push_back({std::string(1, c), line});
      ++i;
    } else if (c == '"') {
      const std::size_t end = std::min(text.find_first_of("\"\n", i + 1), text.size());
      tokens.push_back({text.substr(i + 1, end - i - 1), line});
      i = std::min(end + 1, text.size());
    } else {
      const std::size_t end = std::min(text.find_first_of(" \t\r\n{}:#,;\"", i), text.size());
      tokens.push_back({text.substr(i, end - i), line});
      i = end;
    }
  }
  return tokens;
}

std::optional<double> number_in(const std::string& text, double least, double most) {
  const auto value = to_number<double>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

/// Takes the value over; false when it is none for the key.
using Setter = std::function<bool(Aipp&, const std::string&)>;

struct Key {
  Setter set;
  const char* values;  ///< for messages
};

Key size_key(std::function<std::int64_t&(Aipp&)> field) {
  return {[field](Aipp& aipp, const std::string& text) {
            const auto value = number_in(text, 0, 4096);
            if (!value || *value != static_cast<std::int64_t>(*value)) return false;
            field(aipp) = static_cast<std::int64_t>(*value);
            return true;
          },
          "a whole number from 0 to 4096"};
}

Key number_key(double least, double most, const char* values, std::function<double&(Aipp&)> field) {
  return {[=](Aipp& aipp, const std::string& text) {
            const auto value = number_in(text, least, most);
            if (value) field(aipp) = *value;
            return value.has_value();
          },
          values};
}

Key switch_key(bool Aipp::*field) {
  return {[field](Aipp& aipp, const std::string& text) {
            const bool is_on = text == "true" || text == "1";
            aipp.*field = is_on;
            return is_on || text == "false" || text == "0";
          },
          "true or false"};
}

bool set_format(Aipp& aipp, const std::string& text) {
  static const std::map<std::string, PixelFormat> kFormats = {
      {"YUV420SP_U8", PixelFormat::kYuv420sp}, {"1", PixelFormat::kYuv420sp},
      {"XRGB8888_U8", PixelFormat::kXrgb8888}, {"2", PixelFormat::kXrgb8888},
      {"RGB888_U8", PixelFormat::kRgb888},     {"3", PixelFormat::kRgb888},
      {"YUV400_U8", PixelFormat::kYuv400},     {"4", PixelFormat::kYuv400}};
  const auto found = kFormats.find(text);
  if (found != kFormats.end()) aipp.format = found->second;
  return found != kFormats.end();
}

void add_channel_keys(std::map<std::string, Key>& keys) {
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    keys["mean_chn_" + n] =
        number_key(0, 255, "a number from 0 to 255", [i](Aipp& a) -> double& { return a.mean[i]; });
    keys["min_chn_" + n] =
        number_key(0, 255, "a number from 0 to 255", [i](Aipp& a) -> double& { return a.min[i]; });
    keys["var_reci_chn_" + n] = number_key(-65504, 65504, "a number from -65504 to 65504",
                                           [i](Aipp& a) -> double& { return a.var_reci[i]; });
  }
}

void add_colour_keys(std::map<std::string, Key>& keys) {
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    keys["input_bias_" + n] = number_key(0, 255, "a number from 0 to 255",
                                         [i](Aipp& a) -> double& { return a.input_bias[i]; });
    keys["output_bias_" + n] = number_key(0, 255, "a number from 0 to 255",
                                          [i](Aipp& a) -> double& { return a.output_bias[i]; });
    for (std::size_t j = 0; j < 3; ++j)
      keys["matrix_r" + n + "c" + std::to_string(j)] =
          number_key(-32677, 32676, "a number from -32677 to 32676",
                     [i, j](Aipp& a) -> double& { return a.matrix[i][j]; });
  }
}

std::map<std::string, Key> make_keys() {
  std::map<std::string, Key> keys;
  keys["input_format"] = {set_format, "YUV420SP_U8, XRGB8888_U8, RGB888_U8 or YUV400_U8"};
  keys["related_input_rank"] = size_key([](Aipp& a) -> std::int64_t& { return a.input; });
  keys["related_input_name"] = {[](Aipp& aipp, const std::string& text) {
                                  aipp.input_name = text;
                                  return !text.empty();
                                },
                                "the name of an input"};
  const auto size = [&](const char* stem, PixelSize Aipp::*field) {
    keys[std::string(stem) + "_w"] = size_key([=](Aipp & a) -> auto& { return (a.*field).width; });
    keys[std::string(stem) + "_h"] = size_key([=](Aipp & a) -> auto& { return (a.*field).height; });
  };
  size("src_image_size", &Aipp::source);
  size("load_start_pos", &Aipp::crop_start);
  size("crop_size", &Aipp::crop_size);
  size("resize_output", &Aipp::resized);
  keys["crop"] = switch_key(&Aipp::crops);
  keys["resize"] = switch_key(&Aipp::resizes);
  keys["padding"] = switch_key(&Aipp::pads);
  keys["csc_switch"] = switch_key(&Aipp::converts);
  keys["rbuv_swap_switch"] = switch_key(&Aipp::swaps_rbuv);
  keys["ax_swap_switch"] = switch_key(&Aipp::swaps_ax);
  keys["left_padding_size"] = size_key([](Aipp & a) -> auto& { return a.left; });
  keys["right_padding_size"] = size_key([](Aipp & a) -> auto& { return a.right; });
  keys["top_padding_size"] = size_key([](Aipp & a) -> auto& { return a.top; });
  keys["bottom_padding_size"] = size_key([](Aipp & a) -> auto& { return a.bottom; });
  keys["padding_value"] = number_key(-65504, 65504, "a number from -65504 to 65504",
                                     [](Aipp& a) -> double& { return a.padding_value; });
  add_channel_keys(keys);
  add_colour_keys(keys);
  return keys;
}

/// Documented keys that do nothing here unless they have other values than this one.
struct IdleKey {
  std::string_view key, silent;
  const char* reason;
};
constexpr IdleKey kIdleKeys[] = {
    {"max_src_image_size", "", "it is of dynamic AIPP"},
    {"support_rotation", "false", "nothing is rotated"},
    {"cpadding_value", "0", "channels are not padded"},
    {"single_line_mode", "false", "images are read as they lie in memory"},
};

std::string advice_for(const std::string& key, const std::map<std::string, Key>& keys) {
  std::vector<std::string> known;
  for (const auto& [name, value] : keys) known.push_back(name);
  const std::string advice = did_you_mean(near_names(key, known));
  return advice.empty() ? "docs/atc.md has the keys" : advice;
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& where)
      : tokens_(tokens_of(text)), fail_(where), where_(where) {}

  std::vector<Aipp> run() {
    std::vector<Aipp> ops;
    while (at_ < tokens_.size()) {
      const Token& name = next("aipp_op");
      if (name.text != "aipp_op") fail_(name.line, "'" + name.text + "' is not aipp_op { ... }");
      if (peek() == ":") ++at_;
      expect("{");
      ops.push_back(read_op(name.line));
    }
    if (ops.empty()) throw Error(ExitCode::kUsage, "has no aipp_op { ... }", where_);
    return ops;
  }

 private:
  std::string peek() const { return at_ < tokens_.size() ? tokens_[at_].text : ""; }
  const Token& next(const std::string& wanted) {
    if (at_ == tokens_.size())
      fail_(tokens_.empty() ? 1 : tokens_.back().line, "ends where " + wanted + " is due");
    return tokens_[at_++];
  }
  void expect(const std::string& text) {
    const Token& token = next("'" + text + "'");
    if (token.text != text) fail_(token.line, "'" + token.text + "' where '" + text + "' is due");
  }

  Aipp read_op(int line) {
    Aipp aipp;
    std::set<std::string> seen;
    while (peek() != "}") {
      const Token key = next("'}'");
      expect(":");
      const Token value = next("a value");
      if (!seen.insert(key.text).second) fail_(key.line, "'" + key.text + "' is given twice");
      set(aipp, key, value);
    }
    ++at_;
    if (!seen.contains("aipp_mode")) fail_(line, "aipp_mode is missing", "write aipp_mode: static");
    if (aipp.format == PixelFormat::kUndefined) fail_(line, "input_format is missing");
    return aipp;
  }

  void set(Aipp& aipp, const Token& key, const Token& value) {
    static const std::map<std::string, Key> keys = make_keys();
    if (key.text == "aipp_mode") return check_mode(value);
    if (is_idle(key, value)) return;
    const auto found = keys.find(key.text);
    if (found == keys.end())
      fail_(key.line, "unknown key '" + key.text + "'", advice_for(key.text, keys));
    if (!found->second.set(aipp, value.text))
      fail_(value.line, "'" + value.text + "' is no " + key.text,
            std::string("write ") + found->second.values);
  }

  void check_mode(const Token& mode) const {
    if (mode.text == "dynamic" || mode.text == "2")
      fail_(mode.line, "dynamic AIPP is not supported: its operators could not be compiled",
            "use static, one om for each way of preparing images");
    if (mode.text != "static" && mode.text != "1")
      fail_(mode.line, "'" + mode.text + "' is no aipp_mode", "write static");
  }

  bool is_idle(const Token& key, const Token& value) const {
    const auto found = std::ranges::find(kIdleKeys, key.text, &IdleKey::key);
    if (found == std::end(kIdleKeys)) return false;
    const bool is_silent =
        value.text == found->silent || (found->silent == "0" && number_in(value.text, 0, 0));
    if (!is_silent)
      logger("graph")->warn("{}, line {}: {} has no effect: {}", where_, key.line, key.text,
                            found->reason);
    return true;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Failure fail_;
  std::string where_;
};

}  // namespace

std::vector<Aipp> parse_aipp(const std::string& text, const std::string& where) {
  return Reader(text, where).run();
}

}  // namespace aoe::graph
