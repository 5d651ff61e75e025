// Several ExecuTorch programs whose methods work in the same memories, as `arenaut plan A.pte B.pte
// --share auto -o FOLDER` lays them out: state of one name has one place in memory 2 of all.
//
//     joint FILE.pte... < calls
//
// The runtime takes memory for each method from a MemoryManager. Here there is one span for each
// memory, as large as the largest that any method wants, and every method is given these. So what
// one leaves in the state another finds; everything else of a method is gone when another has run.
// All methods are loaded before the first runs: loading one writes the first values of its state.
//
// A call is a line: the name of a method, and the numbers of its inputs, one after the other.
// Prints the sizes of the memories, and for each call the numbers of its outputs.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include "require.hpp"

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::FileDataLoader;
using executorch::extension::MallocMemoryAllocator;

namespace {

// One block for each memory, zero at first, which all methods get.
class Memories {
  public:
    void reserve(const MethodMeta &meta) {
        for (size_t k = 0; k < meta.num_memory_planned_buffers(); k++) {
            const auto size = require(meta.memory_planned_buffer_size(k), "a memory's size");
            if (k == blocks_.size()) {
                blocks_.emplace_back();
            }
            blocks_[k].resize(std::max(blocks_[k].size(), static_cast<size_t>(size)));
        }
    }

    // Behind the last reserve: the blocks move no more.
    HierarchicalAllocator *allocator() {
        if (!allocator_) {
            for (std::vector<uint8_t> &block : blocks_) {
                spans_.emplace_back(block.data(), block.size());
            }
            allocator_ = std::make_unique<HierarchicalAllocator>(
                Span<Span<uint8_t>>(spans_.data(), spans_.size()));
        }
        return allocator_.get();
    }

    void print() const {
        for (size_t k = 0; k < blocks_.size(); k++) {
            std::printf("memory %zu: %zu bytes\n", k + 1, blocks_[k].size());
        }
    }

  private:
    std::vector<std::vector<uint8_t>> blocks_;
    std::vector<Span<uint8_t>> spans_;
    std::unique_ptr<HierarchicalAllocator> allocator_;
};

struct File {
    explicit File(const char *path)
        : loader(require(FileDataLoader::from(path), path)),
          program(
              require(Program::load(&loader, Program::Verification::InternalConsistency), path)) {}

    std::vector<std::string> methods() const {
        std::vector<std::string> names;
        for (size_t i = 0; i < program.num_methods(); i++) {
            names.push_back(require(program.get_method_name(i), "a method's name"));
        }
        return names;
    }

    FileDataLoader loader;
    Program program;
};

class Loaded {
  public:
    Loaded(const Program &program, const std::string &name, Memories &memories)
        : meta_(require(program.method_meta(name.c_str()), name)),
          manager_(&own_, memories.allocator(), &temporary_),
          method_(require(program.load_method(name.c_str(), &manager_), "load " + name)) {}

    void call(std::istream &numbers) {
        for (size_t i = 0; i < meta_.num_inputs(); i++) {
            set_input(i, numbers);
        }
        require(method_.execute(), "execute");
        for (size_t i = 0; i < meta_.num_outputs(); i++) {
            print(method_.get_output(i).toTensor());
        }
        std::printf("\n");
    }

  private:
    void set_input(size_t index, std::istream &numbers) {
        const TensorInfo info = require(meta_.input_tensor_meta(index), "an input");
        std::vector<uint8_t> bytes(info.nbytes());
        std::vector<TensorImpl::SizesType> sizes(info.sizes().begin(), info.sizes().end());
        std::vector<TensorImpl::DimOrderType> order(info.dim_order().begin(),
                                                    info.dim_order().end());
        std::vector<TensorImpl::StridesType> strides(sizes.size());
        require(dim_order_to_stride(sizes.data(), order.data(), sizes.size(), strides.data()),
                "an input's strides");
        TensorImpl impl(info.scalar_type(), static_cast<ssize_t>(sizes.size()), sizes.data(),
                        bytes.data(), order.data(), strides.data());
        for (ssize_t i = 0; i < impl.numel(); i++) {
            double number = 0;
            if (!(numbers >> number)) {
                die("a call has too few numbers");
            }
            if (info.scalar_type() == ScalarType::Float) {
                reinterpret_cast<float *>(bytes.data())[i] = static_cast<float>(number);
            } else if (info.scalar_type() == ScalarType::Long) {
                reinterpret_cast<int64_t *>(bytes.data())[i] = static_cast<int64_t>(number);
            } else {
                die("inputs are float or long here");
            }
        }
        require(method_.set_input(EValue(Tensor(&impl)), index), "an input");  // which copies it
    }

    static void print(const Tensor &output) {
        for (ssize_t i = 0; i < output.numel(); i++) {
            std::printf("%.9g ", static_cast<double>(output.const_data_ptr<float>()[i]));
        }
    }

    MethodMeta meta_;
    MallocMemoryAllocator own_, temporary_;
    MemoryManager manager_;
    Method method_;
};

}  // namespace

int main(int argc, char **argv) {
    std::vector<std::unique_ptr<File>> files;
    std::map<std::string, std::unique_ptr<Loaded>> methods;
    Memories memories;
    runtime_init();
    for (int i = 1; i < argc; i++) {
        files.push_back(std::make_unique<File>(argv[i]));
        for (const std::string &name : files.back()->methods()) {
            memories.reserve(require(files.back()->program.method_meta(name.c_str()), name));
        }
    }
    for (const auto &file : files) {
        for (const std::string &name : file->methods()) {
            methods[name] = std::make_unique<Loaded>(file->program, name, memories);
        }
    }
    memories.print();
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream numbers(line);
        std::string name;
        numbers >> name;
        if (methods.count(name) == 0) {
            die("there is no method '" + name + "'");
        }
        methods[name]->call(numbers);
    }
    return 0;
}
