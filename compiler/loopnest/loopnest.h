// The loop-nest language: how generated Impls say what to compute, and in which order.
//
// A Function is loops over 64-bit indices around vector statements. A vector has an element type, float32 unless it says
// another (types.h); loads and stores convert between the types of memory and those of lanes. An Impl writes one with
// Builder, with its Schedule's parameters already applied: tiles are loop bounds and steps, register blocks are C++ loops
// over Locals, unrolling is a C++ loop that emits its body n times. codegen.h lowers any Function to machine code through
// LLVM; there is one lowering for all operators. Nothing here knows LLVM.
//
//   Builder b("scale");
//   Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kWrite);
//   b.parallel(rows, [&](Int row) {
//     b.loop("i", 0, cols, 16, [&](Int i) {
//       Int active = min(Int(16), Int(cols) - i);  // tail lanes are masked, never over-read
//       Vec scaled = b.load(x, row * cols + i, 16, active) * splat(2.0f, 16);
//       b.store(y, row * cols + i, scaled, active);
//     });
//   });
//   Function f = b.finish();
//
// Semantics: indices count elements, not bytes; distinct buffers never overlap; an expression is
// evaluated where the statement that uses it stands (a load() used after a store sees the store;
// keep a value with local()). Int division and modulo are for non-negative operands; floats are
// IEEE binary32 or binary64 without reassociation, but a*b+c written as fma() is one rounding; exp/log/tanh/erf
// and the trigonometric and hyperbolic functions are within 4 ulp or 1e-7 absolute, whichever is larger; of float64 there
// are exp, log and the hyperbolic ones, within 4 ulp.
// Integers of lanes wrap around. Statements run in program order inside
// one parallel iteration; different iterations of a round may run on different threads in any order and must
// not write what another one reads or writes. A Function is one round, unless it says parallel_rounds().
//
// ABI of the machine code: void f(void* const* buffers, int64_t begin, int64_t end, void* scratch),
// noexcept: runs parallel iterations [begin, end), counted through all rounds; `buffers` in the order of Builder::buffer()
// calls, `scratch` at least Function::scratch_bytes, 64-byte aligned, private to the calling
// thread, undefined contents.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "compiler/loopnest/types.h"

namespace aoe::compiler::loopnest {

// ---- expressions ----

enum class Op {
#define OP(name, text, precedence) name,
#include "compiler/loopnest/ops.inc"
#undef OP
};

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

struct ExprNode {
  Op op;
  Type type;
  int lanes = 1;
  std::vector<Expr> args = {};  ///< kLoad: index[, active]; kLoadIndexed: base,
                                ///< index of the first lane's index[, active]
  std::int64_t ivalue =
      0;  ///< kIntConst, kIntSplat; kTransposeRow: the row; kInterleave: which vector; kLoadIndexed: the buffer of
          ///< the indices
  double fvalue = 0;           ///< kFloatConst; of float32 lanes a float
  int id = -1;                 ///< kVar: variable; kLocal: local; kLoad...: buffer
  std::int64_t stride = 1;     ///< kLoad: elements between lanes; 0 = one element for all lanes
  std::vector<int> from = {};  ///< kPermute
};

/// A 64-bit index expression. Arithmetic on constants folds.
struct Int {
  Expr e;
  Int(std::int64_t value);                      // NOLINT: implicit by design
  Int(int value) : Int(std::int64_t{value}) {}  // NOLINT
  explicit Int(Expr expr) : e(std::move(expr)) {}
  std::optional<std::int64_t> constant() const;
};
Int operator+(Int a, Int b);
Int operator-(Int a, Int b);
Int operator*(Int a, Int b);
Int operator/(Int a, Int b);
Int operator%(Int a, Int b);
Int min(Int a, Int b);
Int max(Int a, Int b);

/// A scalar condition on indices. Constants fold.
struct Bool {
  Expr e;
  explicit Bool(Expr expr) : e(std::move(expr)) {}
  std::optional<bool> constant() const;
};
Bool operator<(Int a, Int b);
Bool operator<=(Int a, Int b);
Bool operator==(Int a, Int b);
Bool operator!=(Int a, Int b);
Bool operator&&(Bool a, Bool b);
Bool operator||(Bool a, Bool b);
Bool operator!(Bool a);

/// A vector of `lanes()` elements of a type (1 = scalar): 512 bits are 16 of float32, 32 of bfloat16, 64 of int8. Operands must
/// have equal lanes and types.
struct Vec {
  Expr e;
  explicit Vec(Expr expr) : e(std::move(expr)) {}
  int lanes() const { return e->lanes; }
  Type type() const { return e->type; }
};
Vec operator+(Vec a, Vec b);
Vec operator-(Vec a, Vec b);
Vec operator*(Vec a, Vec b);
Vec operator/(Vec a, Vec b);
Vec operator-(Vec a);
inline Vec add(Vec a, Vec b) {  ///< for who is handed a function
  return a + b;
}
Vec min(Vec a, Vec b);  ///< NaN in either gives NaN; integers are signed
Vec max(Vec a, Vec b);
Vec max(Vec a, Vec b, Vec c);  ///< in four instructions, where two of two take six
/// a * b + c in one rounding. Of float16 on a Soc without fp16 in two, through float32, so the last bit may differ.
Vec fma(Vec a, Vec b, Vec c);
Vec abs(Vec a);
#define REAL_FUNCTION(op, function) Vec function(Vec a);
#include "base/real_functions.inc"
#undef REAL_FUNCTION
Vec sigmoid(Vec a);      ///< 1 / (1 + e^-a)
Vec log1p(Vec a);        ///< log(1 + a), of small a with all their digits
Vec fmod(Vec a, Vec b);  ///< exact, as the C library's
Vec pow(Vec base, Vec exponent);
Vec floor(Vec a);
Vec round_even(Vec a);
Vec round_to(Vec a,
             DataType dtype);  ///< what a store to a buffer of this type and a load give back
Vec reduce_add(Vec a);         ///< 1 lane; the two halves are added first
Vec reduce_max(Vec a);
Vec reduce_min(Vec a);
Vec splat(float value, int lanes);
/// Of any type; whole for integers.
Vec splat(double value, int lanes, Type type);
Vec broadcast(Vec a, int lanes);    ///< of 1 lane, or of the narrow lanes of a word
Vec to_float(Int value);            ///< 1 lane
Vec to_lane(Int value, Type type);  ///< 1 lane
/// Row `row` of the transpose of a square block: result[j] == rows[j][row]. rows.size() == lanes.
Vec transpose_row(const std::vector<Vec>& rows, int row);
/// Vector `part` of lane 0 of all rows, then lane 1 of all rows, ...: as many vectors as there are rows.
Vec interleave(const std::vector<Vec>& rows, int part);
/// Lane i is lane from[i] of `a`, or lane from[i] - lanes of `b`.
Vec permute(Vec a, std::vector<int> from);
Vec permute(Vec a, Vec b, std::vector<int> from);
/// Lane i is lane places[i] of `a` and, behind them, `b`, counted modulo both; places are int32, the others int32 or float32,
/// all of as many lanes as vectors of the Soc have.
Vec pick(Vec places, Vec a, Vec b);
/// The same bits as lanes of another type, more or fewer of them.
Vec bits_as(Vec a, Type to);
/// Sums of neighbouring products: to each lane of `sum` come those of the word of `a` and `b` in its place. bfloat16 times bfloat16
/// into float32, for a Soc with bf16 only, subnormal numbers count as zeros; int16 times int16 and uint8 times int8 into int32,
/// exact but for sums that wrap around: one instruction on a Soc with vnni, else a few.
Vec dot(Vec a, Vec b, Vec sum);

/// To the nearest integer, ties to even, plus `zero`, which is a byte: uint8, the nearest that there is, of NaN 0.
Vec round_to_byte(Vec a, int zero);

/// Vectors of integers, besides + - * and negation, which wrap around.
Vec int_splat(std::int64_t value, int lanes, Type type);
Vec int_divide(Vec a, Vec b, bool is_signed);  ///< toward zero; 0 where b is 0
Vec shift_left(Vec a, Vec distance);           ///< distances are below the width
Vec shift_right(Vec a, Vec distance);          ///< zeros come in
Vec bit_and(Vec a, Vec b);
Vec bit_or(Vec a, Vec b);
Vec bit_xor(Vec a, Vec b);
/// Real numbers to integers toward zero, to the nearest that there is, NaN to 0; to real ones to the nearest. Integers to
/// narrower ones lose their high bits. `is_signed` is about the integers that are read, unless these are uint8. Narrow lanes are made
/// of float32 and int32, and become these again.
Vec convert(Vec a, Type to, bool is_signed = true);
/// The lanes of `low`, then those of `high`: two vectors of float32 to one of bfloat16, for a Soc with bf16 only.
Vec convert(Vec low, Vec high, Type to);

/// A mask of lanes.
struct Mask {
  Expr e;
  explicit Mask(Expr expr) : e(std::move(expr)) {}
};
Mask operator<(Vec a, Vec b);
Mask operator<=(Vec a, Vec b);
Mask operator==(Vec a, Vec b);
Mask active_lanes(Int count, int lanes);  ///< lane i is on when i < count
Mask operator&(Mask a, Mask b);
Mask operator|(Mask a, Mask b);
Mask operator^(Mask a, Mask b);
Mask operator!(Mask a);
Vec select(Mask mask, Vec if_on, Vec if_off);

// ---- statements ----

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;

enum class StmtKind { kBlock, kLoop, kIf, kStore, kAssign, kPrefetch, kTile };

/// What a statement does with tiles; see Builder::tiles().
enum class TileOp { kShapes, kZero, kLoad, kStore, kDot };

/// A tile has up to 16 rows of up to 16 int32 or float32 words.
struct TileShape {
  int rows = 16, words = 16;
};

struct StmtNode {
  StmtKind kind;
  std::vector<Stmt> body = {};       ///< kBlock, kLoop, kIf (then)
  std::vector<Stmt> otherwise = {};  ///< kIf (else)
  int id = -1;                       ///< kLoop: variable; kStore, kPrefetch: buffer; kAssign: local
  std::vector<Expr> args = {};       ///< kLoop: begin, end; kIf: condition; kStore: index, value[,
                                     ///< active]; kAssign: value; kPrefetch: index
  std::int64_t step = 1;             ///< kLoop; kStore: stride between lanes (elements);
      ///< kPrefetch: cache level; kTile: stride between rows (elements)
  TileOp tile =
      TileOp::kShapes;  ///< kTile, of `id` a buffer and args an index, where it is a load or store
  std::vector<int> tiles = {};         ///< kTile: the numbers; of kDot: sum, a, b
  Type type = Type::kInt;              ///< kTile: of kDot, the elements of `a`
  std::vector<TileShape> shapes = {};  ///< kTile: of kShapes
};

enum class Access { kRead, kWrite, kReadWrite };

struct BufferDecl {
  std::string name;
  /// Loads convert to lanes, float32 unless they say otherwise, and stores convert back.
  Elements elements = {};
  Access access = Access::kRead;
  std::int64_t scratch_offset = -1;  ///< bytes into scratch; -1: a buffer of the ABI
};

struct LocalDecl {
  Type type = Type::kFloat;
  int lanes = 1;
};

struct Function {
  std::string name;                    ///< the symbol; made unique by whoever links several
  std::vector<BufferDecl> buffers;     ///< by buffer id; ABI buffers keep their declaration order
  std::vector<std::string> variables;  ///< by variable id, for texts
  std::vector<LocalDecl> locals;       ///< by local id
  int parallel_variable = -1;
  std::int64_t parallel_extent = 1;  ///< iterations of one round
  std::int64_t rounds = 1;           ///< each begins when the one before has ended
  std::int64_t scratch_bytes = 0;
  Stmt body;
};

/// Stable text of a function, for golden tests, dumps, and as the key under which equal functions
/// are compiled once (the name is not part of it).
std::string to_text(const Function& function);

struct Buffer {
  int id;
};
struct Local {
  int id;
  int lanes;
  Type type = Type::kFloat;
};

/// Writes one Function. Bodies are lambdas run at once, so C++ loops around statements unroll them.
class Builder {
 public:
  explicit Builder(std::string name);

  Buffer buffer(std::string name, Access access, Elements elements = {});
  /// Per thread, 64-byte aligned; `count` words of those that lie in words.
  Buffer scratch(std::string name, std::int64_t count, Elements elements = {});

  /// The outermost loop, exactly once: iterations [0, extent) may run on different threads.
  void parallel(std::int64_t extent, const std::function<void(Int)>& body);
  /// The same `rounds` times over: body(round, iteration). What one round has written the next may read.
  void parallel_rounds(std::int64_t rounds, std::int64_t extent,
                       const std::function<void(Int, Int)>& body);
  /// Runs zero times when begin >= end. A loop whose trip count is a constant 1 is emitted without
  /// a loop.
  void loop(std::string name, Int begin, Int end, std::int64_t step,
            const std::function<void(Int)>& body);
  void if_(Bool condition, const std::function<void()>& then,
           const std::function<void()>& otherwise = {});

  /// A mutable vector kept in a register.
  Local local(Vec initial);
  Vec get(Local local) const;
  void assign(Local local, Vec value);

  /// `active`: only lanes below it are read (the others are 0) or written. `stride`: elements
  /// between lanes, 0 = broadcast.
  Vec load(Buffer buffer, Int index, int lanes, std::optional<Int> active = {},
           std::int64_t stride = 1) const;
  /// The same as lanes of a type; integer ones of a buffer of integers or bool. Narrow ones are elements of the buffer as they are. Where
  /// they lie in words, `active` and `stride` are about these: with stride 0 one pair or quad fills the vector. Elsewhere they are
  /// neighbours, and `active` a constant that leaves no word in pieces.
  Vec load_as(Type type, Buffer buffer, Int index, int lanes, std::optional<Int> active = {},
              std::int64_t stride = 1) const;
  Vec load_broadcast(Buffer buffer, Int index, int lanes) const {
    return load(buffer, index, lanes, {}, 0);
  }
  /// Lane i is element base + indices[first + i] of `buffer`; `indices` holds int32 and is only read.
  Vec load_indexed(Buffer buffer, Int base, Buffer indices, Int first, int lanes,
                   std::optional<Int> active = {}) const;
  /// Narrow lanes go to a buffer of their elements; see load_as().
  void store(Buffer buffer, Int index, Vec value, std::optional<Int> active = {},
             std::int64_t stride = 1);
  /// A hint; the index may lie outside the buffer. Into L1, or only as near as L2 with `cache_level` 2.
  void prefetch(Buffer buffer, Int index, int cache_level = 1);

  // Tiles: eight registers, for a Soc with amx only, each of a shape that tile_shapes() gives it.

  /// By number; of tiles that are used from here on, in whatever branch. They become zeros.
  void tile_shapes(std::vector<TileShape> shapes);
  void tile_zero(int tile);
  /// Rows of narrow elements from `index` on, `stride` apart.
  void tile_load(int tile, Buffer buffer, Int index, std::int64_t stride);
  void tile_store(int tile, Buffer buffer, Int index, std::int64_t stride);
  /// sum[m][n] += a[m][k] times b[k][n], over all words k of a row of `a`, as dot() multiplies them: bfloat16, or uint8 by int8, whatever
  /// the two were loaded with last.
  void tile_dot(int sum, int a, int b);

  /// One element of an integer buffer (int8, uint8, int32, int64, bool), which must be
  /// Access::kRead.
  Int load_int(Buffer buffer, Int index) const;

  Function finish();

 private:
  const BufferDecl& declared(Buffer buffer) const;
  void check_lanes(Buffer buffer, Type type, int lanes) const;
  void emit(StmtNode node);
  std::vector<Stmt> collect(const std::function<void()>& body);
  Function function_;
  std::vector<std::vector<Stmt>> open_blocks_;
  bool has_parallel_ = false;
  std::array<Type, 8> tile_types_{};  ///< what was loaded last
};

/// Covers [0, extent) with vectors: a loop over full ones, then at most one tail. `active` is empty
/// in full vectors and the constant number of remaining lanes in the tail, ready to be passed to
/// load() and store().
void vector_loop(Builder& builder, const std::string& name, std::int64_t extent, int lanes,
                 const std::function<void(Int, std::optional<Int> active)>& body);

}  // namespace aoe::compiler::loopnest

namespace aoe::compiler {

// What Impls write in.
using loopnest::bits_as;
using loopnest::Bool;
using loopnest::Buffer;
using loopnest::Builder;
using loopnest::Elements;
using loopnest::Int;
using loopnest::int_splat;
using loopnest::Local;
using loopnest::Mask;
using loopnest::splat;
using loopnest::Type;
using loopnest::Vec;
using loopnest::words_of;

}  // namespace aoe::compiler
