// ssh and Slurm.
#include "tuner/fleet/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/to_number.h"
#include "base/words.h"
#include "tuner/fleet/child.h"

namespace aoe::tuner {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);

[[noreturn]] void reject(const std::string& workers, const std::string& what,
                         const std::string& advice = {}) {
  throw Error(ExitCode::kUsage, what, "--workers=" + workers, advice);
}

/// For a shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// A name that is an option to ssh would be one.
bool is_host(const std::string& host) {
  constexpr std::string_view kOthers = "._-@:[]";
  return !host.empty() && host.front() != '-' && std::ranges::all_of(host, [&](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || kOthers.find(static_cast<char>(c)) != kOthers.npos);
  });
}

std::string node_name(const std::string& host, std::size_t index) {
  std::string name = host + "-" + std::to_string(index);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; }, '_');
  return name;
}

/// Both ends of a connection, and a node for each host. A node ends with its connection.
class SshLauncher final : public Launcher {
 public:
  SshLauncher(std::vector<std::string> hosts, NodeCommand command)
      : hosts_(std::move(hosts)), command_(std::move(command)) {}
  ~SshLauncher() override { stop(); }

  void start(const Spool& spool) override {
    for (const std::string& host : hosts_) {
      const std::string name = node_name(host, nodes_.size());
      nodes_.push_back({name, host,
                        Child({"ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15",
                               host, command_.text(spool, name)},
                              spool.logs() / name)});
    }
  }

  std::size_t wanted() override {
    return static_cast<std::size_t>(
        std::ranges::count_if(nodes_, [](Node& node) { return !node.child.how_it_ended(); }));
  }

  std::vector<EndedNode> ended() override {
    std::vector<EndedNode> list;
    for (Node& node : nodes_)
      if (const auto how = node.child.how_it_ended(); how && !node.is_told) {
        node.is_told = true;
        last_ = node.host + ": " + *how;
        if (!is_stopping_) logger("fleet")->warn("host {}", last_);
        list.push_back({node.name, "ssh: " + *how});
      }
    return list;
  }

  bool has_hope(std::string& what_happened) override {
    what_happened = last_;
    return wanted() > 0;
  }

  void stop() override {
    is_stopping_ = true;
    const auto until = std::chrono::steady_clock::now() + kPatience;
    std::string ignored;
    while (has_hope(ignored) && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    nodes_.clear();
  }

 private:
  struct Node {
    std::string name, host;
    Child child;
    bool is_told = false;
  };
  const std::vector<std::string> hosts_;
  const NodeCommand command_;
  std::vector<Node> nodes_;
  std::string last_ = "no host was named";
  bool is_stopping_ = false;
};

/// One job array, of which each task is a node. Slurm may begin them late, end them and begin them again.
class SlurmLauncher final : public Launcher {
 public:
  SlurmLauncher(int nodes, std::vector<std::string> arguments, NodeCommand command)
      : nodes_(nodes), arguments_(std::move(arguments)), command_(std::move(command)) {}
  ~SlurmLauncher() override { stop(); }

  void start(const Spool& spool) override {
    directory_ = spool.logs();
    if (nodes_ == 0) nodes_ = responding_nodes();
    std::vector<std::string> words = {
        "sbatch",    "--parsable",     "--exclusive",
        "--nodes=1", "--ntasks=1",     "--array=1-" + std::to_string(nodes_),
        "--requeue", "--job-name=aoe", "--output=" + (spool.logs() / "%A_%a").string()};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    words.push_back("--wrap=" + command_.text(spool, ""));
    std::string printed = output_of(words, spool.logs() / "sbatch");
    job_ = printed.substr(0, printed.find_first_not_of("0123456789"));  // "12;cluster"
    if (job_.empty()) throw Error(ExitCode::kFailure, "has printed no job: " + printed, "sbatch");
    logger("fleet")->info("job {}: an array of {}", job_, nodes_);
  }

  std::size_t wanted() override { return static_cast<std::size_t>(nodes_); }
  std::vector<EndedNode> ended() override { return {}; }

  /// Slurm answers slowly when it is busy: it is asked only when nobody lives.
  bool has_hope(std::string& what_happened) override {
    what_happened =
        "job " + job_ + " has ended; what its tasks printed is in " + directory_.string();
    try {
      return !output_of({"squeue", "--noheader", "--jobs=" + job_, "--format=%T"},
                        directory_ / "squeue")
                  .empty();
    } catch (const Error& e) {
      // squeue fails for jobs that are forgotten, and when the controller does not answer.
      what_happened = e.what();
      return std::string_view(e.what()).find("Invalid job id") == std::string_view::npos;
    }
  }

  void stop() override {
    if (job_.empty()) return;
    try {
      output_of({"scancel", std::exchange(job_, "")}, directory_ / "scancel");
    } catch (const Error& e) {
      logger("fleet")->warn("{}", e.what());
    }
  }

 private:
  int responding_nodes() const {
    std::istringstream lines(output_of(
        {"sinfo", "--noheader", "--Node", "--responding", "--format=%N"}, directory_ / "sinfo"));
    std::set<std::string> names;
    for (std::string name; lines >> name;) names.insert(name);
    if (names.empty()) throw Error(ExitCode::kFailure, "no node of the cluster responds", "sinfo");
    return static_cast<int>(names.size());
  }

  int nodes_;  ///< 0: as many as respond
  const std::vector<std::string> arguments_;
  const NodeCommand command_;
  std::filesystem::path directory_;
  std::string job_;
};

int node_count(const std::string& workers, const std::string& text) {
  constexpr int kMostNodes = 100000;
  const auto count = to_number<int>(text);
  if (!count || *count < 1 || *count > kMostNodes)
    reject(workers, "'" + text + "' is no number of nodes", "use slurm or slurm:16");
  return *count;
}

}  // namespace

std::string NodeCommand::text(const Spool& spool, const std::string& name) const {
  std::string text = "exec " + quoted(program.string()) +
                     " serve_tasks --spool=" + quoted(spool.directory.string());
  if (!name.empty()) text += " --node=" + quoted(name);
  if (threads > 0) text += " --threads=" + std::to_string(threads);
  return text;
}

std::unique_ptr<Launcher> make_launcher(const std::string& workers, const std::string& slurm_args,
                                        const NodeCommand& command) {
  const std::size_t colon = workers.find(':');
  const std::string kind = workers.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : workers.substr(colon + 1);
  if (kind != "slurm" && !slurm_args.empty())
    throw Error(ExitCode::kUsage, "is for --workers=slurm", "--slurm_args");
  if (kind == "ssh") {
    std::vector<std::string> hosts = split_words(rest, ',');
    if (hosts.empty()) reject(workers, "names no host", "use ssh:HOST,HOST");
    for (const std::string& host : hosts)
      if (!is_host(host)) reject(workers, "'" + host + "' is no host");
    return std::make_unique<SshLauncher>(std::move(hosts), command);
  }
  if (kind == "slurm")
    return std::make_unique<SlurmLauncher>(
        colon == std::string::npos ? 0 : node_count(workers, rest), split_words(slurm_args, ' '),
        command);
  reject(workers, "'" + kind + "' is neither ssh nor slurm", "use ssh:HOST,HOST or slurm");
}

}  // namespace aoe::tuner
