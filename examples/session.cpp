// Runs an om on random numbers, and prints what each output is: session MODEL.om. With the gears of a model: session MODEL.om
// SIZE, which takes SIZE wherever a dimension is open.
#include <aoe/session.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

/// Random bytes of an input: floats in [0, 1), anything else zeros and ones.
struct Input {
  Input(const aoe::Port& port, std::int64_t size) : shape(port.shape), type(port.type) {
    std::size_t count = 1;
    for (std::int64_t& each : shape) {
      if (each < 0) each = size;
      count *= static_cast<std::size_t>(each);
    }
    std::mt19937 random(1);
    if (type == ACL_FLOAT) {
      std::uniform_real_distribution<float> draw(0, 1);
      floats.resize(count);
      for (float& value : floats) value = draw(random);
    } else {
      others.assign(count * aclDataTypeSize(type), 0);
    }
  }
  aoe::TensorView view() const {
    if (type == ACL_FLOAT) return aoe::view(floats, shape);
    return {others.data(), shape, type};
  }

  aoe::Shape shape;
  aclDataType type;
  std::vector<float> floats;
  std::vector<unsigned char> others;
};

void run(const std::string& path, std::int64_t size) {
  const aoe::Session session(path);
  std::vector<Input> inputs;
  for (const aoe::Port& port : session.inputs()) inputs.emplace_back(port, size);
  std::map<std::string, aoe::TensorView> feed;
  for (std::size_t i = 0; i < inputs.size(); ++i) feed[session.inputs()[i].name] = inputs[i].view();
  for (const aoe::Tensor& output : session.run(feed)) {
    std::cout << output.name() << " ";
    for (const std::int64_t each : output.shape()) std::cout << each << " ";
    std::cout << output.bytes() << " bytes";
    if (output.type() == ACL_FLOAT && output.bytes() > 0)
      std::cout << ", first " << output.data<float>()[0];
    std::cout << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: session MODEL.om [SIZE]\n";
    return 2;
  }
  try {
    run(argv[1], argc > 2 ? std::atoll(argv[2]) : 1);
  } catch (const std::exception& error) {
    std::cerr << "session: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
