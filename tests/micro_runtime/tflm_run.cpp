// Runs a model in tflite-micro and says where its arena goes. The interpreter is the plain one of
// firmware, which records nothing; its allocator is put together here as MicroAllocator::Create
// does, so that both ends of the arena can be asked.
//
//     tflm_run [--trace] [--load-only] [--count] [--dump FILE] [--requests|--places FILE]
//              MODEL.tflite ARENA_BYTES [INPUT.bin…]
//
// Prints one JSON object: head and tail in bytes, `used` as arena_used_bytes() has it, and size and
// hash (FNV-1a, 64 bits) of each output. Inputs that are not given are zero. `--dump` writes the
// bytes of all outputs, one after another. `--load-only` does not run the model. `--count` prints
// the `instructions` of Invoke, on bare metal and where QEMU counts them. `--trace` lists
// what each op asks for: of the tail while its options are parsed and by its kernel, and scratch.
// `--requests` prints what the planner is asked for, as a problem in CSV, on standard error; with
// `--places` tensors and scratch lie where that problem's plan in CSV says
// (examples/micro_planner). Exit status: 0 ran, 1 the runtime refused (too small an arena, an op
// that it does not have), 2 the call was wrong.
//
//     tflm_run --sizes
//
// Prints, as CSV, what every operator takes of the tail whatever the model: its parsed options and
// the data that its kernel begins with; and the sizes of the structs that the runtime keeps.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "../../examples/micro_planner/planned_memory.h"
#include "python/tflite_micro/python_ops_resolver.h"
#include "tensorflow/lite/micro/arena_allocator/recording_single_arena_buffer_allocator.h"
#include "tensorflow/lite/micro/arena_allocator/single_arena_buffer_allocator.h"
#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
#include "tensorflow/lite/micro/memory_planner/micro_memory_planner.h"
#include "tensorflow/lite/micro/micro_allocation_info.h"
#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_interpreter_context.h"
#include "tensorflow/lite/micro/micro_interpreter_graph.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/micro/recording_micro_allocator.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tensorflow/lite/schema/schema_utils.h"

// Executed so far; bare_metal.c has it.
extern "C" uint64_t instructions() __attribute__((weak));

namespace {

constexpr size_t kAlign = 16;

// Not every C library for bare metal prints a size_t.
unsigned long plain(size_t n) { return n; }

struct Requests {
    std::vector<size_t> parsed, persistent, scratch;
};

// What the ops of each subgraph ask for; global, since the runtime's hooks carry no argument.
std::vector<std::vector<Requests>> trace;

tflite::MicroInterpreterGraph &graph_of(TfLiteContext *context) {
    auto *micro = static_cast<tflite::MicroInterpreterContext *>(context->impl_);
    return static_cast<tflite::MicroInterpreterGraph &>(micro->graph());
}

Requests &requests_of(TfLiteContext *context) {
    auto &graph = graph_of(context);
    return trace[graph.GetCurrentSubgraphIndex()][graph.GetCurrentOperatorIndex()];
}

void *(*allocate_persistent)(TfLiteContext *, size_t);
TfLiteStatus (*request_scratch)(TfLiteContext *, size_t, int *);

void *traced_persistent(TfLiteContext *context, size_t bytes) {
    requests_of(context).persistent.push_back(bytes);
    return allocate_persistent(context, bytes);
}

TfLiteStatus traced_scratch(TfLiteContext *context, size_t bytes, int *index) {
    requests_of(context).scratch.push_back(bytes);
    return request_scratch(context, bytes, index);
}

class Interpreter : public tflite::MicroInterpreter {
  public:
    using MicroInterpreter::MicroInterpreter;

    void hook() {
        auto &context = const_cast<TfLiteContext &>(this->context());
        allocate_persistent = context.AllocatePersistentBuffer;
        request_scratch = context.RequestScratchBufferInArena;
        context.AllocatePersistentBuffer = traced_persistent;
        context.RequestScratchBufferInArena = traced_scratch;
    }
};

// Parsing once more, apart from the arena, tells what an op's options take there.
class ParsedSizes : public tflite::TfLiteBridgeBuiltinDataAllocator {
  public:
    std::vector<size_t> sizes;
    void *Allocate(size_t size, size_t alignment) override {
        sizes.push_back(size);
        return aligned_alloc(kAlign, (size + kAlign - 1) / kAlign * kAlign);
    }
    void Deallocate(void *data) override { free(data); }
};

void trace_parsing(const tflite::Model *model, const tflite::MicroOpResolver &resolver) {
    for (const auto *subgraph : *model->subgraphs()) {
        trace.emplace_back();
        if (!subgraph->operators()) continue;
        for (const auto *op : *subgraph->operators()) {
            ParsedSizes allocator;
            void *data = nullptr;
            const auto type =
                tflite::GetBuiltinCode(model->operator_codes()->Get(op->opcode_index()));
            auto parser = resolver.GetOpDataParser(type);
            if (type != tflite::BuiltinOperator_CUSTOM && parser) {
                tflite::CallBuiltinParseFunction(parser, op, &allocator, &data);
            }
            trace.back().push_back({allocator.sizes, {}, {}});
        }
    }
}

std::string name_of(const tflite::Model *model, const tflite::Operator *op) {
    const auto *code = model->operator_codes()->Get(op->opcode_index());
    const auto type = tflite::GetBuiltinCode(code);
    return type == tflite::BuiltinOperator_CUSTOM ? code->custom_code()->str()
                                                  : tflite::EnumNameBuiltinOperator(type);
}

void print_list(const char *name, const std::vector<size_t> &list) {
    printf(", \"%s\": [", name);
    for (size_t i = 0; i < list.size(); i++) printf("%s%lu", i ? ", " : "", plain(list[i]));
    printf("]");
}

void print_trace(const tflite::Model *model) {
    const char *separator = "";
    printf(", \"ops\": [");
    for (size_t g = 0; g < trace.size(); g++) {
        for (size_t o = 0; o < trace[g].size(); o++) {
            const auto *op = model->subgraphs()->Get(g)->operators()->Get(o);
            printf("%s\n  {\"method\": %lu, \"op\": %lu, \"operator\": \"%s\"", separator, plain(g),
                   plain(o), name_of(model, op).c_str());
            print_list("parsed", trace[g][o].parsed);
            print_list("persistent", trace[g][o].persistent);
            print_list("scratch", trace[g][o].scratch);
            printf("}");
            separator = ",";
        }
    }
    printf("]");
}

std::vector<uint8_t> read_file(const char *path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

uint64_t hash_of(const void *data, size_t size) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ static_cast<const uint8_t *>(data)[i]) * 0x100000001b3;
    }
    return hash;
}

// How many the model has, by name: the application has to say so.
int count_variables(const tflite::Model *model) {
    std::set<std::string> names;
    for (const auto *subgraph : *model->subgraphs()) {
        if (!subgraph->operators()) continue;
        for (const auto *op : *subgraph->operators()) {
            if (name_of(model, op) != "VAR_HANDLE") continue;
            const auto *options = op->builtin_options_as_VarHandleOptions();
            const auto *name = options ? options->shared_name() : nullptr;
            names.insert(name ? name->str() : "");
        }
    }
    return static_cast<int>(names.size());
}

bool set_inputs(Interpreter &interpreter, char **paths, int n) {
    for (size_t i = 0; i < interpreter.inputs_size(); i++) {
        TfLiteTensor *input = interpreter.input(i);
        memset(input->data.raw, 0, input->bytes);
        if (static_cast<int>(i) >= n) continue;
        const auto bytes = read_file(paths[i]);
        if (bytes.size() != input->bytes) {
            fprintf(stderr, "%s has %lu bytes, input %lu takes %lu\n", paths[i],
                    plain(bytes.size()), plain(i), plain(input->bytes));
            return false;
        }
        memcpy(input->data.raw, bytes.data(), bytes.size());
    }
    return true;
}

bool print_outputs(Interpreter &interpreter, const char *dump) {
    FILE *file = dump ? fopen(dump, "wb") : nullptr;
    bool written = !dump || file;
    printf(", \"outputs\": [");
    for (size_t i = 0; i < interpreter.outputs_size(); i++) {
        const TfLiteTensor *output = interpreter.output(i);
        printf("%s{\"bytes\": %lu, \"hash\": \"%016llx\"}", i ? ", " : "", plain(output->bytes),
               static_cast<unsigned long long>(hash_of(output->data.raw, output->bytes)));
        if (file) written &= fwrite(output->data.raw, 1, output->bytes, file) == output->bytes;
    }
    printf("]");
    if (file) written &= fclose(file) == 0;
    if (!written) fprintf(stderr, "%s cannot be written\n", dump);
    return written;
}

struct Call {
    bool tracing = false, load_only = false, counting = false, requests = false;
    const char *dump = nullptr, *places = nullptr, *model = nullptr;
    size_t arena_bytes = 0;
    char **inputs = nullptr;
    int n_inputs = 0;
};

template <typename Planner, typename... Arguments>
tflite::MicroMemoryPlanner *kept(tflite::SingleArenaBufferAllocator *ends, Arguments... arguments) {
    void *place = ends->AllocatePersistentBuffer(sizeof(Planner), alignof(Planner));
    return place ? new (place) Planner(arguments...) : nullptr;
}

// The columns of kPlaces under one line with their names.
constexpr char kPlaces[] = "id,lower,upper,size,alignment,offset\n";

bool read_places(const char *path, std::vector<arenaut::PlannedBuffer> &buffers,
                 arenaut::MemoryPlan &plan) {
    const auto bytes = read_file(path);
    const std::string text(bytes.begin(), bytes.end());
    int id, first, end, size, align, offset;
    if (text.compare(0, strlen(kPlaces), kPlaces)) {
        fprintf(stderr, "%s: its first line is not %s", path, kPlaces);
        return false;
    }
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
        if (at + 1 == text.size()) break;
        if (sscanf(&text[at + 1], "%d,%d,%d,%d,%d,%d", &id, &first, &end, &size, &align, &offset) !=
            6) {
            fprintf(stderr, "%s: not a line of a plan: %s\n", path, &text[at + 1]);
            return false;
        }
        buffers.push_back({size, first, end - 1, offset});
        if (size + offset > plan.arena) plan.arena = size + offset;
    }
    plan.n = static_cast<int32_t>(buffers.size());
    plan.buffers = buffers.data();
    return true;
}

// As MicroAllocator::Create(arena, size), but keeps hold of what is below.
tflite::MicroAllocator *make_allocator(const Call &call, uint8_t *arena,
                                       const arenaut::MemoryPlan *plan,
                                       tflite::SingleArenaBufferAllocator **ends) {
    *ends = tflite::SingleArenaBufferAllocator::Create(arena, call.arena_bytes);
    auto *planner = call.places     ? kept<arenaut::PlannedMemory>(*ends, plan)
                    : call.requests ? kept<arenaut::RecordedMemory>(*ends)
                                    : kept<tflite::GreedyMemoryPlanner>(*ends);
    return planner ? tflite::MicroAllocator::Create(*ends, planner) : nullptr;
}

int run(const Call &call) {
    const size_t arena_bytes = call.arena_bytes;
    const auto file = read_file(call.model);
    void *aligned = aligned_alloc(kAlign, (file.size() + kAlign - 1) / kAlign * kAlign);
    memcpy(aligned, file.data(), file.size());
    const tflite::Model *model = tflite::GetModel(aligned);
    // One block more: the arena may have any size, and what is behind it stays untouched.
    auto *arena = static_cast<uint8_t *>(
        aligned_alloc(kAlign, (arena_bytes + kAlign - 1) / kAlign * kAlign + kAlign));
    if (!arena) {
        fprintf(stderr, "%lu bytes of arena are more than there is\n", plain(arena_bytes));
        return 2;
    }
    tflite::PythonOpsResolver resolver;
    tflite::SingleArenaBufferAllocator *ends = nullptr;
    std::vector<arenaut::PlannedBuffer> buffers;
    arenaut::MemoryPlan plan = {0, 0, nullptr};
    if (call.places && !read_places(call.places, buffers, plan)) return 2;
    tflite::MicroAllocator *allocator = make_allocator(call, arena, &plan, &ends);
    if (!allocator) return 1;
    const int n_variables = count_variables(model);
    auto *variables =
        n_variables ? tflite::MicroResourceVariables::Create(allocator, n_variables) : nullptr;
    Interpreter interpreter(model, resolver, allocator, variables);
    if (call.tracing) {
        trace_parsing(model, resolver);
        interpreter.hook();
    }
    if (interpreter.AllocateTensors() != kTfLiteOk) return 1;
    printf("{\"head\": %lu, \"tail\": %lu, \"used\": %lu", plain(ends->GetNonPersistentUsedBytes()),
           plain(ends->GetPersistentUsedBytes()), plain(interpreter.arena_used_bytes()));
    bool fine = true;
    if (!call.load_only) {
        if (!set_inputs(interpreter, call.inputs, call.n_inputs)) return 2;
        const bool counting = call.counting && instructions;
        const uint64_t before = counting ? instructions() : 0;
        if (interpreter.Invoke() != kTfLiteOk) return 1;
        if (counting) {
            printf(", \"instructions\": %llu",
                   static_cast<unsigned long long>(instructions() - before));
        }
        fine = print_outputs(interpreter, call.dump);
    }
    if (call.tracing) print_trace(model);
    printf("}\n");
    return fine ? 0 : 2;
}

// Where a kernel is told to begin without a model: it may only ask for memory.
class BareContext : public tflite::MicroContext {
  public:
    size_t bytes = 0;
    void *AllocatePersistentBuffer(size_t size) override {
        bytes += (size + kAlign - 1) / kAlign * kAlign;
        return calloc(1, size);
    }
    TfLiteStatus RequestScratchBufferInArena(size_t, int *) override { return kTfLiteError; }
    void *GetScratchBuffer(int) override { return nullptr; }
    TfLiteTensor *AllocateTempTfLiteTensor(int) override { return nullptr; }
    void DeallocateTempTfLiteTensor(TfLiteTensor *) override {}
    uint8_t *AllocateTempBuffer(size_t, size_t) override { return nullptr; }
    void DeallocateTempBuffer(uint8_t *) override {}
    TfLiteEvalTensor *GetEvalTensor(int) override { return nullptr; }
    TfLiteStatus set_external_context(void *) override { return kTfLiteError; }
    void *external_context() override { return nullptr; }
    tflite::MicroGraph &graph() override { abort(); }

  private:
    TF_LITE_REMOVE_VIRTUAL_DELETE
};

size_t parsed_bytes(const tflite::MicroOpResolver &resolver, tflite::BuiltinOperator type) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(tflite::CreateOperator(builder));
    const auto *op = flatbuffers::GetRoot<tflite::Operator>(builder.GetBufferPointer());
    ParsedSizes allocator;
    void *data = nullptr;
    size_t bytes = 0;
    tflite::CallBuiltinParseFunction(resolver.GetOpDataParser(type), op, &allocator, &data);
    for (const size_t size : allocator.sizes) bytes += size;
    return bytes;
}

// VAR_HANDLE and CALL_ONCE, IF, WHILE read their options as they begin; theirs are all zero here.
size_t initial_bytes(const TFLMRegistration *registration) {
    BareContext bare;
    TfLiteContext context = {};
    static const char options[256] = {};
    context.impl_ = static_cast<tflite::MicroContext *>(&bare);
    context.AllocatePersistentBuffer = tflite::MicroContextAllocatePersistentBuffer;
    if (registration->init) registration->init(&context, options, 0);
    return bare.bytes;
}

int print_sizes() {
    tflite::PythonOpsResolver resolver;
    printf("# kind,name,bytes,kernel bytes\n");
#define STRUCT(type) printf("struct," #type ",%lu,\n", plain(sizeof(type)))
    STRUCT(tflite::SingleArenaBufferAllocator);
    STRUCT(tflite::RecordingSingleArenaBufferAllocator);
    STRUCT(tflite::GreedyMemoryPlanner);
    STRUCT(tflite::MicroAllocator);
    STRUCT(tflite::RecordingMicroAllocator);
    STRUCT(tflite::SubgraphAllocations);
    STRUCT(tflite::NodeAndRegistration);
    STRUCT(tflite::ScratchBufferHandle);
    STRUCT(tflite::internal::ScratchBufferRequest);
    STRUCT(tflite::AllocationInfo);
    STRUCT(TfLiteEvalTensor);
    STRUCT(TfLiteTensor);
    STRUCT(TfLiteAffineQuantization);
    STRUCT(tflite::MicroResourceVariables);
#undef STRUCT
    for (int op = 0; op <= tflite::BuiltinOperator_MAX; op++) {
        const auto type = static_cast<tflite::BuiltinOperator>(op);
        const TFLMRegistration *registration = resolver.FindOp(type);
        if (!registration || type == tflite::BuiltinOperator_CUSTOM) continue;
        printf("op,%s,%lu,%lu\n", tflite::EnumNameBuiltinOperator(type),
               plain(parsed_bytes(resolver, type)), plain(initial_bytes(registration)));
    }
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    Call call;
    int at = 1;
    if (argc == 2 && !strcmp(argv[1], "--sizes")) return print_sizes();
    for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
        if (!strcmp(argv[at], "--trace")) call.tracing = true;
        else if (!strcmp(argv[at], "--load-only")) call.load_only = true;
        else if (!strcmp(argv[at], "--count")) call.counting = true;
        else if (!strcmp(argv[at], "--dump") && at + 1 < argc) call.dump = argv[++at];
        else if (!strcmp(argv[at], "--requests")) call.requests = true;
        else if (!strcmp(argv[at], "--places") && at + 1 < argc) call.places = argv[++at];
        else break;
    }
    if (argc - at < 2 || !strncmp(argv[at], "--", 2)) {
        fprintf(stderr,
                "usage: tflm_run [--trace] [--load-only] [--count] [--dump FILE] "
                "[--requests|--places FILE] MODEL ARENA_BYTES [INPUT...]\n");
        return 2;
    }
    call.model = argv[at];
    call.arena_bytes = strtoull(argv[at + 1], nullptr, 10);
    call.inputs = argv + at + 2;
    call.n_inputs = argc - at - 2;
    return run(call);
}
