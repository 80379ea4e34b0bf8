// The tree of names and bytes, as it is and as it was synced.
#include "tests/bank/lost_power.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace aoe::bank {
namespace fs = std::filesystem;

std::vector<FileEvent> read_trace(std::string_view bytes) {
  std::vector<FileEvent> events;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) throw std::runtime_error("the trace is cut");
    std::istringstream line{std::string(bytes.substr(0, end))};
    FileEvent event;
    std::size_t size = 0;
    if (!(line >> event.op >> event.inode >> size >> event.offset >> event.path >> event.path2))
      throw std::runtime_error("the trace is damaged: " + line.str());
    bytes.remove_prefix(end + 1);
    event.data = bytes.substr(0, size);
    bytes.remove_prefix(size);
    events.push_back(std::move(event));
  }
  return events;
}

ForgetfulDisk::ForgetfulDisk(fs::path root) : root_(std::move(root)) {
}

ForgetfulDisk::NodePtr ForgetfulDisk::find(const fs::path& path) const {
  NodePtr node = top_;
  const fs::path below = path.lexically_relative(root_);
  if (below == ".") return node;
  for (const fs::path& name : below) {
    const auto child = node->names.find(name.string());
    if (child == node->names.end()) throw std::runtime_error("no such file: " + path.string());
    node = child->second;
  }
  return node;
}

ForgetfulDisk::NodePtr ForgetfulDisk::parent_of(const fs::path& path) const {
  return find(path.parent_path());
}

void ForgetfulDisk::replay(const FileEvent& event) {
  const fs::path path = event.path, path2 = event.path2;
  if (event.op == "create" || event.op == "mkdir") {
    auto node = std::make_shared<Node>(Node{.is_directory = event.op == "mkdir"});
    parent_of(path)->names[path.filename().string()] = node;
    by_inode_[event.inode] = node;
  } else if (event.op == "write") {
    std::string& bytes = by_inode_.at(event.inode)->bytes;
    const auto end = static_cast<std::size_t>(event.offset) + event.data.size();
    if (bytes.size() < end) bytes.resize(end);
    bytes.replace(static_cast<std::size_t>(event.offset), event.data.size(), event.data);
  } else if (event.op == "truncate") {
    by_inode_.at(event.inode)->bytes.resize(static_cast<std::size_t>(event.offset));
  } else if (event.op == "sync") {
    Node& node = path == root_ ? *top_ : *by_inode_.at(event.inode);
    node.synced_bytes = node.bytes;
    node.synced_names = node.names;
  } else if (event.op == "link") {
    parent_of(path2)->names[path2.filename().string()] = find(path);
  } else if (event.op == "rename") {
    const NodePtr node = find(path);
    parent_of(path)->names.erase(path.filename().string());
    parent_of(path2)->names[path2.filename().string()] = node;
  } else if (event.op == "unlink") {
    parent_of(path)->names.erase(path.filename().string());
  } else if (event.op != "ack") {
    throw std::runtime_error("unknown event " + event.op);
  }
}

void ForgetfulDisk::recover(const fs::path& target, std::mt19937* random) const {
  recover(*top_, target, random);
}

void ForgetfulDisk::recover(const Node& directory, const fs::path& target, std::mt19937* random) {
  fs::create_directory(target);
  const auto coin = [&] { return random != nullptr && (*random)() % 2 == 0; };
  Names names = directory.synced_names;
  std::set<std::string> all;
  for (const auto& [name, node] : directory.names) all.insert(name);
  for (const auto& [name, node] : directory.synced_names) all.insert(name);
  for (const std::string& name : all) {
    const auto now = directory.names.find(name);
    const bool is_gone = now == directory.names.end();
    const auto synced = directory.synced_names.find(name);
    const bool is_synced =
        synced != directory.synced_names.end() && !is_gone && synced->second == now->second;
    if (is_synced || !coin()) continue;
    if (is_gone)
      names.erase(name);
    else
      names[name] = now->second;
  }
  for (const auto& [name, node] : names) {
    if (node->is_directory) {
      recover(*node, target / name, random);
      continue;
    }
    std::string bytes = node->synced_bytes;
    if (bytes != node->bytes && coin()) {
      bytes = node->bytes;
      if (coin()) bytes.resize(bytes.size() - (*random)() % (bytes.size() + 1));
      if (coin())
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end(), '\0');
    }
    std::ofstream(target / name, std::ios::binary) << bytes;
  }
}

}  // namespace aoe::bank
