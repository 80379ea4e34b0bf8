// Functions: operators that are written as others. The importer puts their parts in their place, so that a node of
// a contributed or a new composite operator is folded, fused and tuned like the nodes that it stands for.
//
//   void expand(FunctionCall& call) {                       // FusedSquare(X), y = alpha * x * x
//     const Term x = call.input(0);
//     call.give(0, x * x * call.attrs().get_float("alpha", 1));
//   }
//
// To add one: a file in graph/functions/ with `void register_<file stem>(FunctionRegistry&)`. Where a composite is made
// of the same parts as another, both stand in one file.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/import/text_table.h"
#include "graph/shape_inference.h"

namespace aoe::graph {

class FunctionCall;
struct SmallType;

/// A value inside a call. Operators are ONNX's, with its broadcasting; numbers take the type of the term.
struct Term {
  FunctionCall* call = nullptr;
  ValueId id = kNone;
};
Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b);
Term operator+(Term a, double b);
Term operator*(Term a, double b);

/// What an expansion throws when it cannot say the call in other operators: the node counts as unsupported, for this
/// reason ("its softcap is computed").
struct NotExpressible {
  std::string reason;
};

/// Where a call stands: who names and infers what it adds.
struct FunctionSite {
  Graph& graph;
  ShapeInference& inference;
  std::function<std::string(const std::string&)> node_name,
      value_name;  ///< unused ones, from a stem
  /// Told how large each constant of a node is, throws when all of them are too much.
  std::function<void(std::size_t bytes, const std::string& node)> add_bytes;
  /// What calls of this graph have made for others, too; by what it is.
  std::map<std::string, ValueId>& shared;
  /// Of the model, and the values that hold places in it. Without them texts cannot be expressed.
  TextTable* texts = nullptr;
  std::set<ValueId>* text_values = nullptr;
  const std::map<ValueId, const SmallType*>* small = nullptr;  ///< what is held as something wider
};

class FunctionCall {
 public:
  /// `node` is not part of the graph: its inputs are, its outputs are only counted (kNone: not wanted).
  FunctionCall(FunctionSite site, Node node) : site_(std::move(site)), node_(std::move(node)) {}
  FunctionCall(const FunctionCall&) = delete;  // its Terms point to it
  FunctionCall& operator=(const FunctionCall&) = delete;

  const reference::Attrs& attrs() const { return node_.op.attrs; }
  /// An attribute that says how many there are of something: Error(kModel) unless it is there, at least 1, and so small that
  /// no product of two of them overflows.
  std::int64_t count_attr(const std::string& name) const;
  bool has(std::size_t input) const;
  /// Throws Error(kModel) when the call leaves it out.
  Term input(std::size_t i);
  bool wants(std::size_t output) const;
  void give(std::size_t output, Term value);
  const std::map<std::size_t, ValueId>& given() const { return given_; }
  /// One behind the last input that was asked for, whether the call has it or not.
  std::size_t inputs_asked_for() const { return inputs_asked_for_; }

  /// NotExpressible where not even the rank is known.
  const Shape& shape(Term value) const;
  std::int64_t rank(Term value) const { return static_cast<std::int64_t>(shape(value).size()); }
  /// NotExpressible where it is known only when the model runs. `axis` from the back where negative.
  std::int64_t dim(Term value, std::int64_t axis) const;
  DataType dtype(Term value) const;     ///< NotExpressible where it is not known
  ConstantPtr known(Term value) const;  ///< nullptr: computed when the model runs
  /// Of int32 or int64; NotExpressible where they are computed, Error(kModel) where they are nothing of the kind.
  std::vector<std::int64_t> known_ints(Term value) const;
  std::int64_t known_int(Term value) const;

  /// A node of the newest version of an ONNX operator, of a function of ONNX, or of an operator of our own by its IR type.
  Term op(const std::string& onnx_type, const std::vector<Term>& inputs,
          reference::Attrs attrs = {});
  std::vector<Term> ops(const std::string& onnx_type, const std::vector<Term>& inputs,
                        reference::Attrs attrs, std::size_t outputs);
  Term absent() { return {this, kNone}; }  ///< an optional input that is left out
  /// The places that stand for `texts` in tensors, which hold none.
  std::vector<std::int64_t> places(const std::vector<std::string>& texts);
  bool is_text(Term value) const;  ///< its numbers are such places
  void mark_as_text(Term value);
  bool is_small(
      Term value) const;  ///< of integers below eight bits, which are held as int8 or uint8

  Term number(double value, DataType dtype);           ///< a scalar
  Term ints(const std::vector<std::int64_t>& values);  ///< int64, one axis
  Term numbered(std::int64_t count);                   ///< int64, one axis: 0, 1, ..., count - 1
  /// How many elements `value` has along `axis`, int64 [1]; computed where only a run can tell.
  Term size_along(Term value, std::int64_t axis);
  /// int64, one axis: as many numbers from 0 on.
  Term places_along(Term value, std::int64_t axis);
  bool is_open(Term value, std::int64_t axis) const;  ///< only a run can tell how many there are
  Term floats(const Shape& shape, const std::vector<float>& values);
  /// What `make` gives, once for all calls of a graph with the same `key`: the masks of all layers of a model are one.
  Term shared(const std::string& key, const std::function<Term()>& make);
  /// float32 or float64.
  Term reals(DataType dtype, const Shape& shape, const std::vector<double>& values);

  // ---- what many calls say ----

  Term cast(Term value, DataType dtype);  ///< itself where it has that type
  /// Like ONNX's Reshape: 0 keeps a dimension, one may be -1.
  Term reshape(Term value, const std::vector<std::int64_t>& dims);
  Term transpose(Term value, const std::vector<std::int64_t>& perm);
  Term slice(Term value, std::int64_t axis, std::int64_t begin, std::int64_t end,
             std::int64_t step = 1);
  Term concat(const std::vector<Term>& parts, std::int64_t axis);
  Term matmul(Term a, Term b) { return op("MatMul", {a, b}); }

 private:
  std::int64_t dim_if_known(Term value, std::int64_t axis) const;  ///< negative: not known
  Term constant(ConstantPtr value);
  Term counted_constant(ConstantPtr value);  ///< whose bytes the site has been told
  Node part(const std::string& onnx_type, const std::vector<Term>& inputs, reference::Attrs attrs);

  FunctionSite site_;
  Node node_;
  std::map<std::size_t, ValueId> given_;
  mutable std::size_t inputs_asked_for_ = 0;
};

/// The attribute `axis`.
reference::Attrs with_axis(std::int64_t axis);

/// Puts the parts that `expand` gives for a node of the graph in its place, for passes. An Identity takes each to an output
/// of the node, and remove_identities takes that out. False, with nothing changed, when `expand` throws NotExpressible.
bool replace_by_parts(Graph& graph, NodeId id, const std::function<void(FunctionCall&)>& expand);

struct Function {
  std::string domain;  ///< "" is ai.onnx
  std::string type;
  std::function<void(FunctionCall&)> expand;
  bool takes_small = false;  ///< integers below eight bits, as what they are held as
};

class FunctionRegistry {
 public:
  void add(Function function);  ///< a second one of the same name is a bug
  const Function* find(const std::string& domain, const std::string& type) const;
  std::vector<const Function*> all() const;

 private:
  std::map<std::pair<std::string, std::string>, Function> functions_;
};

/// All of graph/functions/; built once, immutable, thread-safe.
const FunctionRegistry& functions();

/// The domain of the operators that ONNX Runtime adds.
inline constexpr const char* kMicrosoft = "com.microsoft";

}  // namespace aoe::graph
