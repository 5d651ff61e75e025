// pte_run: runs an ExecuTorch program in the unmodified runtime, in arenas that begin filled
// with a pattern, and tells what came out.
//
//     pte_run FILE METHOD[,METHOD…] CALLS SEED FILL [keep] [share] [WEIGHTS.ptd]
//
// The methods are called in turn, CALLS times in all, with inputs that depend on SEED, on the
// number of the call and of the input. `keep`: arenas keep their bytes from call to call, for
// programs with state; otherwise they are filled anew, since nothing may survive there.
// `share`: all methods work in the same arenas, as programs with shared state ask for.
// FILL is a byte, in hexadecimal. WEIGHTS are those of a program that has none inside.
//
// Prints one JSON object: per method the sizes of its planned memories, and per call a
// fingerprint of each output, of what each op left in its output (a wrong byte there may not
// reach the end) and the instructions that were run.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include "../../examples/executorch/require.hpp"

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::FileDataLoader;
using executorch::extension::FlatTensorDataMap;
using executorch::extension::MallocMemoryAllocator;

namespace {

// Beyond each arena, to see writes past its end.
constexpr size_t kGuard = 256;
// Inputs that are whole numbers are words and places in a cache: small.
constexpr int kIntegers = 4;

uint64_t fingerprint(const void *data, size_t size, uint64_t hash = 14695981039346656037u) {
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ static_cast<const uint8_t *>(data)[i]) * 1099511628211u;
    }
    return hash;
}

uint64_t fingerprint(const Tensor &tensor, uint64_t hash = 14695981039346656037u) {
    hash = fingerprint(tensor.sizes().data(), tensor.sizes().size() * sizeof(int32_t), hash);
    return fingerprint(tensor.const_data_ptr(), tensor.nbytes(), hash);
}

uint64_t fingerprint(const EValue &value) {
    if (value.isTensor()) {
        return fingerprint(value.toTensor());
    }
    uint64_t hash = 0;
    if (value.isTensorList()) {
        for (const Tensor &tensor : value.toTensorList()) {
            hash = fingerprint(tensor, hash + 1);
        }
    } else if (value.isInt()) {
        hash = static_cast<uint64_t>(value.toInt());
    } else if (value.isBool()) {
        hash = value.toBool() ? 1 : 0;
    } else if (value.isDouble()) {
        const double number = value.toDouble();
        std::memcpy(&hash, &number, sizeof hash);
    }
    return hash;
}

// The runtime tells its tracer which instruction it is at, and every op what it has made.
class Tracer final : public EventTracer {
  public:
    Tracer() {
        set_event_tracer_debug_level(EventTracerDebugLogLevel::kIntermediateOutputs);
        set_event_tracer_profiling_level(EventTracerProfilingLevel::kProfileAllEvents);
    }

    void begin() {
        made.clear();
        ran.clear();
    }

    std::vector<std::pair<uint32_t, uint64_t>> made;  // instruction, fingerprint
    std::set<uint32_t> ran;

    EventTracerEntry start_profiling(const char *, ChainID chain,
                                     DebugHandle instruction) override {
        see(chain == kUnsetChainId ? current_chain_id() : chain,
            chain == kUnsetChainId ? current_debug_handle() : instruction);
        return {};
    }

    Result<bool> log_evalue(const EValue &value, LoggedEValueType type) override {
        see(current_chain_id(), current_debug_handle());
        if (type == LoggedEValueType::kIntermediateOutput) {
            made.emplace_back(current_debug_handle(), fingerprint(value));
        }
        return true;
    }

    void create_event_block(const char *) override {}
    EventTracerEntry start_profiling_delegate(const char *, DelegateDebugIntId) override {
        return {};
    }
    void end_profiling_delegate(EventTracerEntry, const void *, size_t) override {}
    void log_profiling_delegate(const char *, DelegateDebugIntId, et_timestamp_t, et_timestamp_t,
                                const void *, size_t) override {}
    void end_profiling(EventTracerEntry) override {}
    void track_allocation(AllocatorID, size_t) override {}
    AllocatorID track_allocator(const char *) override { return 0; }
    Result<bool> log_intermediate_output_delegate(const char *, DelegateDebugIntId,
                                                  const Tensor &) override {
        return true;
    }
    Result<bool> log_intermediate_output_delegate(const char *, DelegateDebugIntId,
                                                  const ArrayRef<Tensor>) override {
        return true;
    }
    Result<bool> log_intermediate_output_delegate(const char *, DelegateDebugIntId,
                                                  const int &) override {
        return true;
    }
    Result<bool> log_intermediate_output_delegate(const char *, DelegateDebugIntId,
                                                  const bool &) override {
        return true;
    }
    Result<bool> log_intermediate_output_delegate(const char *, DelegateDebugIntId,
                                                  const double &) override {
        return true;
    }
    void set_delegation_intermediate_output_filter(EventTracerFilterBase *) override {}

  private:
    void see(ChainID chain, DebugHandle instruction) {
        if (chain >= 0) {
            ran.insert(instruction);
        }
    }
};

using Arena = std::vector<uint8_t>;
using Arenas = std::vector<Arena>;

void fill(Arenas &arenas, uint8_t pattern) {
    for (Arena &arena : arenas) {
        std::fill(arena.begin(), arena.end(), pattern);
    }
}

bool guards_hold(const Arenas &arenas, uint8_t pattern) {
    for (const Arena &arena : arenas) {
        for (size_t i = arena.size() - kGuard; i < arena.size(); i++) {
            if (arena[i] != pattern) {
                return false;
            }
        }
    }
    return true;
}

std::vector<size_t> planned_sizes(const MethodMeta &meta) {
    std::vector<size_t> sizes;
    for (size_t k = 0; k < meta.num_memory_planned_buffers(); k++) {
        sizes.push_back(require(meta.memory_planned_buffer_size(k), "size of a planned memory"));
    }
    return sizes;
}

// Grows `arenas` to what a method needs.
void reserve(Arenas &arenas, const std::vector<size_t> &sizes) {
    if (arenas.size() < sizes.size()) {
        arenas.resize(sizes.size());
    }
    for (size_t k = 0; k < sizes.size(); k++) {
        if (arenas[k].size() < sizes[k] + kGuard) {
            arenas[k].resize(sizes[k] + kGuard);
        }
    }
}

class Random {
  public:
    Random(uint64_t seed, uint64_t call, uint64_t input)
        : state_((seed * 1000003 + call) * 1000003 + input + 1) {}

    uint32_t next() {
        // splitmix64: neighbouring calls and inputs must not resemble one another.
        uint64_t mixed = state_ += 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return static_cast<uint32_t>((mixed ^ (mixed >> 31)) >> 32);
    }

    // Within ±2, in steps that every float type holds.
    float number() {
        return static_cast<float>(static_cast<int32_t>(next() % 4097) - 2048) / 1024.0f;
    }

  private:
    uint64_t state_;
};

// The i-th input takes both values of a bool, over the calls, in every combination.
bool truth(size_t call, size_t input) { return ((call >> input) & 1) != 0; }

std::vector<uint8_t> random_bytes(ScalarType type, size_t nbytes, uint64_t seed, size_t call,
                                  size_t input) {
    std::vector<uint8_t> bytes(nbytes);
    Random random(seed, call, input);
    switch (type) {
        case ScalarType::Float:
            for (size_t i = 0; i + 4 <= nbytes; i += 4) {
                const float number = random.number();
                std::memcpy(&bytes[i], &number, 4);
            }
            break;
        case ScalarType::Long:
            for (size_t i = 0; i + 8 <= nbytes; i += 8) {
                const int64_t number = random.next() % kIntegers;
                std::memcpy(&bytes[i], &number, 8);
            }
            break;
        case ScalarType::Int:
            for (size_t i = 0; i + 4 <= nbytes; i += 4) {
                const int32_t number = random.next() % kIntegers;
                std::memcpy(&bytes[i], &number, 4);
            }
            break;
        case ScalarType::Bool:
            for (uint8_t &byte : bytes) {
                byte = truth(call, input);
            }
            break;
        default: die("an input of scalar type " + std::to_string(static_cast<int>(type)));
    }
    return bytes;
}

class Machine {
  public:
    Machine(const Program &program, const std::string &name, Arenas *shared)
        : name_(name),
          meta_(require(program.method_meta(name.c_str()), name)),
          sizes_(planned_sizes(meta_)),
          arenas_(shared ? shared : &own_) {
        reserve(*arenas_, sizes_);
    }

    void load(const Program &program, const NamedDataMap *weights) {
        for (size_t k = 0; k < sizes_.size(); k++) {
            // Exactly what the file says, so that whatever does not fit is refused.
            spans_.push_back({(*arenas_)[k].data(), sizes_[k]});
        }
        planned_ = std::make_unique<HierarchicalAllocator>(
            Span<Span<uint8_t>>(spans_.data(), spans_.size()));
        manager_ = std::make_unique<MemoryManager>(&method_memory_, planned_.get(), &temporary_);
        method_ = std::make_unique<Method>(
            require(program.load_method(name_.c_str(), manager_.get(), &tracer_, weights),
                    "load " + name_));
        provide_outputs();
    }

    void run(uint64_t seed, size_t call) {
        std::vector<std::vector<uint8_t>> kept;
        std::vector<std::unique_ptr<TensorImpl>> tensors;
        for (size_t i = 0; i < meta_.num_inputs(); i++) {
            set_input(i, seed, call, kept, tensors);
        }
        tracer_.begin();
        require(method_->execute(), "execute " + name_);
    }

    void print_call(bool first) const {
        std::printf("%s{\"method\": \"%s\", \"outputs\": [", first ? "" : ", ", name_.c_str());
        for (size_t i = 0; i < method_->outputs_size(); i++) {
            std::printf("%s\"%016" PRIx64 "\"", i ? ", " : "", fingerprint(method_->get_output(i)));
        }
        std::printf("], \"made\": [");
        for (size_t i = 0; i < tracer_.made.size(); i++) {
            std::printf("%s[%u, \"%016" PRIx64 "\"]", i ? ", " : "", tracer_.made[i].first,
                        tracer_.made[i].second);
        }
        std::printf("], \"ran\": [");
        const char *comma = "";
        for (uint32_t instruction : tracer_.ran) {
            std::printf("%s%u", comma, instruction);
            comma = ", ";
        }
        std::printf("]}");
    }

    void print_sizes(bool first) const {
        std::printf("%s\"%s\": [", first ? "" : ", ", name_.c_str());
        for (size_t k = 0; k < sizes_.size(); k++) {
            std::printf("%s%zu", k ? ", " : "", sizes_[k]);
        }
        std::printf("]");
    }

    Arenas &arenas() { return *arenas_; }

  private:
    // Outputs without a place in an arena are the caller's to provide. Those that already
    // have memory are constants, which the runtime refuses to move.
    void provide_outputs() {
        for (size_t i = 0; i < meta_.num_outputs(); i++) {
            const Result<TensorInfo> info = meta_.output_tensor_meta(i);
            if (!info.ok() || info->is_memory_planned()) {
                continue;
            }
            provided_.emplace_back(info->nbytes());
            const Error error =
                method_->set_output_data_ptr(provided_.back().data(), provided_.back().size(), i);
            if (error != Error::Ok &&
                method_->get_output(i).toTensor().const_data_ptr() == nullptr) {
                die("output " + std::to_string(i) + " cannot be provided");
            }
        }
    }

    void set_input(size_t i, uint64_t seed, size_t call, std::vector<std::vector<uint8_t>> &kept,
                   std::vector<std::unique_ptr<TensorImpl>> &tensors) {
        const Tag tag = require(meta_.input_tag(i), "tag of an input");
        Random random(seed, call, i);
        if (tag == Tag::Tensor) {
            const TensorInfo info = require(meta_.input_tensor_meta(i), "an input");
            kept.push_back(random_bytes(info.scalar_type(), info.nbytes(), seed, call, i));
            tensors.push_back(std::make_unique<TensorImpl>(
                info.scalar_type(), info.sizes().size(), const_cast<int32_t *>(info.sizes().data()),
                kept.back().data(), const_cast<uint8_t *>(info.dim_order().data())));
            require(method_->set_input(Tensor(tensors.back().get()), i), "set input");
        } else if (tag == Tag::Int) {
            require(method_->set_input(static_cast<int64_t>(random.next() % kIntegers), i),
                    "set int");
        } else if (tag == Tag::Bool) {
            require(method_->set_input(truth(call, i), i), "set bool");
        } else if (tag == Tag::Double) {
            require(method_->set_input(static_cast<double>(random.number()), i), "set double");
        } else {
            die("an input of tag " + std::to_string(static_cast<int>(tag)));
        }
    }

    std::string name_;
    MethodMeta meta_;
    std::vector<size_t> sizes_;
    Arenas own_;
    Arenas *arenas_;
    std::vector<Span<uint8_t>> spans_;
    std::vector<std::vector<uint8_t>> provided_;
    MallocMemoryAllocator method_memory_, temporary_;
    std::unique_ptr<HierarchicalAllocator> planned_;
    std::unique_ptr<MemoryManager> manager_;
    Tracer tracer_;
    std::unique_ptr<Method> method_;
};

std::vector<std::string> split(const std::string &names) {
    std::vector<std::string> parts(1);
    for (char c : names) {
        if (c == ',') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 6) {
        die("usage: pte_run FILE METHOD[,METHOD...] CALLS SEED FILL [keep] [share] [WEIGHTS.ptd]");
    }
    bool keep = false, share = false;
    const char *weights_path = nullptr;
    for (int i = 6; i < argc; i++) {
        keep |= std::strcmp(argv[i], "keep") == 0;
        share |= std::strcmp(argv[i], "share") == 0;
        if (std::strstr(argv[i], ".ptd")) {
            weights_path = argv[i];
        }
    }
    const size_t calls = std::strtoul(argv[3], nullptr, 10);
    const uint64_t seed = std::strtoull(argv[4], nullptr, 10);
    const uint8_t pattern = static_cast<uint8_t>(std::strtoul(argv[5], nullptr, 16));

    runtime_init();
    FileDataLoader loader = require(FileDataLoader::from(argv[1]), "open");
    const Program program = require(
        Program::load(&loader, Program::Verification::InternalConsistency), "load the program");

    std::unique_ptr<FileDataLoader> weights_loader;
    std::unique_ptr<FlatTensorDataMap> weights;
    if (weights_path) {
        weights_loader = std::make_unique<FileDataLoader>(
            require(FileDataLoader::from(weights_path), "open the weights"));
        weights = std::make_unique<FlatTensorDataMap>(
            require(FlatTensorDataMap::load(weights_loader.get()), "load the weights"));
    }

    // Every method's need must be known before the first one is given its arenas.
    Arenas common;
    std::vector<std::unique_ptr<Machine>> machines;
    for (const std::string &name : split(argv[2])) {
        machines.push_back(std::make_unique<Machine>(program, name, share ? &common : nullptr));
    }
    for (auto &machine : machines) {
        fill(machine->arenas(), pattern);
        machine->load(program, weights.get());
    }

    std::printf("{\"calls\": [");
    for (size_t call = 0; call < calls; call++) {
        Machine &machine = *machines[call % machines.size()];
        if (!keep) {
            fill(machine.arenas(), pattern);
        }
        machine.run(seed, call);
        if (!guards_hold(machine.arenas(), pattern)) {
            die("something was written past the end of an arena");
        }
        machine.print_call(call == 0);
    }
    std::printf("], \"sizes\": {");
    for (size_t k = 0; k < machines.size(); k++) {
        machines[k]->print_sizes(k == 0);
    }
    std::printf("}}\n");
    return 0;
}
