// The table of rules, and how a row is read.
#include "reference/op_rules.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "base/check.h"
#include "base/to_number.h"
#include "base/words.h"
#include "reference/fail.h"

namespace aoe::reference {
namespace {

/// Inputs, one word each: a letter for the element types,
///   a any   n number   f floating point   s float32   i integer   u unsigned   q int8 or uint8
///   x int32 or int64   l int64   b bool
/// a digit for those that have the same type, '?' for one that may be absent, '*' for the last and any number of it,
/// "@13" for one that there is since opset 13 (before, an attribute said it), ":2" for a rank, ":0-1" for a range, ":2+" for a least one.
/// Attributes, one word each: NAME=KIND, with a '!' before those that must be there. KIND is int (32 bits), long, float,
/// string, ints, longs, floats, strings, tensor, a range "1.." or "0..1", "ints:0.." for a range of each, or the words
/// that may stand there: "DCR|CRD". "float:0.." is at least 0.
struct Row {
  std::string_view types;  ///< IR types
  std::string_view inputs;
  std::string_view attributes;
};

#define AOE_WINDOW \
  "auto_pad=NOTSET|VALID|SAME_UPPER|SAME_LOWER strides=ints:1.. dilations=ints:1.. pads=ints:0.. "
#define AOE_RECURRENT                                                                   \
  "hidden_size=1.. direction=forward|reverse|bidirectional layout=0..1 clip=float:0.. " \
  "activations=strings activation_alpha=floats activation_beta=floats "

constexpr Row kRows[] = {
    // elementwise
    {"Sigmoid Softplus Softsign Mish HardSwish Reciprocal Sqrt Exp Log Erf Floor Ceil Rint Sin Cos "
     "Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh IsNan",
     "f", ""},
    {"IsInf", "f", "detect_negative=0..1 detect_positive=0..1"},
    {"Relu Abs Neg Sign", "n", ""},
    {"Elu CeluV2 LeakyRelu ThresholdedRelu Swish", "f", "alpha=float"},
    {"HardSigmoid", "f", "alpha=float beta=float"},
    {"Selu", "f", "alpha=float gamma=float"},
    {"Shrink", "n", "bias=float lambd=float"},
    {"Gelu", "f", "approximate=none|tanh"},
    {"RoundToFloat16", "s", ""},
    {"RoundToSmallFloat", "s",
     "!mantissa_bits=1..8 !least_exponent=-16..0 !most=float:0.. beyond=most|infinity|nan "
     "no_negative_zero=0..1 no_nan=0..1"},
    {"LogicalNot", "b", ""},
    {"BitwiseNot", "i", ""},
    {"Add Sub Mul Div PRelu", "n1 n1", ""},
    {"Mod", "n1 n1", "fmod=0..1"},
    {"Pow", "n n", ""},
    {"BitShift", "u1 u1", "!direction=LEFT|RIGHT"},
    {"BitwiseAnd BitwiseOr BitwiseXor", "i1 i1", ""},
    {"Maximum Minimum", "n1*", ""},
    {"AddN MeanN", "f1*", ""},
    {"Equal", "a1 a1", ""},
    {"Greater GreaterEqual Less LessEqual", "n1 n1", ""},
    {"LogicalAnd LogicalOr LogicalXor", "b b", ""},
    {"SelectV2", "b a1 a1", ""},
    {"ClipByValue", "n1 n1?@11:0-1 n1?@11:0-1", "min=float max=float"},
    {"Cast", "a", "!to=1.. saturate=0..1"},
    {"Identity", "a", ""},
    {"Dropout", "f f?@12:0-1 b?@12:0-1", "ratio=float seed=long"},
    {"Quantize", "n f i?", "axis=int saturate=0..1 block_size=0.. output_dtype=0.."},
    {"Dequantize", "i f i?", "axis=int block_size=0.. output_dtype=0.."},
    {"DynamicQuantizeLinear", "s", ""},
    // along axes
    {"ArgMaxV2 ArgMin", "n:1+", "axis=int keepdims=0..1 select_last_index=0..1"},
    {"ReduceSum", "n l?@13:1", "axes=ints keepdims=0..1 noop_with_empty_axes=0..1"},
    {"ReduceMean ReduceProd ReduceSumSquare ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp",
     "n l?@18:1", "axes=ints keepdims=0..1 noop_with_empty_axes=0..1"},
    {"ReduceMax ReduceMin", "a l?@18:1", "axes=ints keepdims=0..1 noop_with_empty_axes=0..1"},
    {"TopKV2", "n:1+ l?@10:0-1", "axis=int k=0.. largest=0..1 sorted=0..1"},
    {"Cumsum Cumprod", "n:1+ x:0-1", "exclusive=0..1 reverse=0..1"},
    {"SoftmaxV2 LogSoftmaxV2 HardMax", "f", "axis=int"},
    {"MVN", "f", "axes=ints"},
    {"LpNorm", "f:1+", "axis=int p=1..2"},
    {"LRN", "f:2+", "!size=1.. alpha=float beta=float bias=float"},
    {"BatchNorm", "f1:1+ f:1 f:1 f:1 f:1",
     "epsilon=float momentum=float training_mode=0..1 spatial=1..1"},
    {"InstanceNorm", "f1:2+ f1:1 f1:1", "epsilon=float"},
    {"GroupNorm", "f1:2+ f1:1 f1:1", "epsilon=float !num_groups=1.. stash_type=1.."},
    {"LayerNorm", "f1:1+ f1 f1?", "axis=int epsilon=float stash_type=1.."},
    {"Unique", "a", "axis=int sorted=0..1"},
    {"NLLLoss SoftmaxCrossEntropyLoss", "f1:2+ x:1+ f1?:1",
     "ignore_index=long reduction=none|sum|mean"},
    // moves
    {"Transpose", "a", "perm=ints:0.."},
    {"Reshape", "a l:1", "allowzero=0..1"},
    {"FlattenV2", "a", "axis=int"},
    {"Squeeze Unsqueeze", "a l?@13:0-1", "axes=ints"},
    {"ConcatV2", "a1*:1+", "!axis=int"},
    {"SplitV", "a:1+ l?@13:1", "axis=int split=ints:0.. num_outputs=1.."},
    {"Slice", "a x?@10:1 x?@10:1 x?@10:1 x?@10:1", "starts=longs ends=longs axes=ints"},
    {"PadV3", "a1 l?@11:1 a1?@11:0-1 x?@11:1",
     "mode=constant|reflect|edge|wrap pads=ints value=float"},
    {"Expand Tile", "a l:1", ""},
    {"GatherV2 GatherElements", "a:1+ x", "axis=int"},
    {"GatherNd", "a:1+ l:1+", "batch_dims=0.."},
    {"Scatter ScatterElements", "a1:1+ x:1+ a1:1+", "axis=int reduction=none|add|mul|max|min"},
    {"ScatterNdUpdate", "a1:1+ l:1+ a1", "reduction=none|add|mul|max|min"},
    {"DepthToSpace", "a:4", "!blocksize=1.. mode=DCR|CRD"},
    {"SpaceToDepth", "a:4", "!blocksize=1.."},
    {"ReverseSequence", "a:2+ l:1", "batch_axis=0..1 time_axis=0..1"},
    {"TensorScatter", "a1:2+ a1:2+ l?:1", "axis=int mode=linear|circular"},
    {"BitCast", "a", "!to=1.."},
    {"Col2im", "n:3 l:1 l:1", "dilations=ints:1.. pads=ints:0.. strides=ints:1.."},
    {"Trilu", "a:2+ l?:0-1", "upper=0..1"},
    {"OneHot", "n n:0-1 a:1", "axis=int"},
    {"Compress", "a b:1", "axis=int"},
    {"NonZero", "a", ""},
    {"DynamicTimeWarping", "s:2-3", ""},
    // sequences in bytes
    {"SequencePack", "a*", ""},
    {"PackedInsert", "u:1 a x?:0-1", ""},
    {"PackedErase", "u:1 x?:0-1", ""},
    {"PackedSplit", "a:1+ x:0-1", "axis=int"},
    {"PackedAt", "u:1 x?:0-1", "!dtype=1.. !rank=0..64"},
    {"PackedLength", "u:1", ""},
    {"PackedConcat", "u:1", "!dtype=1.. !rank=0..64 axis=int new_axis=0..1"},
    // made
    {"Shape", "a", "start=int end=int"},
    {"Size", "a", ""},
    {"Const", "",
     "value=tensor value_float=float value_int=long value_floats=floats value_ints=longs"},
    {"Fill", "l:1", "value=tensor"},
    {"Range", "n1:0-1 n1:0-1 n1:0-1", ""},
    {"Eye", "a:2", "dtype=1.. k=long"},
    {"RandomNormal", "", "dtype=1.. mean=float scale=float:0.. seed=float !shape=ints:0.."},
    {"RandomUniform", "", "dtype=1.. low=float high=float seed=float !shape=ints:0.."},
    {"RandomNormalLike", "a", "dtype=1.. mean=float scale=float:0.. seed=float"},
    {"RandomUniformLike", "a", "dtype=1.. low=float high=float seed=float"},
    {"Bernoulli", "f", "dtype=1.. seed=float"},
    {"Multinomial", "f:2", "dtype=1.. sample_size=1.. seed=float"},
    {"HannWindow HammingWindow BlackmanWindow", "x:0-1", "output_datatype=1.. periodic=0..1"},
    {"MelWeightMatrix", "x:0-1 x:0-1 x:0-1 f:0-1 f:0-1", "output_datatype=1.."},
    {"If Loop", "a*", "captures=ints:0.."},
    {"Assert", "", "!why=string !dtypes=ints:1.. !ranks=ints:0.. dims=ints:0..9223372036854775807"},
    {"Scan", "a*",
     "captures=ints:0.. !num_scan_inputs=1.. scan_input_axes=ints scan_input_directions=ints "
     "scan_output_axes=ints scan_output_directions=ints"},
    // products and windows
    {"MatMulV2", "n1:1+ n1:1+", ""},
    {"WeightQuantBatchMatmulV2", "s:1+ q:3 s:2 n?:2 s?:1", "!bits=2..8 !block_size=16.."},
    {"Gemm", "n1:2 n1:2 n1?:0-2", "alpha=float beta=float transA=0..1 transB=0..1"},
    {"MatMulInteger", "q:1+ q:1+ q? q?", ""},
    {"QLinearMatMul", "q:1+ f q q:1+ f q f q", ""},
    {"Einsum", "n1*", "!equation=string"},
    {"Det MatrixInverse", "f:2+", ""},
    {"Conv2D", "f1:3-5 f1:3-5 f1?:1", AOE_WINDOW "kernel_shape=ints:1.. group=1.."},
    {"Conv2DTranspose", "f1:3-5 f1:3-5 f1?:1",
     AOE_WINDOW "kernel_shape=ints:1.. group=1.. output_padding=ints:0.. output_shape=ints:1.."},
    {"ConvInteger", "q:3-5 q:3-5 q?:0-1 q?:0-1", AOE_WINDOW "kernel_shape=ints:1.. group=1.."},
    {"QLinearConv", "q:3-5 f:0-1 q:0-1 q:3-5 f:0-1 q:0-1 f:0-1 q:0-1 x?:1",
     AOE_WINDOW "kernel_shape=ints:1.. group=1.."},
    // of passes, which put whole parameters there
    {"QuantConv2D", "a?*", AOE_WINDOW "kernel_shape=ints:1.. group=1.."},
    {"QuantMatMul", "a?*", "transB=0..1"},
    {"DeformableConv2D", "f1:3-5 f1:3-5 f1:3-5 f1?:1 f1?:3-5",
     "dilations=ints:1.. pads=ints:0.. strides=ints:1.. kernel_shape=ints:1.. group=1.. "
     "offset_group=1.."},
    {"LinearAttention", "f1:3 f1:3 f1:3 f?:4 f1?:3 f1?:3",
     "chunk_size=1.. !kv_num_heads=1.. !q_num_heads=1.. scale=float "
     "update_rule=linear|gated|delta|gated_delta"},
    {"MaxPoolV3", "n:3-5", AOE_WINDOW "!kernel_shape=ints:1.. ceil_mode=0..1 storage_order=0..1"},
    {"AvgPoolV2", "f:3-5",
     AOE_WINDOW "!kernel_shape=ints:1.. ceil_mode=0..1 count_include_pad=0..1"},
    {"LpPool", "f:3-5", AOE_WINDOW "!kernel_shape=ints:1.. ceil_mode=0..1 p=1.."},
    {"MaxUnpool", "f:3-5 l:3-5 l?:1", "!kernel_shape=ints:1.. strides=ints:1.. pads=ints:0.."},
    {"GlobalAveragePool GlobalMaxPool", "f:2+", ""},
    {"GlobalLpPool", "f:2+", "p=1.."},
    {"ROIAlign", "f1:4 f1:2 l:1",
     "mode=avg|max output_height=1.. output_width=1.. sampling_ratio=0.. spatial_scale=float "
     "coordinate_transformation_mode=half_pixel|output_half_pixel"},
    {"MaxRoiPool", "f1:4 f1:2", "!pooled_shape=ints:1.. spatial_scale=float"},
    {"NonMaxSuppressionV7", "s:3 s:3 l?:0-1 s?:0-1 s?:0-1", "center_point_box=0..1"},
    {"GridSample", "n:3-5 f:3-5",
     "mode=bilinear|nearest|bicubic|linear|cubic padding_mode=zeros|border|reflection "
     "align_corners=0..1"},
    {"Resize", "n f?:1 f?@11:1 l?@11:1",
     "mode=nearest|linear|cubic axes=ints antialias=0..1 exclude_outside=0..1 "
     "coordinate_transformation_mode=half_pixel|half_pixel_symmetric|pytorch_half_pixel|align_"
     "corners|"
     "asymmetric|tf_half_pixel_for_nn|tf_crop_and_resize cubic_coeff_a=float "
     "extrapolation_value=float keep_aspect_ratio_policy=stretch|not_larger|not_smaller "
     "nearest_mode=round_prefer_floor|round_prefer_ceil|floor|ceil|simple"},
    {"Upsample", "n f?@9:1", "mode=nearest|linear|bilinear scales=floats"},
    {"CommonRNN", "f1:3 f1:3 f1:3 f1?:2 x?:1 f1?:3", AOE_RECURRENT},
    {"DynamicGRUV2", "f1:3 f1:3 f1:3 f1?:2 x?:1 f1?:3", AOE_RECURRENT "linear_before_reset=0..1"},
    {"DynamicRNN", "f1:3 f1:3 f1:3 f1?:2 x?:1 f1?:3 f1?:3 f1?:2",
     AOE_RECURRENT "input_forget=0..1"},
    {"DFT", "f:2+ x?:0-1 x?@20:0-1", "axis=int inverse=0..1 onesided=0..1"},
    {"STFT", "f:2-3 x:0-1 f?:1 x?:0-1", "onesided=0..1"},
    {"TfIdfVectorizer", "x:1-2",
     "!mode=TF|IDF|TFIDF !min_gram_length=1..64 !max_gram_length=1..64 !max_skip_count=0..65536 "
     "!ngram_counts=ints:0.. !ngram_indexes=ints:0..16777216 pool_int64s=longs weights=floats"},
    {"StringNormalizer", "l:1-2",
     "case_change_action=NONE|LOWER|UPPER is_case_sensitive=0..1 locale=string stopwords=strings"},
    {"StringConcat", "l l", ""},
    {"StringSplit", "l", "delimiter=string maxsplit=long"},
    {"RegexFullMatch", "l", "!pattern=string"},
    {"Tokenizer", "l:1-2",
     "!mark=0..1 !pad_value=string !mincharnum=1.. separators=strings tokenexp=string"},
    {"NumberToText", "a", ""},
    {"TextToNumber", "l", "!to=1.."},
    {"TextRank", "l", ""},
    {"TreeEnsemble", "f1:2 x:1 x:1 f1:1 x:2 x:1 x:1 f1:1 u?:1",
     "aggregate=SUM|AVERAGE|MIN|MAX !features=0.. !targets=1.."},
    {"PairwiseCoupling", "f:2", "!classes=2..4096"},
    {"ApplyMomentum", "f:0-1 l:0-1 f*",
     "!alpha=float !beta=float !mode=standard|nesterov !norm_coefficient=float"},
    {"ApplyAdam", "f:0-1 l:0-1 f*",
     "alpha=float beta=float epsilon=float norm_coefficient=float norm_coefficient_post=float"},
    {"ApplyAdagrad", "f:0-1 l:0-1 f*", "decay_factor=float epsilon=float norm_coefficient=float"},
};

// ---- reading rows ----

constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();

struct InputRule {
  char types = 'a';
  int same_as = -1;  ///< inputs with the same number have one type; -1: none
  bool is_optional = false, is_repeated = false;
  int since = 0;  ///< the version of the operator
  std::size_t least_rank = 0, most_rank = std::numeric_limits<std::size_t>::max();
};

struct AttrRule {
  std::string name;
  bool is_required = false;
  std::string kind;  ///< int, float, string, ints, floats, strings, tensor
  std::int64_t least = -kMostInt, most = kMostInt;
  std::vector<std::string> words;  ///< empty: any
};

struct OpRules {
  std::vector<InputRule> inputs;
  std::vector<AttrRule> attributes;
};

std::int64_t parse_number(const std::string& text) {
  const auto number = to_number<std::int64_t>(text);
  AOE_CHECK(number, "no number: " + text);
  return *number;
}

InputRule parse_input(const std::string& word) {
  InputRule rule{.types = word.at(0)};
  AOE_CHECK(std::string_view("anfsiuqxlb").find(rule.types) != std::string_view::npos, word);
  std::size_t at = 1;
  for (; at < word.size() && word[at] != ':'; ++at) {
    if (word[at] == '?')
      rule.is_optional = true;
    else if (word[at] == '*')
      rule.is_repeated = true;
    else if (word[at] == '@')
      for (; at + 1 < word.size() && word[at + 1] != ':'; ++at)
        rule.since = 10 * rule.since + static_cast<int>(parse_number(word.substr(at + 1, 1)));
    else
      rule.same_as = static_cast<int>(parse_number(word.substr(at, 1)));
  }
  if (at == word.size()) return rule;
  std::string ranks = word.substr(at + 1);
  const bool is_least = ranks.ends_with('+');
  if (is_least) ranks.pop_back();
  const std::vector<std::string> bounds = split_words(ranks, '-');
  rule.least_rank = static_cast<std::size_t>(parse_number(bounds.at(0)));
  if (!is_least) rule.most_rank = static_cast<std::size_t>(parse_number(bounds.back()));
  return rule;
}

void parse_range(const std::string& text, AttrRule& rule) {
  const std::size_t dots = text.find("..");
  AOE_CHECK(dots != std::string::npos, "no range: " + text);
  rule.least = parse_number(text.substr(0, dots));
  if (dots + 2 < text.size()) rule.most = parse_number(text.substr(dots + 2));
}

AttrRule parse_attribute(const std::string& word) {
  const std::size_t equals = word.find('=');
  AOE_CHECK(equals != std::string::npos, "no kind: " + word);
  AttrRule rule{.name = word.substr(0, equals), .kind = word.substr(equals + 1)};
  if (rule.name.starts_with('!')) {
    rule.is_required = true;
    rule.name.erase(0, 1);
  }
  static const std::vector<std::string> kKinds = {"int",    "float",   "string", "ints",
                                                  "floats", "strings", "tensor"};
  if (rule.kind == "long" || rule.kind == "longs") {
    rule.kind = rule.kind == "long" ? "int" : "ints";
    rule.least = std::numeric_limits<std::int64_t>::min();
    rule.most = std::numeric_limits<std::int64_t>::max();
  } else if (const std::size_t colon = rule.kind.find(':'); colon != std::string::npos) {
    parse_range(rule.kind.substr(colon + 1), rule);
    rule.kind.resize(colon);
  } else if (rule.kind.find("..") != std::string::npos) {
    parse_range(rule.kind, rule);
    rule.kind = "int";
  } else if (std::ranges::find(kKinds, rule.kind) == kKinds.end()) {
    rule.words = split_words(rule.kind, '|');
    rule.kind = "string";
  }
  AOE_CHECK(std::ranges::find(kKinds, rule.kind) != kKinds.end(), word);
  return rule;
}

const std::map<std::string, OpRules, std::less<>>& table() {
  static const auto rules = [] {
    std::map<std::string, OpRules, std::less<>> all;
    for (const Row& row : kRows) {
      OpRules parsed;
      for (const std::string& word : split_words(row.inputs, ' '))
        parsed.inputs.push_back(parse_input(word));
      for (const std::string& word : split_words(row.attributes, ' '))
        parsed.attributes.push_back(parse_attribute(word));
      for (const std::string& type : split_words(row.types, ' '))
        AOE_CHECK(all.emplace(type, parsed).second, type + " has two rows");
    }
    return all;
  }();
  return rules;
}

// ---- checking ----

bool is_of(char types, DataType dtype) {
  switch (types) {
    case 'n':
      return is_floating(dtype) || is_integer(dtype);
    case 'f':
      return is_floating(dtype);
    case 's':
      return dtype == DataType::kFloat;
    case 'i':
      return is_integer(dtype);
    case 'u':
      return dtype == DataType::kUint8 || dtype == DataType::kUint16 ||
             dtype == DataType::kUint32 || dtype == DataType::kUint64;
    case 'q':
      return dtype == DataType::kInt8 || dtype == DataType::kUint8;
    case 'x':
      return dtype == DataType::kInt32 || dtype == DataType::kInt64;
    case 'l':
      return dtype == DataType::kInt64;
    case 'b':
      return dtype == DataType::kBool;
    default:
      return size_bytes(dtype) > 0;
  }
}

std::string words_for(char types) {
  switch (types) {
    case 'n':
      return "numbers";
    case 'f':
      return "floating point";
    case 's':
      return "float32";
    case 'i':
      return "integers";
    case 'u':
      return "unsigned integers";
    case 'q':
      return "int8 or uint8";
    case 'x':
      return "int32 or int64";
    case 'l':
      return "int64";
    case 'b':
      return "bool";
    default:
      return "numbers or bool";
  }
}

std::string words_for_rank(const InputRule& rule) {
  if (rule.most_rank == rule.least_rank) return std::to_string(rule.least_rank);
  if (rule.most_rank == std::numeric_limits<std::size_t>::max())
    return "at least " + std::to_string(rule.least_rank);
  return std::to_string(rule.least_rank) + " to " + std::to_string(rule.most_rank);
}

void check_inputs(const std::vector<InputRule>& rules, int version,
                  std::span<const Tensor> inputs) {
  const bool is_open = !rules.empty() && rules.back().is_repeated;
  if (inputs.size() > rules.size() && !is_open)
    fail_model("has " + std::to_string(inputs.size()) + " inputs, takes at most " +
               std::to_string(rules.size()));
  std::map<int, DataType> common;
  for (std::size_t i = 0; i < std::max(rules.size(), inputs.size()); ++i) {
    const InputRule& rule = rules[std::min(i, rules.size() - 1)];
    if (i >= inputs.size() || !inputs[i].is_present()) {
      if (rule.is_optional || (rule.is_repeated && i + 1 >= rules.size() && i >= inputs.size()))
        continue;
      fail_model("input " + std::to_string(i) + " is missing");
    }
    // Whoever reads an input that the version does not know contradicts what its attributes say.
    if (version < rule.since)
      fail_model("has an input " + std::to_string(i) + ", which there is since opset " +
                 std::to_string(rule.since));
    const TensorDesc& desc = inputs[i].desc;
    const auto need = [&](const std::string& what) {
      fail_model("input " + std::to_string(i) + " is " + std::string(name(desc.dtype)) + " " +
                 to_string(desc.shape) + ", needs " + what);
    };
    if (!is_of(rule.types, desc.dtype)) need(words_for(rule.types));
    if (rule.same_as >= 0 && common.emplace(rule.same_as, desc.dtype).first->second != desc.dtype)
      need(std::string(name(common[rule.same_as])) + " as the input before it");
    if (desc.shape.size() < rule.least_rank || desc.shape.size() > rule.most_rank)
      need("a rank of " + words_for_rank(rule));
  }
}

void check_range(const AttrRule& rule, std::int64_t value) {
  if (value >= rule.least && value <= rule.most) return;
  fail_model("attribute '" + rule.name + "' is " + std::to_string(value) + ", needs " +
             (value < rule.least ? "at least " + std::to_string(rule.least)
                                 : "at most " + std::to_string(rule.most)));
}

void check_attribute(const AttrRule& rule, const Attrs& attrs) {
  if (!attrs.has(rule.name)) {
    if (rule.is_required) fail_model("attribute '" + rule.name + "' is missing");
    return;
  }
  if (rule.kind == "int") {
    check_range(rule, attrs.get_int(rule.name, 0));
  } else if (rule.kind == "ints") {
    for (const std::int64_t each : attrs.get_ints(rule.name)) check_range(rule, each);
  } else if (rule.kind == "float") {
    const float value = attrs.get_float(rule.name, 0);
    if (rule.least == 0 && !(value >= 0))
      fail_model("attribute '" + rule.name + "' is " + std::to_string(value) +
                 ", needs at least 0");
  } else if (rule.kind == "floats") {
    attrs.get_floats(rule.name);
  } else if (rule.kind == "tensor") {
    attrs.get_tensor(rule.name);
  } else if (rule.kind == "string") {
    const std::string value = attrs.get_string(rule.name, "");
    if (rule.words.empty() || std::ranges::find(rule.words, value) != rule.words.end()) return;
    std::string words;
    for (const std::string& word : rule.words) words += (words.empty() ? "" : ", ") + word;
    fail_model("attribute '" + rule.name + "' is '" + value.substr(0, 64) + "', needs one of " +
               words);
  }
}

}  // namespace

void check_op_rules(std::string_view ir_type, int version, const Attrs& attrs,
                    std::span<const Tensor> inputs) {
  const auto found = table().find(ir_type);
  if (found == table().end()) return;
  check_inputs(found->second.inputs, version, inputs);
  for (const AttrRule& rule : found->second.attributes) check_attribute(rule, attrs);
}

bool has_attribute(std::string_view ir_type, std::string_view name) {
  const auto found = table().find(ir_type);
  return found != table().end() &&
         std::ranges::find(found->second.attributes, name, &AttrRule::name) !=
             found->second.attributes.end();
}

bool has_op_rules(std::string_view ir_type) {
  return table().find(ir_type) != table().end();
}

}  // namespace aoe::reference
