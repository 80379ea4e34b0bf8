// Members, Formats, rings and expected cycles of a row chain.
#include "compiler/chain/row_chain.h"

#include <algorithm>
#include <bit>

#include "compiler/conv/image_store.h"

namespace aoe::compiler {
namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};

bool is_pool(const Task& task) {
  return reference::is_pooling(task.op.type);
}

bool is_depthwise(const Task& task, const Soc& soc) {
  return impls().find("depthwise")->supports(task, soc).has_value();
}

Result<void> supports_member(const Task& task, const Soc& soc) {
  if (is_pool(task)) return impls().find("pool")->supports(task, soc);
  if (is_depthwise(task, soc)) return {};
  return impls().find("direct")->supports(task, soc);
}

RowCut cut_of(const Task& task, const FormatChoice& format, const Soc& soc,
              const RowTiling& tiling) {
  const int lanes = soc.vector_lanes();
  if (is_pool(task)) {
    return PoolCut{.window = *pool_window(task),
                   .channels = task.in(0).shape[1],
                   .lanes = lanes,
                   .ow_block = tiling.ow_block};
  }
  const ConvShape shape = *conv_shape(task);
  if (is_depthwise(task, soc)) {
    return DepthwiseCut(shape, format.inputs[0], lanes,
                        {.ow_block = tiling.ow_block, .unroll_rows = 0});
  }
  return DirectCut(
      shape, format.inputs[0], format.outputs[0], lanes,
      {.oc_vectors = tiling.oc_vectors, .ow_block = tiling.ow_block, .ic_unroll = tiling.ic_unroll},
      false);
}

/// Formats of a member of which the chain's neighbours see only what is not in a ring.
FormatChoice member_format(const std::vector<ChainMember>& members, std::size_t i,
                           const std::string& name, Format in, Format out) {
  FormatChoice format = image_format(members[i].task, name, i == 0 ? in : Format::kNC1HWC0, out);
  if (i + 1 < members.size()) format.outputs[0] = Format::kNC1HWC0;
  return format;
}

}  // namespace

WindowAxis RowMember::rows() const {
  return std::visit(Overloaded{[](const PoolCut& p) { return p.window.height(); },
                               [](const auto& p) { return p.shape().row_axis(); }},
                    cut);
}

std::int64_t RowMember::registers() const {
  return std::visit(Overloaded{[](const PoolCut& p) { return p.ow_block + 1; },
                               [](const auto& p) { return p.registers(); }},
                    cut);
}

std::int64_t RowMember::body_fmas() const {
  return std::visit(Overloaded{[](const PoolCut& p) { return p.body_loads(); },
                               [](const auto& p) { return p.body_fmas(); }},
                    cut);
}

double RowMember::cycles() const {
  return std::visit(Overloaded{[](const PoolCut& p) { return p.core_cycles(); },
                               [](const DepthwiseCut& p) { return p.core_cycles(); },
                               [](const DirectCut& p) { return p.work().cycles; }},
                    cut);
}

std::int64_t RowMember::weight_bytes() const {
  const auto* direct = std::get_if<DirectCut>(&cut);
  return direct == nullptr ? 0 : 4 * direct->weight_elements();
}

RowChain::RowChain(const std::vector<ChainMember>& members, const FormatChoice& format,
                   const Soc& soc, const RowChainTiling& tiling)
    : tiling_(tiling), lanes_(soc.vector_lanes()) {
  tiling_.members.resize(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    FormatChoice own = member_format(members, i, format.name, format.inputs[0], format.outputs[0]);
    RowCut cut = cut_of(members[i].task, own, soc, tiling_.members[i]);
    members_.push_back({members[i], std::move(own), std::move(cut)});
  }
}

std::int64_t RowChain::batch() const {
  return members_[0].member.task.in(0).shape[0];
}

std::int64_t RowChain::out_rows() const {
  return members_.back().rows().output;
}

ImageLayout RowChain::ring(std::size_t i) const {
  // The most rows that a member computes at once, which is at the start of a strip, and the rows before it that these need.
  std::int64_t rows = tiling_.step_rows;
  for (std::size_t m = members_.size() - 1; m > i; --m) {
    const WindowAxis axis = members_[m].rows();
    rows = std::min((rows - 1) * axis.stride + axis.reach(), axis.input);
  }
  // A power of two: the place of a row is a mask and no division.
  const auto places = std::bit_ceil(static_cast<std::uint64_t>(rows));
  const Shape& shape = members_[i].member.task.out().shape;
  return ring_layout(shape[1], shape[3], static_cast<std::int64_t>(places), lanes_);
}

std::int64_t RowChain::scratch_bytes() const {
  std::int64_t elements = 0;
  for (std::size_t i = 0; i + 1 < members_.size(); ++i) elements += ring_elements(ring(i));
  return elements * static_cast<std::int64_t>(sizeof(float));
}

double RowChain::cycles() const {
  double cycles = members_.back().cycles();
  // What a strip needs of each member; strips in the middle need the most, and there is no other kind of many.
  std::int64_t rows = (out_rows() + tiling_.strips - 1) / tiling_.strips;
  for (std::size_t i = members_.size() - 1; i > 0; --i) {
    const WindowAxis axis = members_[i].rows();
    rows = std::min((rows - 1) * axis.stride + axis.reach(), axis.input);
    const double computed =
        static_cast<double>(rows * tiling_.strips) / static_cast<double>(axis.input);
    cycles += members_[i - 1].cycles() * std::max(1.0, computed);
  }
  return cycles;
}

Result<void> supports_row_chain(const std::vector<ChainMember>& members, const Soc& soc) {
  if (members.size() < 2 || members.size() > kMostChainMembers) {
    return Unexpected(std::to_string(members.size()) + " members, needs 2 to " +
                      std::to_string(kMostChainMembers));
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto supported = supports_member(members[i].task, soc);
    if (!supported) {
      return Unexpected("member " + std::to_string(i) + ", " + members[i].task.anchor().type +
                        ": " + supported.error());
    }
  }
  return {};
}

std::optional<FormatChoice> row_chain_format(const Task& chain,
                                             const std::vector<ChainMember>& members,
                                             const std::string& name, Format in, Format out) {
  FormatChoice choice{.name = name, .inputs = {}, .outputs = {out}};
  for (const TaskInput& input : chain.inputs)
    choice.inputs.push_back(input.is_present() && input.constant ? Format::kND
                                                                 : Format::kUndefined);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const FormatChoice own = member_format(members, i, name, in, out);
    for (std::size_t k = 0; k < own.inputs.size(); ++k) {
      if (members[i].chain_inputs[k] < 0) continue;
      Format& format = choice.inputs[static_cast<std::size_t>(members[i].chain_inputs[k])];
      if (format != Format::kUndefined && format != own.inputs[k]) return std::nullopt;
      format = own.inputs[k];
    }
  }
  return choice;
}

}  // namespace aoe::compiler
