// The shape rules of numpy.matmul.
#include "reference/products/matrix.h"

#include "reference/fail.h"

namespace aoe::reference {

MatMulShape matmul_shape(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) fail_model("a factor is a scalar, needs at least one axis");
  MatMulShape s{.a = a, .b = b, .batch = {}, .output = {}};
  if (a.size() == 1) s.a.insert(s.a.begin(), 1);
  if (b.size() == 1) s.b.push_back(1);
  s.m = s.a[s.a.size() - 2];
  s.k = s.a.back();
  s.n = s.b.back();
  const std::int64_t b_rows = s.b[s.b.size() - 2];
  if (s.k != b_rows && s.k != kUnknownDim && b_rows != kUnknownDim) {
    fail_model("factors " + to_string(a) + " and " + to_string(b) + " do not fit: " +
               std::to_string(s.k) + " columns against " + std::to_string(b_rows) + " rows");
  }
  s.batch = broadcast_shapes(Shape(s.a.begin(), s.a.end() - 2), Shape(s.b.begin(), s.b.end() - 2));
  s.output = s.batch;
  if (a.size() > 1) s.output.push_back(s.m);
  if (b.size() > 1) s.output.push_back(s.n);
  return s;
}

}  // namespace aoe::reference
