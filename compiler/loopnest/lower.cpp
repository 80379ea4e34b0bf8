// See lower.h: statements become blocks, expressions become values. Tested differentially against
// the interpreter of tests/compiler/loopnest_eval.h.
#include "compiler/loopnest/lower.h"

#include <llvm/IR/Intrinsics.h>

#include <unordered_map>

#include "base/check.h"
#include "compiler/loopnest/element_conversion.h"
#include "compiler/loopnest/index_values.h"
#include "compiler/loopnest/lane_moves.h"
#include "compiler/loopnest/lane_operations.h"
#include "compiler/loopnest/memory.h"
#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {
namespace {

using llvm::BasicBlock;
using llvm::Value;

class Lowering {
 public:
  Lowering(const Function& source, const Soc& soc, llvm::Function* target)
      : source_(source),
        soc_(soc),
        target_(target),
        ir_(BasicBlock::Create(target->getContext(), "entry", target)),
        memory_(ir_, source, target->getArg(0), target->getArg(3)) {}

  void run() {
    for (std::size_t i = 0; i < source_.locals.size(); ++i) {
      const LocalDecl& local = source_.locals[i];
      locals_.push_back(ir_.CreateAlloca(lane_type(ir_, local.type, local.lanes)));
    }
    known_locals_.resize(locals_.size());
    loop(source_.parallel_variable, target_->getArg(1), target_->getArg(2), 1, true,
         source_.body->body);
    if (used_.has(Feature::kAmx)) soc_.target->release_tiles(ir_);
    ir_.CreateRetVoid();
    if (used_ != runtime::FeatureSet{})
      target_->addFnAttr("target-features", runtime::llvm_features(soc_.target->name(), used_));
  }

 private:
  /// By their bits, whatever lanes they are.
  Value* picked(Value* places, Value* a, Value* b) {
    llvm::Type* const words = places->getType();
    Value* bits =
        soc_.target->pick(ir_, places, ir_.CreateBitCast(a, words), ir_.CreateBitCast(b, words));
    return ir_.CreateBitCast(bits, a->getType());
  }

  // ---- statements ----

  void statements(const std::vector<Stmt>& body) {
    for (const Stmt& s : body) statement(*s);
  }

  void statement(const StmtNode& s) {
    values_of_statement_.clear();
    switch (s.kind) {
      case StmtKind::kBlock:
        return statements(s.body);
      case StmtKind::kLoop: {
        const Expr& begin = s.args[0];
        const Expr& end = s.args[1];
        const bool may_be_empty = !(Int(begin) < Int(end)).constant().value_or(false);
        return loop(s.id, indices_.value(begin), indices_.value(end), s.step, may_be_empty, s.body);
      }
      case StmtKind::kIf:
        return branch(s);
      case StmtKind::kStore:
        return memory_.store(indices_.place(s.id, s.args[0]), value(s.args[1]), s.args[1]->type,
                             s.step, s.args.size() > 2 ? indices_.value(s.args[2]) : nullptr);
      case StmtKind::kAssign: {
        Value* assigned = value(s.args[0]);
        const auto id = static_cast<std::size_t>(s.id);
        ir_.CreateStore(assigned, locals_[id]);
        known_locals_[id] = assigned;
        return;
      }
      case StmtKind::kPrefetch:
        return memory_.prefetch(indices_.place(s.id, s.args[0]), static_cast<int>(s.step));
      case StmtKind::kTile:
        return tile(s);
    }
  }

  void tile(const StmtNode& s) {
    need(Feature::kAmx);
    const Target& target = *soc_.target;
    switch (s.tile) {
      case TileOp::kShapes: {
        std::vector<Target::TileShape> shapes;
        for (const TileShape& each : s.shapes) shapes.push_back({each.rows, 4 * each.words});
        return target.tile_shapes(ir_, shapes);
      }
      case TileOp::kZero:
        return target.tile_zero(ir_, s.tiles[0]);
      case TileOp::kLoad:
        return target.tile_load(ir_, s.tiles[0],
                                memory_.address_of(indices_.place(s.id, s.args[0])),
                                s.step * memory_.element_bytes(s.id));
      case TileOp::kStore:
        return target.tile_store(ir_, s.tiles[0],
                                 memory_.address_of(indices_.place(s.id, s.args[0])),
                                 s.step * memory_.element_bytes(s.id));
      case TileOp::kDot:
        return s.type == Type::kBfloat16
                   ? target.tile_dot_bf16(ir_, s.tiles[0], s.tiles[1], s.tiles[2])
                   : target.tile_dot_u8s8(ir_, s.tiles[0], s.tiles[1], s.tiles[2]);
    }
  }

  /// A counted loop with its test at the bottom, and one in front of it when it may run zero times.
  void loop(int variable, Value* begin, Value* end, std::int64_t step, bool may_be_empty,
            const std::vector<Stmt>& body) {
    BasicBlock* before = ir_.GetInsertBlock();
    BasicBlock* head = new_block("loop");
    BasicBlock* after = new_block("after");
    if (may_be_empty) {
      ir_.CreateCondBr(ir_.CreateICmpSLT(begin, end), head, after);
    } else {
      ir_.CreateBr(head);
    }
    ir_.SetInsertPoint(head);
    auto* counter = ir_.CreatePHI(ir_.getInt64Ty(), 2);
    counter->addIncoming(begin, before);
    indices_.set_variable(variable, counter);
    in_scope([&] { statements(body); });
    Value* next = ir_.CreateNSWAdd(counter, ir_.getInt64(static_cast<std::uint64_t>(step)));
    counter->addIncoming(next, ir_.GetInsertBlock());
    ir_.CreateCondBr(ir_.CreateICmpSLT(next, end), head, after);
    ir_.SetInsertPoint(after);
    forget_locals();
  }

  void branch(const StmtNode& s) {
    BasicBlock* then = new_block("then");
    BasicBlock* after = new_block("after");
    BasicBlock* otherwise = s.otherwise.empty() ? after : new_block("else");
    ir_.CreateCondBr(indices_.condition(s.args[0]), then, otherwise);
    ir_.SetInsertPoint(then);
    in_scope([&] { statements(s.body); });
    ir_.CreateBr(after);
    if (!s.otherwise.empty()) {
      ir_.SetInsertPoint(otherwise);
      in_scope([&] { statements(s.otherwise); });
      ir_.CreateBr(after);
    }
    ir_.SetInsertPoint(after);
    forget_locals();
  }

  BasicBlock* new_block(const char* name) {
    return BasicBlock::Create(target_->getContext(), name, target_);
  }

  /// Index values made inside `body` do not dominate what follows it.
  template <typename Body>
  void in_scope(Body body) {
    const std::size_t mark = indices_.mark();
    forget_locals();
    body();
    indices_.forget_since(mark);
  }

  void forget_locals() { std::fill(known_locals_.begin(), known_locals_.end(), nullptr); }

  // ---- vectors ----

  /// Evaluated once per statement, however often the statement mentions it.
  Value* value(const Expr& e) {
    if (const auto known = values_of_statement_.find(e.get());
        known != values_of_statement_.end()) {
      return known->second;
    }
    Value* made = make_value(*e);
    values_of_statement_[e.get()] = made;
    return made;
  }

  Value* make_value(const ExprNode& e) {
    switch (e.op) {
      case Op::kFloatConst:
        return llvm::ConstantFP::get(lane_type(ir_, e.type, e.lanes), e.fvalue);
      case Op::kLocal:
        return local(e.id);
      case Op::kLoad:
        return memory_.load(indices_.place(e.id, e.args[0]), e.lanes, e.stride,
                            e.args.size() > 1 ? indices_.value(e.args[1]) : nullptr, e.type);
      case Op::kIntSplat:
        return llvm::ConstantInt::get(lane_type(ir_, e.type, e.lanes),
                                      static_cast<std::uint64_t>(e.ivalue));
      case Op::kRoundTo:
        return round_to(ir_, value(e.args[0]), static_cast<DataType>(e.ivalue));
      case Op::kLoadIndexed:
        return memory_.load_indexed(indices_.place(e.id, e.args[0]),
                                    indices_.place(static_cast<int>(e.ivalue), e.args[1]), e.lanes,
                                    e.args.size() > 2 ? indices_.value(e.args[2]) : nullptr);
      case Op::kIntToLane:
        return convert_lanes(ir_, indices_.value(e.args[0]), e.type, true);
      case Op::kActiveLanes:
        return memory_.active_mask(indices_.value(e.args[0]), e.lanes);
      case Op::kTransposeRow:
        return emit_transpose_row(ir_, values(e.args), static_cast<int>(e.ivalue));
      case Op::kInterleave:
        return emit_interleave(ir_, values(e.args), static_cast<int>(e.ivalue));
      case Op::kPermute:
        return ir_.CreateShuffleVector(value(e.args.front()), value(e.args.back()), e.from);
      case Op::kPick:
        return picked(value(e.args[0]), value(e.args[1]), value(e.args[2]));
      case Op::kDot:
        return dot(e);
      case Op::kConvert:
        if (e.args.size() == 1) return unary(e);
        need(Feature::kBf16);
        return soc_.target->pack_bf16(ir_, value(e.args[0]), value(e.args[1]));
      case Op::kFma:
        if (e.type == Type::kFloat16)
          return emit_fma_f16(ir_, value(e.args[0]), value(e.args[1]), value(e.args[2]),
                              use(Feature::kFp16));
        return emit_fma(ir_, value(e.args[0]), value(e.args[1]), value(e.args[2]));
      case Op::kMax3:
        return emit_max3(ir_, value(e.args[0]), value(e.args[1]), value(e.args[2]));
      case Op::kRoundToByte:
        return round_to_byte(value(e.args[0]), static_cast<int>(e.ivalue));
      case Op::kSelect:
        return ir_.CreateSelect(value(e.args[0]), value(e.args[1]), value(e.args[2]));
      default:
        return e.args.size() == 1 ? unary(e) : binary(e);
    }
  }

  /// What is larger than any int32 is a large unsigned number as well, so one bound is left to the integers, and a store of
  /// the bytes has it for free.
  Value* round_to_byte(Value* a, int zero) {
    Value* least = llvm::ConstantFP::get(a->getType(), -zero);
    Value* bounded =
        ir_.CreateSelect(ir_.CreateFCmpOGT(a, least), a, least);  // NaN gives the bound
    Value* whole = soc_.target->round_to_int32(ir_, bounded);
    const auto number = [&](int n) {
      return llvm::ConstantInt::get(whole->getType(), static_cast<std::uint64_t>(n));
    };
    Value* byte = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin,
                                            ir_.CreateAdd(whole, number(zero)), number(255));
    return ir_.CreateTrunc(byte, int_type(byte, 8));
  }

  Value* dot(const ExprNode& e) {
    const Target& target = *soc_.target;
    const auto words = [&](std::size_t i) { return words_of(ir_, value(e.args[i])); };
    switch (e.args[0]->type) {
      case Type::kBfloat16:
        need(Feature::kBf16);
        return target.dot_bf16(ir_, value(e.args[0]), value(e.args[1]), value(e.args[2]));
      case Type::kUint8:
        return target.dot_u8s8(ir_, words(0), words(1), value(e.args[2]), use(Feature::kVnni));
      default:
        return target.dot_i16(ir_, words(0), words(1), value(e.args[2]), use(Feature::kVnni));
    }
  }

  /// One lane, or one word, again and again.
  Value* broadcast(const ExprNode& e, Value* a) {
    if (e.args[0]->lanes == 1) return ir_.CreateVectorSplat(static_cast<unsigned>(e.lanes), a);
    const int words = e.lanes / per_word(e.type);
    Value* all = ir_.CreateVectorSplat(static_cast<unsigned>(words), words_of(ir_, a));
    return ir_.CreateBitCast(all, lane_type(ir_, e.type, e.lanes));
  }

  /// Whether the Soc has it, which the function then asks for; one that uses none keeps to the baseline.
  bool use(Feature feature) {
    if (soc_.has(feature)) used_.add(feature);
    return soc_.has(feature);
  }
  void need(Feature feature) {
    AOE_CHECK(use(feature), soc_.version + " has no " + std::string(runtime::name(feature)));
  }

  Value* unary(const ExprNode& e) {
    Value* a = value(e.args[0]);
    switch (e.op) {
      case Op::kBroadcast:
        return broadcast(e, a);
      case Op::kBitsAs:
        return ir_.CreateBitCast(a, lane_type(ir_, e.type, e.lanes));
      case Op::kConvert:
        return convert_lanes(ir_, a, e.type, true);
      case Op::kConvertUnsigned:
        return convert_lanes(ir_, a, e.type, false);
      default:
        return emit_unary(ir_, e.op, a);
    }
  }

  Value* binary(const ExprNode& e) {
    Value* a = value(e.args[0]);
    Value* b = value(e.args[1]);
    if (!is_narrow(e.type)) return emit_binary(ir_, e.op, a, b);
    return ir_.CreateBitCast(emit_binary(ir_, e.op, words_of(ir_, a), words_of(ir_, b)),
                             lane_type(ir_, e.type, e.lanes));
  }

  std::vector<Value*> values(const std::vector<Expr>& args) {
    std::vector<Value*> made;
    for (const Expr& a : args) made.push_back(value(a));
    return made;
  }

  Value* local(int id) {
    Value*& known = known_locals_[static_cast<std::size_t>(id)];
    if (known == nullptr) {
      auto* slot = locals_[static_cast<std::size_t>(id)];
      known = ir_.CreateLoad(slot->getAllocatedType(), slot);
    }
    return known;
  }

  const Function& source_;
  const Soc& soc_;
  llvm::Function* target_;
  IrBuilder ir_;
  Memory memory_;
  IndexValues indices_{ir_, memory_};
  runtime::FeatureSet used_;
  std::vector<llvm::AllocaInst*> locals_;
  std::vector<Value*>
      known_locals_;  ///< values of locals in the current block; null: read the alloca
  std::unordered_map<const ExprNode*, Value*> values_of_statement_;
};

void set_attributes(llvm::Function* function, const Soc& soc) {
  function->setDoesNotThrow();
  function->setDoesNotRecurse();
  function->addFnAttr(llvm::Attribute::MustProgress);
  function->addFnAttr("target-cpu", soc.target->llvm_cpu());
  function->addFnAttr("tune-cpu", soc.llvm_cpu);
  const std::string width_bits = std::to_string(8 * soc.target->vector_bytes());
  function->addFnAttr("prefer-vector-width", width_bits);
  function->addFnAttr("min-legal-vector-width", width_bits);
  function->addFnAttr("no-builtins");  // loops over memory must not become calls
  function->addParamAttr(0, llvm::Attribute::NoAlias);
  function->addParamAttr(0, llvm::Attribute::ReadOnly);
  function->addParamAttr(3, llvm::Attribute::NoAlias);
}

}  // namespace

llvm::Function* lower(const Function& function, const Soc& soc, llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* index = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, index, index, pointer}, false);
  auto* target =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, function.name, module);
  set_attributes(target, soc);
  Lowering(function, soc, target).run();
  return target;
}

}  // namespace aoe::compiler::loopnest
