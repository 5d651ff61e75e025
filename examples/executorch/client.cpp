// An ExecuTorch program on Arenaut's memories: the runtime is the unmodified wheel's, and asks
// for all planned memory through its own interfaces, behind which ours stands.
//
//     client FILE METHOD [device]
//
// `device`: every planned memory is said to lie on a device (type 1, index 0), for which an
// allocator is registered on both sides. There is no such device here: its memory is the
// host's, but it is reached by nothing but that allocator.
//
// The method is called twice, on inputs of a pattern, and then the same way in arenas of
// std::vector. Prints the sizes of the memories and whether all outputs agree; exit 1 if not.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/device_allocator.h>
#include <executorch/runtime/core/device_memory_buffer.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <arenaut/runtime_allocators.h>
#include <arenaut/runtime_memory.h>

#include "require.hpp"

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::FileDataLoader;
using executorch::extension::MallocMemoryAllocator;

static void require(arenaut_status status, const arenaut_fault &fault) {
    if (status != ARENAUT_OK) {
        char text[160];
        die(arenaut_fault_text(&fault, text, sizeof text));
    }
}

namespace {

// ExecuTorch's interface to a device, served by the allocator that is registered with us.
class Bridge final : public DeviceAllocator {
  public:
    explicit Bridge(etensor::DeviceType type) : type_(type) {}

    Result<void *> allocate(size_t nbytes, etensor::DeviceIndex index, size_t alignment) override {
        void *address = nullptr;
        if (ours()->allocate(ours(), nbytes, alignment, static_cast<uint32_t>(index), &address,
                             nullptr) != ARENAUT_OK) {
            return Error::MemoryAllocationFailed;
        }
        return address;
    }

    void deallocate(void *address, etensor::DeviceIndex index) override {
        ours()->deallocate(ours(), address, static_cast<uint32_t>(index));
    }

    Error copy_host_to_device(void *to, const void *from, size_t nbytes,
                              etensor::DeviceIndex index) override {
        return answer(ours()->copy_to_device(ours(), to, from, nbytes, static_cast<uint32_t>(index),
                                             nullptr));
    }

    Error copy_device_to_host(void *to, const void *from, size_t nbytes,
                              etensor::DeviceIndex index) override {
        return answer(
            ours()->copy_to_host(ours(), to, from, nbytes, static_cast<uint32_t>(index), nullptr));
    }

    etensor::DeviceType device_type() const override { return type_; }

  private:
    static Error answer(arenaut_status status) {
        return status == ARENAUT_OK ? Error::Ok : Error::Internal;
    }

    arenaut_device_allocator *ours() const {
        arenaut_device_allocator *allocator = nullptr;
        arenaut_fault fault{};
        require(arenaut_device_find(static_cast<uint32_t>(type_), &allocator, &fault), fault);
        return allocator;
    }

    etensor::DeviceType type_;
};

// The memories of a method by MethodMeta, as our memory manager takes it.
struct Needs {
    Needs(const MethodMeta &meta, bool on_device) {
        for (size_t k = 0; k < meta.num_memory_planned_buffers(); k++) {
            const int64_t size = require(meta.memory_planned_buffer_size(k), "a memory's size");
            pools.push_back({static_cast<size_t>(size), 16});
            const etensor::Device device =
                require(meta.memory_planned_buffer_device(k), "its device");
            const bool host = device.is_cpu() && !on_device;
            if (!host) {
                devices.push_back({static_cast<uint32_t>(k),
                                   {ARENAUT_DEVICE_CUDA, static_cast<uint16_t>(device.index())}});
            }
        }
        method = {static_cast<uint32_t>(pools.size()), static_cast<uint32_t>(devices.size()),
                  pools.data(), devices.empty() ? nullptr : devices.data()};
    }

    std::vector<arenaut_pool_need> pools;
    std::vector<arenaut_pool_device> devices;
    arenaut_method_memory method;
};

// The planned memories of a method, from the allocators that are registered with us.
class Memories {
  public:
    explicit Memories(const Needs &needs)
        : buffers_(needs.pools.size()), spans_(needs.pools.size()) {
        arenaut_fault fault{};
        require(
            arenaut_memory_create(&needs.method, buffers_.data(), spans_.data(), &manager_, &fault),
            fault);
        for (uint32_t k = 0; k < manager_.n_pools; k++) {
            // State begins as zeros.
            const std::vector<uint8_t> zeros(spans_[k].size);
            require(
                arenaut_device_buffer_write(&buffers_[k], 0, zeros.data(), zeros.size(), &fault),
                fault);
            arenaut_device device;
            require(arenaut_memory_device(&manager_, k, &device, &fault), fault);
            views_.emplace_back(static_cast<uint8_t *>(spans_[k].data), spans_[k].size);
            places_.emplace_back(static_cast<etensor::DeviceType>(device.type),
                                 static_cast<etensor::DeviceIndex>(device.index));
        }
    }

    ~Memories() {
        for (arenaut_device_buffer &buffer : buffers_) {
            arenaut_device_buffer_destroy(&buffer);
        }
    }

    // As ExecuTorch wants to be told: without a table where all is on the host.
    HierarchicalAllocator hierarchy() {
        const Span<Span<uint8_t>> spans(views_.data(), views_.size());
        if (!arenaut_memory_has_device(&manager_)) {
            return HierarchicalAllocator(spans);
        }
        return HierarchicalAllocator(spans,
                                     Span<const etensor::Device>(places_.data(), places_.size()));
    }

  private:
    std::vector<arenaut_device_buffer> buffers_;
    std::vector<arenaut_span> spans_;
    std::vector<Span<uint8_t>> views_;
    std::vector<etensor::Device> places_;
    arenaut_memory_manager manager_;
};

// Bytes of an input: small numbers, so that whole ones can be indices.
std::vector<uint8_t> pattern(ScalarType type, size_t nbytes, size_t seed) {
    std::vector<uint8_t> bytes(nbytes);
    if (type == ScalarType::Float) {
        for (size_t i = 0; i + 4 <= nbytes; i += 4) {
            const float number = static_cast<float>((i / 4 * 7 + seed * 3) % 17) / 8.0f - 1.0f;
            std::memcpy(&bytes[i], &number, 4);
        }
    } else if (type == ScalarType::Long) {
        for (size_t i = 0; i + 8 <= nbytes; i += 8) {
            const int64_t number = static_cast<int64_t>((i / 8 + seed) % 4);
            std::memcpy(&bytes[i], &number, 8);
        }
    } else if (type == ScalarType::Bool) {
        std::fill(bytes.begin(), bytes.end(), static_cast<uint8_t>(seed % 2));
    } else {
        die("an input of scalar type " + std::to_string(static_cast<int>(type)));
    }
    return bytes;
}

using Bytes = std::vector<uint8_t>;

// The outputs of two calls of the method in these memories.
std::vector<Bytes> run(const Program &program, const char *name, HierarchicalAllocator &planned) {
    MallocMemoryAllocator for_method, temporary;
    MemoryManager manager(&for_method, &planned, &temporary);
    Method method = require(program.load_method(name, &manager), "load the method");
    const MethodMeta meta = method.method_meta();
    std::vector<Bytes> provided(meta.num_outputs());
    for (size_t i = 0; i < meta.num_outputs(); i++) {
        const Result<TensorInfo> info = meta.output_tensor_meta(i);
        if (info.ok() && !info->is_memory_planned()) {
            provided[i].resize(info->nbytes());
            require(method.set_output_data_ptr(provided[i].data(), provided[i].size(), i),
                    "provide an output");
        }
    }
    std::vector<Bytes> results;
    for (size_t call = 0; call < 2; call++) {
        std::vector<Bytes> kept;
        std::vector<std::unique_ptr<TensorImpl>> tensors;
        for (size_t i = 0; i < meta.num_inputs(); i++) {
            const TensorInfo info = require(meta.input_tensor_meta(i), "an input");
            kept.push_back(pattern(info.scalar_type(), info.nbytes(), call + i));
            tensors.push_back(std::make_unique<TensorImpl>(
                info.scalar_type(), info.sizes().size(), const_cast<int32_t *>(info.sizes().data()),
                kept.back().data(), const_cast<uint8_t *>(info.dim_order().data())));
            require(method.set_input(Tensor(tensors.back().get()), i), "set an input");
        }
        require(method.execute(), "execute");
        for (size_t i = 0; i < method.outputs_size(); i++) {
            if (method.get_output(i).isTensor()) {
                const Tensor tensor = method.get_output(i).toTensor();
                const uint8_t *data = static_cast<const uint8_t *>(tensor.const_data_ptr());
                results.emplace_back(data, data + tensor.nbytes());
            }
        }
    }
    return results;
}

std::vector<Bytes> run_in_vectors(const Program &program, const char *name, const Needs &needs) {
    std::vector<Bytes> arenas;
    for (const arenaut_pool_need &pool : needs.pools) {
        arenas.emplace_back(pool.bytes);
    }
    std::vector<Span<uint8_t>> spans;
    for (Bytes &arena : arenas) {
        spans.emplace_back(arena.data(), arena.size());
    }
    HierarchicalAllocator planned(Span<Span<uint8_t>>(spans.data(), spans.size()));
    return run(program, name, planned);
}

// Memory that ExecuTorch's own buffer type gets through its own registry is ours as well.
void try_device_buffer() {
    DeviceMemoryBuffer buffer =
        require(DeviceMemoryBuffer::create(4096, etensor::DeviceType::CUDA, 0, 256), "a buffer");
    DeviceAllocator *allocator = get_device_allocator(etensor::DeviceType::CUDA);
    const char text[] = "to the device and back";
    char back[sizeof text] = "";
    require(allocator->copy_host_to_device(buffer.data(), text, sizeof text, 0), "copy there");
    require(allocator->copy_device_to_host(back, buffer.data(), sizeof text, 0), "copy back");
    if (std::strcmp(text, back) != 0 || reinterpret_cast<uintptr_t>(buffer.data()) % 256 != 0) {
        die("a device buffer lost bytes or is misaligned");
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 3) {
        die("usage: client FILE METHOD [device]");
    }
    const bool on_device = argc > 3 && std::strcmp(argv[3], "device") == 0;
    arenaut_fault fault{};

    // The host's memory under its own number, and once more under that of the device.
    static arenaut_host_allocator host, device;
    arenaut_host_open(&host, nullptr, 0);
    arenaut_host_open(&device, nullptr, 0);
    device.hosted.allocator.type = ARENAUT_DEVICE_CUDA;
    require(arenaut_device_register(&host.hosted.allocator, &fault), fault);

    runtime_init();
    FileDataLoader loader = require(FileDataLoader::from(argv[1]), "open");
    const Program program = require(
        Program::load(&loader, Program::Verification::InternalConsistency), "load the program");
    const MethodMeta meta = require(program.method_meta(argv[2]), argv[2]);
    const Needs needs(meta, on_device);

    static Bridge bridge(etensor::DeviceType::CUDA);
    if (on_device) {
        register_device_allocator(&bridge);
        // Before there is an allocator, the missing one is named.
        std::vector<arenaut_device_buffer> buffers(needs.pools.size());
        std::vector<arenaut_span> spans(needs.pools.size());
        arenaut_memory_manager manager;
        if (arenaut_memory_create(&needs.method, buffers.data(), spans.data(), &manager, &fault) ==
                ARENAUT_OK ||
            fault.reason != ARENAUT_FAULT_DEVICE_ABSENT) {
            die("a device without an allocator was not refused");
        }
        require(arenaut_device_register(&device.hosted.allocator, &fault), fault);
        try_device_buffer();
    }

    std::vector<Bytes> ours;
    {
        Memories memories(needs);
        HierarchicalAllocator planned = memories.hierarchy();
        ours = run(program, argv[2], planned);
    }
    const bool agree = ours == run_in_vectors(program, argv[2], needs);

    std::printf("memories:");
    for (const arenaut_pool_need &pool : needs.pools) {
        std::printf(" %zu", pool.bytes);
    }
    std::printf("%s\n%zu outputs %s\n", on_device ? " on the device" : "", ours.size(),
                agree ? "agree" : "DIFFER");
    return agree ? 0 : 1;
}
