// Tunable: a piece of a model for which a bank can store something better than the default. An operator's task
// (operator_list.h) is one, with all ops that share it; a subgraph (subgraph_list.h) with all its instances is another.
//
// A session (session/tuning_session.h) knows no more of it than this: the ledger counts and stores Tunables, the
// confirmation takes them back. How one is searched, measured alone and put into the model is the order's that tunes it.
#pragma once

#include <string>

#include "bank/strategy.h"
#include "base/result.h"
#include "compiler/soc.h"

namespace aoe::tuner {

class Tunable {
 public:
  virtual ~Tunable() = default;

  virtual const std::string& first_node() const = 0;  ///< a name in the model
  virtual int places() const = 0;                     ///< where it stands in the model
  virtual std::string type_text() const = 0;          ///< "Conv2D+Relu"
  virtual std::string shape_text() const { return {}; }

  /// "No": this program cannot build what is stored.
  virtual Result<void> accepts(const bank::Strategy& stored, const compiler::Soc& soc) const = 0;
  /// How a bank stores that nothing beats the default, as it was in the race of `other`.
  virtual bank::Strategy default_strategy(const bank::Strategy& other) const = 0;
  virtual std::string text_of(const bank::Strategy& strategy) const = 0;

  bank::TaskKey key;
  double model_ns = 0;  ///< all places together in one run of the untuned model

 protected:
  Tunable() = default;
  Tunable(const Tunable&) = default;
  Tunable(Tunable&&) = default;
  Tunable& operator=(const Tunable&) = default;
  Tunable& operator=(Tunable&&) = default;
};

}  // namespace aoe::tuner
