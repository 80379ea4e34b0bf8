// GearedOm: what an om file holds. One Om, or, of a model with dynamic gears, one for each gear; these share the
// weights and the code of the file, so that what gears have in common is there once.
//
//   GearedOm model = GearedOm::load("m_linux_x86_64.om");
//   GearedExecutor executor(model, {.threads = 2});             // geared_executor.h
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/gears.h"
#include "runtime/file_in_memory.h"
#include "runtime/om/load_budget.h"
#include "runtime/om/om.h"
#include "runtime/om/om_signature.h"

namespace aoe::runtime {

struct GearedOm {
  Gears gears;  ///< empty: one shape
  /// By gear; exactly one without gears. All view the same weights and code. Inputs and outputs agree in number, names,
  /// types and ranks.
  std::vector<Om> oms;

  /// The largest of any gear.
  std::uint64_t arena_bytes() const;

  /// To be written while this lives.
  OmFile file() const;
  std::string serialize() const;
  /// As Om::load() and Om::parse(). Throws Error(kOm), also when none of `keys` signed the file.
  static GearedOm load(const std::filesystem::path& path, const OmKeys& keys = {},
                       FileAs as = FileAs::kCopy);
  /// Throws Error(kOm) when the file has gears.
  static Om load_single(const std::filesystem::path& path, const OmKeys& keys = {});
  static GearedOm parse(std::string_view bytes, std::shared_ptr<const void> owner,
                        const std::string& where, LoadBudget budget = {});
  /// Looks at no bodies.
  static GearedOm parse_alone(std::string_view bytes, std::shared_ptr<const void> owner,
                              const std::string& where, LoadBudget& budget,
                              WeightLender* lender = nullptr);
};

}  // namespace aoe::runtime
