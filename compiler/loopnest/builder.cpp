// Builder: turns calls into the statements of one Function.
#include <utility>

#include "base/ceil_div.h"
#include "compiler/loopnest/expr_node.h"

namespace aoe::compiler::loopnest {
namespace {

constexpr std::int64_t kScratchAlignmentBytes = 64;

Int variable(int id) {
  return Int(
      std::make_shared<const ExprNode>(ExprNode{.op = Op::kVar, .type = Type::kInt, .id = id}));
}

StmtNode block(std::vector<Stmt> body) {
  return {.kind = StmtKind::kBlock, .body = std::move(body)};
}

}  // namespace

Builder::Builder(std::string name) {
  function_.name = std::move(name);
}

Buffer Builder::buffer(std::string name, Access access, Elements elements) {
  function_.buffers.push_back({.name = std::move(name), .elements = elements, .access = access});
  return {static_cast<int>(function_.buffers.size()) - 1};
}

Buffer Builder::scratch(std::string name, std::int64_t count, Elements elements) {
  function_.buffers.push_back({.name = std::move(name),
                               .elements = elements,
                               .access = Access::kReadWrite,
                               .scratch_offset = function_.scratch_bytes});
  function_.scratch_bytes += round_up(count * elements.bytes(), kScratchAlignmentBytes);
  return {static_cast<int>(function_.buffers.size()) - 1};
}

void Builder::emit(StmtNode node) {
  AOE_CHECK(!open_blocks_.empty(), function_.name + ": a statement outside parallel()");
  open_blocks_.back().push_back(std::make_shared<const StmtNode>(std::move(node)));
}

std::vector<Stmt> Builder::collect(const std::function<void()>& body) {
  open_blocks_.emplace_back();
  if (body) body();
  std::vector<Stmt> statements = std::move(open_blocks_.back());
  open_blocks_.pop_back();
  return statements;
}

void Builder::parallel(std::int64_t extent, const std::function<void(Int)>& body) {
  AOE_CHECK(!has_parallel_, function_.name + ": a second parallel()");
  AOE_CHECK(extent >= 0, function_.name + ": a parallel extent of " + std::to_string(extent));
  has_parallel_ = true;
  function_.parallel_variable = static_cast<int>(function_.variables.size());
  function_.parallel_extent = extent;
  function_.variables.emplace_back("p");
  const Int index = extent == 1 ? Int(0) : variable(function_.parallel_variable);
  function_.body = std::make_shared<const StmtNode>(block(collect([&] { body(index); })));
}

void Builder::parallel_rounds(std::int64_t rounds, std::int64_t extent,
                              const std::function<void(Int, Int)>& body) {
  AOE_CHECK(rounds > 0 && extent > 0, function_.name + ": rounds without iterations");
  parallel(rounds * extent, [&](Int iteration) { body(iteration / extent, iteration % extent); });
  function_.rounds = rounds;
  function_.parallel_extent = extent;
}

void Builder::loop(std::string name, Int begin, Int end, std::int64_t step,
                   const std::function<void(Int)>& body) {
  AOE_CHECK(step > 0, name + ": a loop step of " + std::to_string(step));
  if (const auto trip = (end - begin).constant()) {
    if (*trip <= 0) return;
    if (*trip <= step) return body(begin);
  }
  const int id = static_cast<int>(function_.variables.size());
  function_.variables.push_back(std::move(name));
  std::vector<Stmt> statements = collect([&] { body(variable(id)); });
  if (statements.empty()) return;
  emit({.kind = StmtKind::kLoop,
        .body = std::move(statements),
        .id = id,
        .args = {begin.e, end.e},
        .step = step});
}

void Builder::if_(Bool condition, const std::function<void()>& then,
                  const std::function<void()>& otherwise) {
  if (const auto known = condition.constant()) {
    if (*known) then();
    if (!*known && otherwise) otherwise();
    return;
  }
  std::vector<Stmt> on = collect(then), off = collect(otherwise);
  if (on.empty() && off.empty()) return;
  emit({.kind = StmtKind::kIf,
        .body = std::move(on),
        .otherwise = std::move(off),
        .args = {condition.e}});
}

Local Builder::local(Vec initial) {
  const Local fresh{static_cast<int>(function_.locals.size()), initial.lanes(), initial.type()};
  function_.locals.push_back({fresh.type, fresh.lanes});
  assign(fresh, initial);
  return fresh;
}

Vec Builder::get(Local local) const {
  return Vec(std::make_shared<const ExprNode>(
      ExprNode{.op = Op::kLocal, .type = local.type, .lanes = local.lanes, .id = local.id}));
}

void Builder::assign(Local local, Vec value) {
  AOE_CHECK(local.type == value.type(), function_.name + ": a local of another type assigned");
  AOE_CHECK(local.lanes == value.lanes(), function_.name + ": a local of " +
                                              std::to_string(local.lanes) + " lanes assigned " +
                                              std::to_string(value.lanes()));
  emit({.kind = StmtKind::kAssign, .id = local.id, .args = {value.e}});
}

Vec Builder::load(Buffer buffer, Int index, int lanes, std::optional<Int> active,
                  std::int64_t stride) const {
  return load_as(Type::kFloat, buffer, index, lanes, active, stride);
}

Vec Builder::load_as(Type type, Buffer buffer, Int index, int lanes, std::optional<Int> active,
                     std::int64_t stride) const {
  const Elements& elements = declared(buffer).elements;
  check_lanes(buffer, type, lanes);
  if (is_narrow(type) && !elements.are_in_words) {
    AOE_CHECK(stride == 1, declared(buffer).name + ": narrow lanes that are no neighbours");
    AOE_CHECK(!active || active->constant().value_or(1) % per_word(type) == 0,
              declared(buffer).name + ": a word in pieces");
  }
  const int moved = elements.are_in_words ? lanes / per_word(type) : lanes;
  if (active && active->constant() && *active->constant() >= moved) active.reset();
  if (active && active->constant() && *active->constant() <= 0) return splat(0.0, lanes, type);
  std::vector<Expr> args = {index.e};
  if (active) args.push_back(active->e);
  return Vec(std::make_shared<const ExprNode>(ExprNode{.op = Op::kLoad,
                                                       .type = type,
                                                       .lanes = lanes,
                                                       .args = std::move(args),
                                                       .id = buffer.id,
                                                       .stride = moved == 1 ? 1 : stride}));
}

/// What narrow lanes need of a buffer, and a buffer of words of what is read or written.
void Builder::check_lanes(Buffer buffer, Type type, int lanes) const {
  const auto& [name, elements, access, offset] = declared(buffer);
  AOE_CHECK(is_narrow(type) || !elements.are_in_words,
            name + ": words as lanes that are not narrow");
  if (!is_narrow(type)) return;
  AOE_CHECK(narrow_type(elements.dtype) == type, name + ": elements of " +
                                                     std::string(aoe::name(elements.dtype)) +
                                                     " as " + loopnest::name(type));
  AOE_CHECK(!elements.are_in_words || lanes % per_word(type) == 0, name + ": a part of a word");
}

const BufferDecl& Builder::declared(Buffer buffer) const {
  return function_.buffers[static_cast<std::size_t>(buffer.id)];
}

Vec Builder::load_indexed(Buffer buffer, Int base, Buffer indices, Int first, int lanes,
                          std::optional<Int> active) const {
  const BufferDecl& decl = declared(indices);
  check_lanes(buffer, Type::kFloat, lanes);
  AOE_CHECK(decl.access == Access::kRead && decl.elements.dtype == DataType::kInt32,
            decl.name + ": indices are int32 that is only read");
  if (active && active->constant() && *active->constant() >= lanes) active.reset();
  if (active && active->constant() && *active->constant() <= 0) return splat(0.0f, lanes);
  std::vector<Expr> args = {base.e, first.e};
  if (active) args.push_back(active->e);
  return Vec(std::make_shared<const ExprNode>(ExprNode{.op = Op::kLoadIndexed,
                                                       .type = Type::kFloat,
                                                       .lanes = lanes,
                                                       .args = std::move(args),
                                                       .ivalue = indices.id,
                                                       .id = buffer.id}));
}

Int Builder::load_int(Buffer buffer, Int index) const {
  const BufferDecl& decl = declared(buffer);
  AOE_CHECK(decl.access == Access::kRead, decl.name + ": load_int() of a buffer that is written");
  check_lanes(buffer, Type::kInt, 1);
  return Int(std::make_shared<const ExprNode>(
      ExprNode{.op = Op::kIntLoad, .type = Type::kInt, .args = {index.e}, .id = buffer.id}));
}

void Builder::store(Buffer buffer, Int index, Vec value, std::optional<Int> active,
                    std::int64_t stride) {
  const BufferDecl& decl = declared(buffer);
  AOE_CHECK(decl.access != Access::kRead, decl.name + ": a store to a buffer that is only read");
  AOE_CHECK(stride != 0, decl.name + ": a store of all lanes to one element");
  check_lanes(buffer, value.type(), value.lanes());
  const int moved = value.lanes() / (decl.elements.are_in_words ? per_word(value.type()) : 1);
  if (active && active->constant() && *active->constant() >= moved) active.reset();
  if (active && active->constant() && *active->constant() <= 0) return;
  std::vector<Expr> args = {index.e, value.e};
  if (active) args.push_back(active->e);
  emit({.kind = StmtKind::kStore,
        .id = buffer.id,
        .args = std::move(args),
        .step = moved == 1 ? 1 : stride});
}

void Builder::prefetch(Buffer buffer, Int index, int cache_level) {
  emit({.kind = StmtKind::kPrefetch, .id = buffer.id, .args = {index.e}, .step = cache_level});
}

void Builder::tile_shapes(std::vector<TileShape> shapes) {
  AOE_CHECK(shapes.size() <= 8, function_.name + ": more than eight tiles");
  emit({.kind = StmtKind::kTile, .tile = TileOp::kShapes, .shapes = std::move(shapes)});
}

void Builder::tile_zero(int tile) {
  emit({.kind = StmtKind::kTile, .tile = TileOp::kZero, .tiles = {tile}});
}

void Builder::tile_load(int tile, Buffer buffer, Int index, std::int64_t stride) {
  tile_types_.at(static_cast<std::size_t>(tile)) = narrow_type(declared(buffer).elements.dtype);
  emit({.kind = StmtKind::kTile,
        .id = buffer.id,
        .args = {index.e},
        .step = stride,
        .tile = TileOp::kLoad,
        .tiles = {tile}});
}

void Builder::tile_store(int tile, Buffer buffer, Int index, std::int64_t stride) {
  const BufferDecl& decl = declared(buffer);
  AOE_CHECK(
      decl.access != Access::kRead && decl.elements.bytes() == 4 && !decl.elements.are_in_words,
      decl.name + ": a tile is stored as words");
  emit({.kind = StmtKind::kTile,
        .id = buffer.id,
        .args = {index.e},
        .step = stride,
        .tile = TileOp::kStore,
        .tiles = {tile}});
}

void Builder::tile_dot(int sum, int a, int b) {
  const Type left = tile_types_.at(static_cast<std::size_t>(a));
  const Type right = tile_types_.at(static_cast<std::size_t>(b));
  AOE_CHECK(
      left == Type::kBfloat16 ? right == left : left == Type::kUint8 && right == Type::kInt8,
      function_.name + ": tiles of " + loopnest::name(left) + " and " + loopnest::name(right));
  emit({.kind = StmtKind::kTile, .tile = TileOp::kDot, .tiles = {sum, a, b}, .type = left});
}

Function Builder::finish() {
  AOE_CHECK(has_parallel_, function_.name + ": finish() without parallel()");
  return std::move(function_);
}

void vector_loop(Builder& builder, const std::string& name, std::int64_t extent, int lanes,
                 const std::function<void(Int, std::optional<Int> active)>& body) {
  const std::int64_t full = extent / lanes * lanes;
  builder.loop(name, 0, full, lanes, [&](Int i) { body(i, {}); });
  if (full < extent) body(Int(full), Int(extent - full));
}

}  // namespace aoe::compiler::loopnest
