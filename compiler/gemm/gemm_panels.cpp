// See gemm_panels.h.
#include "compiler/gemm/gemm_panels.h"

#include <algorithm>
#include <bit>

#include "compiler/emit/bf16_pairs.h"
#include "reference/elements/typed.h"

namespace aoe::compiler {
namespace {

/// [panel][step of k][n_vectors / 2 * lanes] pairs of float16: columns of neighbouring vectors, low and high.
PackedConstant pack_fp16_panels(const ConstantPtr& b, const GemmCut& cut) {
  const std::int64_t lanes = cut.lanes(), row = cut.panel_columns() / 2;
  const auto elements = static_cast<std::size_t>(cut.panels() * cut.k_steps() * row);
  return {.size_bytes = elements * sizeof(float), .pack = [=](void* destination) {
            const MatMulShape& s = cut.shape();
            const float* from = b->view().as<float>();
            auto* to = static_cast<std::uint32_t*>(destination);
            const auto at = [&](std::int64_t k, std::int64_t column) {
              return column < s.n
                         ? std::uint32_t{reference::Float16(s.alpha *
                                                            from[k * s.b.row + column * s.b.column])
                                             .bits}
                         : 0u;
            };
            for (std::int64_t panel = 0; panel < cut.panels(); ++panel) {
              for (std::int64_t k = 0; k < s.k; ++k) {
                for (std::int64_t j = 0; j < row; ++j) {
                  const std::int64_t column =
                      panel * cut.panel_columns() + j / lanes * 2 * lanes + j % lanes;
                  *to++ = at(k, column) | at(k, column + lanes) << 16;
                }
              }
            }
          }};
}

/// The same of another type than float32: [panel][step of k][n_vectors * lanes].
PackedConstant pack_typed_panels(const ConstantPtr& b, const GemmCut& cut) {
  const std::int64_t elements = cut.panels() * cut.k_steps() * cut.panel_columns();
  return {
      .size_bytes = static_cast<std::size_t>(elements * cut.element_bytes()),
      .pack = [b, cut](void* destination) {
        using Types =
            reference::TypeList<double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
        reference::visit_type<Types>(cut.element_type(), [&]<typename T>() {
          const MatMulShape& s = cut.shape();
          const T* from = b->view().as<T>();
          T* to = static_cast<T*>(destination);
          for (std::int64_t panel = 0; panel < cut.panels(); ++panel) {
            const std::int64_t first = panel * cut.panel_columns();
            for (std::int64_t k = 0; k < s.k; ++k) {
              for (std::int64_t j = first; j < first + cut.panel_columns(); ++j) {
                T element{0};
                if (j < s.n) element = from[k * s.b.row + j * s.b.column];
                if constexpr (std::is_same_v<T, double>) element *= s.alpha;
                *to++ = element;
              }
            }
          }
        });
      }};
}

/// [panel][step of k][n_vectors * lanes] of alpha * B, zeros beyond the last column and row.
PackedConstant pack_panels(const ConstantPtr& b, const GemmCut& cut) {
  const auto elements =
      static_cast<std::size_t>(cut.panels() * cut.k_steps() * cut.panel_columns());
  return {.size_bytes = elements * sizeof(float), .pack = [b, cut](void* destination) {
            const MatMulShape& s = cut.shape();
            const float* from = b->view().as<float>();
            float* to = static_cast<float*>(destination);
            for (std::int64_t panel = 0; panel < cut.panels(); ++panel) {
              const std::int64_t first = panel * cut.panel_columns();
              const std::int64_t columns = std::min(cut.panel_columns(), s.n - first);
              const auto at = [&](std::int64_t k, std::int64_t j) {
                return k < s.k ? s.alpha * from[k * s.b.row + (first + j) * s.b.column] : 0.0f;
              };
              for (std::int64_t k = 0; k < cut.k_steps(); ++k, to += cut.panel_columns()) {
                for (std::int64_t j = 0; j < columns; ++j) {
                  to[j] = cut.is_bf16()
                              ? std::bit_cast<float>(bf16_pair(at(2 * k, j), at(2 * k + 1, j)))
                              : at(k, j);
                }
                std::fill(to + columns, to + cut.panel_columns(), 0.0f);
              }
            }
          }};
}

}  // namespace

PackedConstant packed_panels(const ConstantPtr& b, const GemmCut& cut) {
  if (cut.is_fp16()) return pack_fp16_panels(b, cut);
  return cut.element_type() == DataType::kFloat ? pack_panels(b, cut) : pack_typed_panels(b, cut);
}

}  // namespace aoe::compiler
