// A disk that forgets what was not synced: replays what trace_files.cpp has written down, and makes a
// directory as it may be found when the power went at some moment.
//
// The model is POSIX's, stricter than any file system: a file's bytes are there after an fsync of the
// file, its name after an fsync of its directory; of everything else any subset may be there.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace aoe::bank {

struct FileEvent {
  std::string op;
  unsigned long long inode = 0;
  long long offset = 0;
  std::string path, path2;  ///< absolute; "-" for none
  std::string data;
};

std::vector<FileEvent> read_trace(std::string_view bytes);

class ForgetfulDisk {
 public:
  /// `root` is where the trace was taken; it is there from the beginning.
  explicit ForgetfulDisk(std::filesystem::path root);

  void replay(const FileEvent& event);

  /// Makes `target` what is found after a power loss now. With `random`, some of what was not synced
  /// is there all the same; without, nothing of it.
  void recover(const std::filesystem::path& target, std::mt19937* random) const;

 private:
  struct Node;
  using NodePtr = std::shared_ptr<Node>;
  using Names = std::map<std::string, NodePtr>;
  struct Node {
    bool is_directory = false;
    std::string bytes, synced_bytes;  ///< of a file
    Names names, synced_names;        ///< of a directory
  };

  NodePtr find(const std::filesystem::path& path) const;
  NodePtr parent_of(const std::filesystem::path& path) const;
  static void recover(const Node& directory, const std::filesystem::path& target,
                      std::mt19937* random);

  std::filesystem::path root_;
  NodePtr top_ = std::make_shared<Node>(Node{.is_directory = true});
  std::map<unsigned long long, NodePtr> by_inode_;
};

}  // namespace aoe::bank
