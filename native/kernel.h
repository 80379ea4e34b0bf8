// Kernel: an operator in threaded C++ that compilers vectorise, for what no loop nest describes: results whose size or
// place depends on values, types and forms that are rare. The reference says what is right, and takes what a kernel does not.
//
// A kernel is a file in native/kernels/ with `void register_<file stem>(KernelRegistry&)`. The backend `native`
// (runtime/backends/) carries it out, the Impl `native` (compiler/impls/) offers it.
#pragma once

#include <any>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "native/threads.h"
#include "reference/op.h"

namespace aoe::native {

/// What a kernel is asked about: a call of its operator, before it runs.
struct Question {
  const reference::OpCall& call;
  std::span<const TensorDesc> inputs;  ///< absent: kUndefined; sizes may be unknown
  std::size_t outputs;                 ///< up to the last that is wanted

  bool has_input(std::size_t i) const {
    return i < inputs.size() && inputs[i].dtype != DataType::kUndefined;
  }
};

/// One execution of a call that it supports, whose shapes are what inference says.
class Run {
 public:
  Run(const reference::OpCall& asked, std::span<const Tensor> given, Threads& team)
      : call(asked), attrs(asked.attrs), version(asked.version), inputs(given), threads(team) {}
  virtual ~Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const reference::OpCall& call;
  const reference::Attrs& attrs;
  const int version;
  const std::span<const Tensor> inputs;
  Threads& threads;

  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].is_present(); }
  const Shape& shape(std::size_t i) const { return inputs[i].desc.shape; }
  /// data == nullptr where nobody reads it, and behind the last.
  virtual const Tensor& output(std::size_t i) const = 0;
  /// Of a kernel that makes_shapes: where the output lies that has this shape; data == nullptr where nobody reads it.
  virtual Tensor make(std::size_t i, const Shape& shape) const = 0;
  /// Where what is made of input `i` is kept from run to run: nullptr when its values may change.
  virtual std::any* kept(std::size_t) const { return nullptr; }
  /// The same of what is made of the call and its types alone.
  virtual std::any* kept_of_call() const { return nullptr; }

  /// What make() gives, which depends on input `i` and the call alone (weights in the order in which a product reads them): made once
  /// where the input is a constant, in Scratch or other memory that was asked for. One such thing for each input.
  template <typename Make>
  auto made_of(std::size_t i, const Make& make) const {
    return made_at(kept(i), make);
  }

  /// The same of what make() makes of the call and the types of what it reads and makes.
  template <typename Make>
  auto made_of_call(const Make& make) const {
    return made_at(kept_of_call(), make);
  }

 private:
  template <typename Make>
  static auto made_at(std::any* place, const Make& make) {
    using Made = std::shared_ptr<const std::invoke_result_t<Make>>;
    if (place == nullptr) return Made(new auto(make()));
    if (const Made* made = std::any_cast<Made>(place)) return *made;
    return place->emplace<Made>(new auto(make()));
  }
};

struct Kernel {
  std::string type;  ///< Ascend IR type
  /// "No" says why: whether all calls with these types and attributes can be carried out.
  std::function<Result<void>(const Question&)> supports;
  /// Throws Error(kModel) without a place when values are illegal, before anything but its outputs is written.
  std::function<void(const Run&)> run;
  bool makes_shapes = false;  ///< it finds the shapes of its outputs itself
  /// The output is input 0 in another shape: it may lie where that does.
  bool keeps_elements = false;
  /// No result depends on where an element stands: input 0 and outputs of its shape may lie in any dense Format, all in the same.
  bool takes_any_order = false;
  /// Leaves out what the definition multiplies by 0, so that NaN of infinity times 0 is missing.
  bool skips_zero_factors = false;
  /// For which calls that it supports it may save multiplications by sums around them: an algorithm whose rounding errors are up to eight times those of
  /// plain sums.
  std::function<bool(const Question&)> may_save_products = {};
  /// Which share of the processor's peak it reaches in a call where a library may be slower: 0 where any is faster. Sizes are known.
  std::function<double(const Question&)> of_peak = {};
  /// For which calls generated code, or a library's, is faster: the Impl offers this only where there is none, as sizes are not
  /// known, or values that it needs.
  std::function<bool(const Question&)> is_for_open_sizes = {};
};

class KernelRegistry {
 public:
  void add(Kernel kernel);  ///< a second one of a type is a bug
  /// nullptr when there is none.
  const Kernel* find(std::string_view type) const;
  std::span<const Kernel> all() const { return kernels_; }  ///< sorted by type

 private:
  std::vector<Kernel> kernels_;
};

/// All of native/kernels/; built once, immutable.
const KernelRegistry& kernels();

/// The kernel of a call, or why there is none.
Result<const Kernel*> kernel_for(const Question& question);

// ---- answers of supports() ----

Result<void> takes_all(const Question& question);
/// "No" when input `i` is there and of none of these types.
Result<void> takes_types(const Question& question, std::size_t i,
                         std::initializer_list<DataType> types);
/// The first `count` inputs are float32 where they are there.
std::function<Result<void>(const Question&)> takes_floats(std::size_t count);
/// All inputs are float32 or all are float64, where they are there.
Result<void> takes_one_float_type(const Question& question);

// ---- answers of is_for_open_sizes() ----

bool always(const Question& question);
bool is_float32(const Question& question);  ///< its first input is
/// The same, and no volume.
bool is_flat_float32(const Question& question);

}  // namespace aoe::native
