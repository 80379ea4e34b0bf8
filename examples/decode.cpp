// Decodes text with a language model whose cache of keys and values stays where it is: each step is given the same buffer as
// past_key_values.N and as present.N, so that it adds its row to the cache and copies none of it.
//
//   decode MODEL.om [TOKENS [PROMPT...]]     prints the words' numbers, the prompt's first; default: 64 behind word 1
//
// For models of one token a step whose cache has room for what is asked, as this makes one:
//
//   make_model decoder --form=genai --sequence=1 --past=128 --output=decoder.onnx
//   atc --framework=5 --model=decoder.onnx --output=decoder
#include <acl/acl.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

void check(aclError status, const std::string& what) {
  if (status == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  throw std::runtime_error(what + ": " + (message != nullptr ? message : std::to_string(status)));
}

/// Zeroed memory of the device, seen as elements of T.
template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t size_bytes) : count_(size_bytes / sizeof(T)) {
    check(aclrtMalloc(&memory_, size_bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    check(aclrtMemset(memory_, size_bytes, 0, size_bytes), "aclrtMemset");
    handle_ = aclCreateDataBuffer(memory_, size_bytes);
  }
  ~Buffer() {
    aclDestroyDataBuffer(handle_);
    aclrtFree(memory_);
  }
  Buffer(Buffer&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        handle_(std::exchange(other.handle_, nullptr)),
        count_(other.count_) {}

  T& operator[](std::size_t i) { return static_cast<T*>(memory_)[i]; }
  std::size_t count() const { return count_; }
  aclDataBuffer* handle() const { return handle_; }

 private:
  void* memory_ = nullptr;
  aclDataBuffer* handle_ = nullptr;
  std::size_t count_;
};

class Decoder {
 public:
  explicit Decoder(const char* path) {
    check(aclmdlLoadFromFile(path, &model_), "aclmdlLoadFromFile");
    desc_ = aclmdlCreateDesc();
    check(aclmdlGetDesc(desc_, model_), "aclmdlGetDesc");
    const std::size_t inputs = aclmdlGetNumInputs(desc_), outputs = aclmdlGetNumOutputs(desc_);
    input_buffers_.resize(inputs);
    output_buffers_.resize(outputs);
    add_input("input_ids", ids_);
    add_input("attention_mask", mask_);
    for (std::size_t i = 0; i < inputs; ++i) add_cache(i);
    const std::size_t logits = output_index("logits");
    logits_.emplace_back(aclmdlGetOutputSizeByIndex(desc_, logits));
    output_buffers_[logits] = logits_[0].handle();
    inputs_ = dataset_of(input_buffers_);
    outputs_ = dataset_of(output_buffers_);
  }
  ~Decoder() {
    aclmdlDestroyDataset(inputs_);
    aclmdlDestroyDataset(outputs_);
    aclmdlDestroyDesc(desc_);
    aclmdlUnload(model_);
  }
  Decoder(const Decoder&) = delete;

  /// How many tokens the cache has room for.
  std::size_t room() const { return mask_[0].count(); }

  /// Takes the next token and returns the word that is likeliest behind it.
  std::int64_t step(std::int64_t token) {
    if (tokens_ == room()) throw std::runtime_error("the cache is full");
    ids_[0][0] = token;
    mask_[0][tokens_++] = 1;
    check(aclmdlExecute(model_, inputs_, outputs_), "aclmdlExecute");
    const float* first = &logits_[0][0];
    return std::max_element(first, first + logits_[0].count()) - first;
  }

 private:
  std::size_t output_index(const std::string& name) const {
    std::size_t index = 0;
    check(aclmdlGetOutputIndexByName(desc_, name.c_str(), &index), "the model has no " + name);
    return index;
  }

  template <typename T>
  void add_input(const std::string& name, std::vector<Buffer<T>>& buffers) {
    std::size_t index = 0;
    check(aclmdlGetInputIndexByName(desc_, name.c_str(), &index), "the model has no " + name);
    buffers.emplace_back(aclmdlGetInputSizeByIndex(desc_, index));
    input_buffers_[index] = buffers.back().handle();
  }

  /// One buffer for past_key_values.N.key and present.N.key, and so for the values.
  void add_cache(std::size_t input) {
    const std::string past = "past_key_values.";
    const std::string name = aclmdlGetInputNameByIndex(desc_, input);
    if (name.compare(0, past.size(), past) != 0) {
      if (input_buffers_[input] == nullptr)
        throw std::runtime_error("does not know what to give for input " + name);
      return;
    }
    const std::size_t output = output_index("present." + name.substr(past.size()));
    const std::size_t size_bytes = aclmdlGetInputSizeByIndex(desc_, input);
    if (size_bytes != aclmdlGetOutputSizeByIndex(desc_, output))
      throw std::runtime_error(name + " has no room for what a step adds");
    caches_.emplace_back(size_bytes);
    input_buffers_[input] = output_buffers_[output] = caches_.back().handle();
  }

  static aclmdlDataset* dataset_of(const std::vector<aclDataBuffer*>& buffers) {
    aclmdlDataset* dataset = aclmdlCreateDataset();
    for (aclDataBuffer* buffer : buffers) {
      if (buffer == nullptr) throw std::runtime_error("an output has no buffer");
      check(aclmdlAddDatasetBuffer(dataset, buffer), "aclmdlAddDatasetBuffer");
    }
    return dataset;
  }

  std::uint32_t model_ = 0;
  aclmdlDesc* desc_ = nullptr;
  std::vector<aclDataBuffer*> input_buffers_, output_buffers_;  ///< by index
  std::vector<Buffer<std::int64_t>> ids_, mask_;                ///< one each
  std::vector<Buffer<float>> logits_, caches_;
  aclmdlDataset *inputs_ = nullptr, *outputs_ = nullptr;
  std::size_t tokens_ = 0;
};

void decode(const char* path, std::size_t count, const std::vector<std::int64_t>& prompt) {
  Decoder decoder(path);
  if (prompt.size() + count - 1 > decoder.room())
    throw std::runtime_error(std::to_string(prompt.size()) + " and " + std::to_string(count) +
                             " tokens, the cache has room for " + std::to_string(decoder.room()));
  std::int64_t next = 0;
  for (const std::int64_t token : prompt) {
    std::cout << token << "\n";
    next = decoder.step(token);
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::cout << next << "\n";
    if (i + 1 < count) next = decoder.step(next);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: decode MODEL.om [TOKENS [PROMPT...]]\n";
    return 2;
  }
  const long count = argc > 2 ? std::atol(argv[2]) : 64;
  std::vector<std::int64_t> prompt;
  for (int i = 3; i < argc; ++i) prompt.push_back(std::atoll(argv[i]));
  if (prompt.empty()) prompt.push_back(1);
  if (count < 1) {
    std::cerr << "decode: TOKENS is " << argv[2] << ", needs at least 1\n";
    return 2;
  }
  try {
    check(aclInit(nullptr), "aclInit");
    check(aclrtSetDevice(0), "aclrtSetDevice");
    decode(argv[1], static_cast<std::size_t>(count), prompt);
    check(aclrtResetDevice(0), "aclrtResetDevice");
    check(aclFinalize(), "aclFinalize");
  } catch (const std::exception& error) {
    std::cerr << "decode: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
