// A walk over all expressions, shared ones once.
#include "compiler/loopnest/index_buffers.h"

#include <set>
#include <unordered_set>

namespace aoe::compiler::loopnest {
namespace {

class IndexBuffers {
 public:
  void statement(const StmtNode& node) {
    for (const Expr& each : node.args) expression(*each);
    for (const Stmt& each : node.body) statement(*each);
    for (const Stmt& each : node.otherwise) statement(*each);
  }

  const std::set<int>& found() const { return found_; }

 private:
  void expression(const ExprNode& node) {
    if (!seen_.insert(&node).second) return;
    if (node.op == Op::kIntLoad) found_.insert(node.id);
    if (node.op == Op::kLoadIndexed) found_.insert(static_cast<int>(node.ivalue));
    for (const Expr& each : node.args)
      if (each != nullptr) expression(*each);
  }

  std::unordered_set<const ExprNode*> seen_;
  std::set<int> found_;  ///< buffer ids
};

}  // namespace

std::vector<int> index_buffers(const Function& function) {
  IndexBuffers walk;
  walk.statement(*function.body);
  std::vector<int> places;
  int place = 0;
  for (std::size_t id = 0; id < function.buffers.size(); ++id) {
    if (function.buffers[id].scratch_offset >= 0) continue;
    if (walk.found().contains(static_cast<int>(id))) places.push_back(place);
    ++place;
  }
  return places;
}

}  // namespace aoe::compiler::loopnest
