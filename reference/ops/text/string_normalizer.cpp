// StringNormalizer: a list of words without those of another list, in upper or lower case.
#include <optional>
#include <set>

#include "reference/fail.h"
#include "reference/texts/letter_case.h"
#include "reference/texts/texts.h"

namespace aoe::reference {
namespace {

LetterCase case_of(const std::string& action) {
  if (action == "UPPER") return LetterCase::kUpper;
  return action == "LOWER" ? LetterCase::kLower : LetterCase::kAsIs;
}

class Normalizer {
 public:
  explicit Normalizer(const Attrs& attrs)
      : given_(case_of(attrs.get_string("case_change_action", "NONE"))) {
    const std::vector<std::string> stopwords = attrs.get_strings("stopwords");
    const bool is_case_sensitive = attrs.get_int("is_case_sensitive", 0) != 0;
    if (!is_case_sensitive)
      compared_ = given_ == LetterCase::kUpper ? LetterCase::kUpper : LetterCase::kLower;
    const bool is_compared = !stopwords.empty() && compared_ != LetterCase::kAsIs;
    if (given_ != LetterCase::kAsIs || is_compared)
      rules_.emplace(attrs.get_string("locale", "en_US.UTF-8"));
    for (const std::string& word : stopwords) stopwords_.insert(changed(word, compared_));
  }

  /// Where none is left, an empty one.
  std::vector<std::string> operator()(const std::vector<const std::string*>& words) const {
    std::vector<std::string> kept;
    for (const std::string* word : words)
      if (stopwords_.empty() || !stopwords_.contains(changed(*word, compared_)))
        kept.push_back(changed(*word, given_));
    if (kept.empty()) kept.emplace_back();
    return kept;
  }

 private:
  std::string changed(const std::string& word, LetterCase to) const {
    return to == LetterCase::kAsIs ? word : rules_->changed(word, to);
  }

  LetterCase given_, compared_ = LetterCase::kAsIs;
  std::optional<CaseRules> rules_;
  std::set<std::string> stopwords_;
};

std::vector<TensorDesc> infer_string_normalizer(const InferContext& context) {
  Shape shape = context.shape(0);
  if (shape.size() == 2 && shape[0] != 1 && shape[0] != kUnknownDim)
    fail_model("input " + to_string(shape) + ", needs [C] or [1, C]");
  std::int64_t& count = shape.back();
  if (has_texts(context, 0))
    count = std::ssize(Normalizer(context.attrs)(texts_of(context.inputs[0])));
  else if (!context.attrs.get_strings("stopwords").empty())
    count = kUnknownDim;
  else if (count == 0)
    count = 1;
  return {{.dtype = DataType::kInt64, .shape = std::move(shape)}};
}

void compute_string_normalizer(const OpContext& context) {
  store_texts(Normalizer(context.attrs)(texts_of(context.inputs[0])), context.outputs[0]);
}

}  // namespace

void register_string_normalizer(OpRegistry& registry) {
  registry.add({.type = "StringNormalizer",
                .versions = {10},
                .signature = {"l:1-2",
                              "case_change_action=NONE|LOWER|UPPER is_case_sensitive=0..1 "
                              "locale=string stopwords=strings"},
                .kind = OpKind::kSearch,
                .infer = infer_string_normalizer,
                .compute = compute_string_normalizer,
                .work = steps_through_letters,
                .infers_from_values = true});
}

}  // namespace aoe::reference
