// Runs several models by interpreters that share one allocator of tflite-micro, as firmware with
// one tensor_arena for all of them does; or with the head and the tail of its arena in two
// memories.
//
//     tenants ARENA_BYTES[:TAIL_BYTES] MODEL.tflite…
//
// All interpreters are made first and then run in turn, twice; inputs are zero. Prints one JSON
// object: bytes in use, as used_bytes() has them, and a hash (FNV-1a, 64 bits) of each model's
// outputs in the second round. Exit status: 0 ran, 1 the runtime refused (too small an arena), 2
// the call was wrong.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "python/tflite_micro/python_ops_resolver.h"
#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace {

constexpr size_t kAlign = 16;

uint8_t *aligned(size_t bytes) {
    return static_cast<uint8_t *>(
        aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign + kAlign));
}

const tflite::Model *read_model(const char *path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file),
                                  std::istreambuf_iterator<char>()};
    if (bytes.empty()) return nullptr;
    return tflite::GetModel(memcpy(aligned(bytes.size()), bytes.data(), bytes.size()));
}

uint64_t run(tflite::MicroInterpreter *interpreter) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < interpreter->inputs_size(); i++) {
        memset(interpreter->input(i)->data.raw, 0, interpreter->input(i)->bytes);
    }
    if (interpreter->Invoke() != kTfLiteOk) exit(1);
    for (size_t i = 0; i < interpreter->outputs_size(); i++) {
        const TfLiteTensor *output = interpreter->output(i);
        for (size_t k = 0; k < output->bytes; k++) {
            hash = (hash ^ static_cast<uint8_t>(output->data.raw[k])) * 0x100000001b3;
        }
    }
    return hash;
}

tflite::MicroAllocator *make_allocator(const char *sizes) {
    char *end;
    const size_t first = strtoull(sizes, &end, 10);
    if (*end != ':') return tflite::MicroAllocator::Create(aligned(first), first);
    const size_t tail = strtoull(end + 1, nullptr, 10);
    return tflite::MicroAllocator::Create(aligned(tail), tail, aligned(first), first);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: tenants ARENA_BYTES[:TAIL_BYTES] MODEL...\n");
        return 2;
    }
    tflite::PythonOpsResolver resolver;
    tflite::MicroAllocator *allocator = make_allocator(argv[1]);
    std::vector<std::unique_ptr<tflite::MicroInterpreter>> interpreters;
    for (int i = 2; i < argc; i++) {
        const tflite::Model *model = read_model(argv[i]);
        if (!model) return 2;
        interpreters.push_back(
            std::make_unique<tflite::MicroInterpreter>(model, resolver, allocator));
        if (interpreters.back()->AllocateTensors() != kTfLiteOk) return 1;
    }
    printf("{\"used\": %lu, \"hashes\": [", static_cast<unsigned long>(allocator->used_bytes()));
    for (auto &interpreter : interpreters) run(interpreter.get());
    const char *separator = "";
    for (auto &interpreter : interpreters) {
        printf("%s\"%016llx\"", separator, static_cast<unsigned long long>(run(interpreter.get())));
        separator = ", ";
    }
    printf("]}\n");
    return 0;
}
