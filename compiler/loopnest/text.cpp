// to_text: the readable, stable form of a Function. Single entry point; tested by the golden texts
// of loopnest_test.
#include <charconv>
#include <sstream>
#include <unordered_map>

#include "base/words.h"
#include "compiler/loopnest/expr_node.h"

namespace aoe::compiler::loopnest {
namespace {

struct Spelling {
  const char* text;  ///< nullptr: written by Printer::spell
  int precedence;    ///< of an infix operator; 0: written as a call
};

constexpr Spelling kSpellings[] = {
#define OP(name, text, precedence) {text, precedence},
#include "compiler/loopnest/ops.inc"
#undef OP
};

Spelling spelling(Op op) {
  const Spelling found = kSpellings[static_cast<std::size_t>(op)];
  AOE_CHECK(found.text != nullptr, "no spelling");
  return found;
}

bool is_leaf(const ExprNode& e) {
  return e.op == Op::kIntConst || e.op == Op::kVar || e.op == Op::kFloatConst || e.op == Op::kLocal;
}

/// What follows the lanes of a vector that is not of float32.
std::string type_suffix(Type type) {
  return type == Type::kFloat ? "" : std::string(":") + name(type);
}

const char* access_name(Access access) {
  return access == Access::kRead ? "read" : access == Access::kWrite ? "write" : "read_write";
}

/// The shortest text that is this number among those of the type.
std::string number_text(double value, Type type) {
  char digits[32];
  char* const last = digits + sizeof(digits);
  const auto end = type == Type::kFloat ? std::to_chars(digits, last, static_cast<float>(value)).ptr
                                        : std::to_chars(digits, last, value).ptr;
  return std::string(digits, end);
}

class Printer {
 public:
  explicit Printer(const Function& function) : function_(function) {}

  std::string run() {
    for (const BufferDecl& b : function_.buffers) {
      out_ << "buffer " << b.name << ": " << (b.elements.are_in_words ? "words of " : "")
           << aoe::name(b.elements.dtype);
      if (b.scratch_offset >= 0) {
        out_ << " scratch at " << b.scratch_offset << "\n";
      } else {
        out_ << " " << access_name(b.access) << "\n";
      }
    }
    if (function_.scratch_bytes > 0) out_ << "scratch " << function_.scratch_bytes << " bytes\n";
    out_ << "parallel " << variable(function_.parallel_variable) << " in [0, "
         << function_.parallel_extent << ")";
    if (function_.rounds > 1) out_ << ", " << function_.rounds << " rounds";
    out_ << "\n";
    body(function_.body->body, 1);
    return out_.str();
  }

 private:
  std::string variable(int id) const {
    return function_.variables[static_cast<std::size_t>(id)] + std::to_string(id);
  }
  const std::string& buffer(int id) const {
    return function_.buffers[static_cast<std::size_t>(id)].name;
  }

  void body(const std::vector<Stmt>& statements, int depth) {
    for (const Stmt& s : statements) statement(*s, depth);
  }

  void statement(const StmtNode& s, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    name_shared(s, indent);
    out_ << indent;
    switch (s.kind) {
      case StmtKind::kBlock:
        out_ << "block\n";
        body(s.body, depth + 1);
        break;
      case StmtKind::kLoop:
        out_ << "for " << variable(s.id) << " in [" << expr(s.args[0]) << ", " << expr(s.args[1])
             << ") step " << s.step << "\n";
        body(s.body, depth + 1);
        break;
      case StmtKind::kIf:
        out_ << "if " << expr(s.args[0]) << "\n";
        body(s.body, depth + 1);
        if (s.otherwise.empty()) break;
        out_ << indent << "else\n";
        body(s.otherwise, depth + 1);
        break;
      case StmtKind::kStore:
        out_ << buffer(s.id) << "[" << expr(s.args[0]) << lanes_text(s.step, s.args, 2)
             << "] = " << expr(s.args[1]) << "\n";
        break;
      case StmtKind::kAssign:
        out_ << "%" << s.id << " = " << expr(s.args[0]) << "\n";
        break;
      case StmtKind::kPrefetch:
        out_ << (s.step == 1 ? "prefetch " : "prefetch_l2 ") << buffer(s.id) << "["
             << expr(s.args[0]) << "]\n";
        break;
      case StmtKind::kTile:
        out_ << tile(s) << "\n";
        break;
    }
  }

  std::string tile(const StmtNode& s) {
    const auto number = [&](std::size_t i) { return "tile" + std::to_string(s.tiles[i]); };
    const auto memory = [&] {
      return buffer(s.id) + "[" + expr(s.args[0]) + ", stride " + std::to_string(s.step) + "]";
    };
    std::string shapes;
    switch (s.tile) {
      case TileOp::kShapes:
        for (const TileShape& shape : s.shapes)
          shapes += " " + std::to_string(shape.rows) + "x" + std::to_string(shape.words);
        return "tiles" + shapes;
      case TileOp::kZero:
        return number(0) + " = 0";
      case TileOp::kLoad:
        return number(0) + " = " + memory();
      case TileOp::kStore:
        return memory() + " = " + number(0);
      case TileOp::kDot: {
        const Type right = s.type == Type::kUint8 ? Type::kInt8 : s.type;
        return number(0) + " += dot(" + number(1) + type_suffix(s.type) + ", " + number(2) +
               type_suffix(right) + ")";
      }
    }
    AOE_CHECK(false, "not a statement on tiles");
  }

  /// Writes every subexpression that the statement uses twice as a line of its own, so that texts
  /// stay linear in size.
  void name_shared(const StmtNode& s, const std::string& indent) {
    names_.clear();
    std::unordered_map<const ExprNode*, int> uses;
    std::vector<const ExprNode*> operands_first;
    for (const Expr& e : s.args) count_uses(e, uses, operands_first);
    for (const ExprNode* e : operands_first) {
      if (uses[e] == 1) continue;
      const std::string fresh = "t" + std::to_string(names_.size());
      out_ << indent << fresh << " = " << spell(*e, 0) << "\n";
      names_[e] = fresh;
    }
  }

  static void count_uses(const Expr& e, std::unordered_map<const ExprNode*, int>& uses,
                         std::vector<const ExprNode*>& operands_first) {
    if (is_leaf(*e) || ++uses[e.get()] > 1) return;
    for (const Expr& a : e->args) count_uses(a, uses, operands_first);
    operands_first.push_back(e.get());
  }

  std::string expr(const Expr& e, int outer = 0) {
    if (const auto named = names_.find(e.get()); named != names_.end()) return named->second;
    return spell(*e, outer);
  }

  std::string list(const std::vector<Expr>& args) {
    return joined(args, ", ", [this](const Expr& a) { return expr(a); });
  }

  /// What follows the index in a load or store: ", stride 2", ", active n".
  std::string lanes_text(std::int64_t stride, const std::vector<Expr>& args, std::size_t active) {
    std::string text;
    if (stride != 1) text += ", stride " + std::to_string(stride);
    if (args.size() > active) text += ", active " + expr(args[active]);
    return text;
  }

  /// Of a permutation: "; 1 0 3 2".
  static std::string places(const std::vector<int>& from) {
    std::string text;
    for (const int place : from) text += (text.empty() ? "; " : " ") + std::to_string(place);
    return text;
  }

  std::string spell(const ExprNode& e, int outer) {
    switch (e.op) {
      case Op::kIntConst:
        return e.type == Type::kBool ? (e.ivalue ? "true" : "false") : std::to_string(e.ivalue);
      case Op::kVar:
        return variable(e.id);
      case Op::kLocal:
        return "%" + std::to_string(e.id);
      case Op::kFloatConst:
        return number_text(e.fvalue, e.type) + (e.lanes > 1 ? "x" + std::to_string(e.lanes) : "") +
               type_suffix(e.type);
      case Op::kIntLoad:
        return buffer(e.id) + "[" + expr(e.args[0]) + "]";
      case Op::kLoad:
        return buffer(e.id) + "[" + expr(e.args[0]) + lanes_text(e.stride, e.args, 1) + "]x" +
               std::to_string(e.lanes) + type_suffix(e.type);
      case Op::kIntSplat:
        return std::to_string(e.ivalue) + "x" + std::to_string(e.lanes) + type_suffix(e.type);
      case Op::kLoadIndexed:
        return buffer(e.id) + "[" + expr(e.args[0]) + " + " + buffer(static_cast<int>(e.ivalue)) +
               "[" + expr(e.args[1]) + lanes_text(1, e.args, 2) + "]]x" + std::to_string(e.lanes);
      default:
        break;
    }
    const Spelling s = spelling(e.op);
    if (s.precedence == 0) {
      const bool is_numbered =
          e.op == Op::kTransposeRow || e.op == Op::kInterleave || e.op == Op::kRoundToByte;
      const std::string row = is_numbered ? std::to_string(e.ivalue) + ", " : "";
      const std::string lanes =
          e.op == Op::kBroadcast || e.op == Op::kActiveLanes ? ", " + std::to_string(e.lanes) : "";
      const bool is_conversion = e.op == Op::kConvert || e.op == Op::kConvertUnsigned ||
                                 e.op == Op::kIntToLane || e.op == Op::kBitsAs;
      const std::string suffix = is_conversion ? type_suffix(e.type) : "";
      const std::string type = e.op == Op::kRoundTo
                                   ? ", " + std::string(aoe::name(static_cast<DataType>(e.ivalue)))
                                   : "";
      return std::string(s.text) + "(" + row + list(e.args) + lanes + type + places(e.from) + ")" +
             suffix;
    }
    const std::string text =
        expr(e.args[0], s.precedence) + s.text + expr(e.args[1], s.precedence + 1);
    return s.precedence < outer ? "(" + text + ")" : text;
  }

  const Function& function_;
  std::ostringstream out_;
  std::unordered_map<const ExprNode*, std::string> names_;
};

}  // namespace

std::string to_text(const Function& function) {
  return Printer(function).run();
}

}  // namespace aoe::compiler::loopnest
