// pte_kernels: asks kernels of the unmodified wheel whether they may write over an operand.
//
// Each line on standard input is one call of one kernel:
//
//     aten::add.out float:2x3 float:2x3 I:1 -> float:2x3 @ 0
//
// A tensor is TYPE:SHAPE, with /DIM_ORDER behind it unless it is dense; other arguments are I:1,
// D:0.5, B:0, S:text, L:0,1 (a list) and N for one left out. Behind "->" come the outputs, of
// which the first is made to lie where the operands behind "@" do (all of which are then one
// and the same tensor); "@ +N" has all tensors begin N bytes behind a multiple of 64, each by
// itself; "@ 0~D" or "@ 0~D/K" has operand 0 begin D bytes above output K. The kernel is run with its tensors apart, and so. The answer is one
// word a line: "same" or "differs", "trivial" where the result is the operand as it was,
// "refused" where the kernel does not take these arguments, "unknown" where there is none.
//
// Every call is a process of its own: a kernel that ends it is an answer too ("refused").

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;

namespace {

enum Answer { kSame, kDiffers, kTrivial, kRefused, kUnknown };
const char *const kAnswers[] = {"same", "differs", "trivial", "refused", "unknown"};

const std::map<std::string, ScalarType> kTypes = {
    {"bool", ScalarType::Bool},   {"uint8", ScalarType::Byte},
    {"int8", ScalarType::Char},   {"int16", ScalarType::Short},
    {"int32", ScalarType::Int},   {"int64", ScalarType::Long},
    {"half", ScalarType::Half},   {"bfloat16", ScalarType::BFloat16},
    {"float", ScalarType::Float}, {"double", ScalarType::Double},
};

uint32_t next_random(uint64_t &state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 33);
}

// Small values of either sign, none of them zero: kernels refuse to divide by that.
void put_number(ScalarType type, uint8_t *at, uint64_t &state) {
    const int32_t step = static_cast<int32_t>(next_random(state) % 8) - 4;
    const int32_t whole = step >= 0 ? step + 1 : step;
    const float number = static_cast<float>(whole) + (next_random(state) % 64) / 128.0f;
    switch (type) {
        case ScalarType::Float: std::memcpy(at, &number, 4); return;
        case ScalarType::Double: {
            const double wide = number;
            std::memcpy(at, &wide, 8);
            return;
        }
        case ScalarType::Half: {
            const executorch::aten::Half half = number;
            std::memcpy(at, &half, 2);
            return;
        }
        case ScalarType::BFloat16: {
            const executorch::aten::BFloat16 half = number;
            std::memcpy(at, &half, 2);
            return;
        }
        case ScalarType::Bool: *at = whole > 0; return;
        default: {
            const int64_t integer = type == ScalarType::Byte ? std::abs(whole) : whole;
            std::memcpy(at, &integer, elementSize(type));
            return;
        }
    }
}

// A tensor and the bytes that it is in.
struct Operand {
    std::vector<int32_t> sizes, strides;
    std::vector<uint8_t> order, bytes;
    ScalarType type;

    size_t count() const {
        size_t n = 1;
        for (int32_t size : sizes) {
            n *= static_cast<size_t>(size);
        }
        return n;
    }
};

Operand parse_tensor(const std::string &text, uint64_t seed) {
    Operand operand;
    const size_t colon = text.find(':'), slash = text.find('/');
    operand.type = kTypes.at(text.substr(0, colon));
    std::stringstream shape(text.substr(colon + 1, slash - colon - 1));
    for (std::string part; std::getline(shape, part, 'x');) {
        operand.sizes.push_back(std::atoi(part.c_str()));
    }
    const size_t rank = operand.sizes.size();
    for (size_t i = 0; i < rank; i++) {
        const size_t dim = slash == std::string::npos ? i : text[slash + 1 + i] - '0';
        operand.order.push_back(static_cast<uint8_t>(dim));
    }
    operand.strides.resize(rank);
    int32_t stride = 1;
    for (size_t i = rank; i-- > 0;) {
        operand.strides[operand.order[i]] = stride;
        stride *= operand.sizes[operand.order[i]];
    }
    const size_t width = elementSize(operand.type);
    operand.bytes.resize(operand.count() * width);
    uint64_t state = seed;
    for (size_t i = 0; i < operand.count(); i++) {
        put_number(operand.type, &operand.bytes[i * width], state);
    }
    return operand;
}

struct Case {
    std::string kernel;
    std::vector<std::string> arguments, outputs;
    std::vector<size_t> over;  // arguments, by position
    size_t shift = 0;          // bytes behind a multiple of 64
    bool reaches = false;      // output `result` reaches into the operand `over[0]`
    size_t result = 0;
    long above = 0;  // bytes from the one to the other
};

Case parse_case(const std::string &line) {
    Case parsed;
    std::stringstream words(line);
    words >> parsed.kernel;
    int part = 0;
    for (std::string word; words >> word;) {
        if (word == "->" || word == "@") {
            part++;
        } else if (part == 0) {
            parsed.arguments.push_back(word);
        } else if (part == 1) {
            parsed.outputs.push_back(word);
        } else if (word[0] == '+') {
            parsed.shift = std::strtoul(word.c_str() + 1, nullptr, 10);
        } else {
            char *rest = nullptr;
            parsed.over.push_back(std::strtoul(word.c_str(), &rest, 10));
            parsed.reaches = *rest == '~';
            parsed.above = parsed.reaches ? std::strtol(rest + 1, &rest, 10) : 0;
            parsed.result = *rest == '/' ? std::strtoul(rest + 1, nullptr, 10) : 0;
        }
    }
    return parsed;
}

bool is_over(const Case &c, size_t argument) {
    for (size_t position : c.over) {
        if (position == argument) {
            return true;
        }
    }
    return false;
}

// All that the arguments of one call are made of. Deques: nothing moves.
struct Call {
    std::deque<Operand> operands;
    std::deque<TensorImpl> tensors;
    std::deque<EValue> values;
    std::deque<std::vector<uint8_t>> shifted;
    std::deque<std::string> texts;
    std::deque<executorch::aten::ArrayRef<char>> strings;
    std::deque<std::vector<int64_t>> lists;
    std::deque<std::vector<EValue *>> boxes;
    std::deque<BoxedEvalueList<int64_t>> boxed;
    std::vector<EValue *> stack;

    void push(EValue value) {
        values.push_back(value);
        stack.push_back(&values.back());
    }

    void push_tensor(Operand &operand, uint8_t *data) {
        tensors.emplace_back(operand.type, static_cast<ssize_t>(operand.sizes.size()),
                             operand.sizes.data(), data, operand.order.data(),
                             operand.strides.data());
        push(EValue(Tensor(&tensors.back())));
    }

    // The operand's bytes `shift` behind a multiple of 64, which are as good as its own.
    uint8_t *shift(const Operand &operand, size_t shift) {
        shifted.emplace_back(operand.bytes.size() + 64 + shift);
        const size_t begin = reinterpret_cast<uintptr_t>(shifted.back().data());
        uint8_t *at = shifted.back().data() + (64 - begin % 64) % 64 + shift;
        std::memcpy(at, operand.bytes.data(), operand.bytes.size());
        return at;
    }

    // Room for an operand and a result that begins `above` bytes below it.
    uint8_t *room_for_both(size_t operand, size_t result, long above) {
        shifted.emplace_back(operand + result + static_cast<size_t>(std::labs(above)) + 64);
        const size_t begin = reinterpret_cast<uintptr_t>(shifted.back().data());
        return shifted.back().data() + (64 - begin % 64) % 64 + (above > 0 ? above : 0);
    }

    void push_list(const std::string &text) {
        std::stringstream parts(text);
        lists.emplace_back();
        boxes.emplace_back();
        for (std::string part; std::getline(parts, part, ',');) {
            lists.back().push_back(std::atoll(part.c_str()));
            values.push_back(EValue(lists.back().back()));
            boxes.back().push_back(&values.back());
        }
        boxed.emplace_back(boxes.back().data(), lists.back().data(),
                           static_cast<int>(boxes.back().size()));
        push(EValue(&boxed.back()));
    }

    void push_other(const std::string &word) {
        const std::string text = word.size() > 2 ? word.substr(2) : "";
        switch (word[0]) {
            case 'I': return push(EValue(static_cast<int64_t>(std::atoll(text.c_str()))));
            case 'D': return push(EValue(std::atof(text.c_str())));
            case 'B': return push(EValue(text == "1"));
            case 'L': return push_list(text);
            case 'S':
                texts.push_back(text);
                strings.emplace_back(texts.back().c_str(), texts.back().size());
                return push(EValue(&strings.back()));
            default: return push(EValue());
        }
    }
};

bool is_tensor(const std::string &word) {
    return kTypes.count(word.substr(0, word.find(':'))) != 0;
}

// Runs the kernel and gives the bytes of all outputs; `aliased`: the first one over operands.
bool run(const Case &c, OpFunction kernel, bool aliased, std::vector<uint8_t> &made) {
    Call call;
    uint8_t *base = nullptr;
    for (size_t i = 0; i < c.arguments.size(); i++) {
        if (!is_tensor(c.arguments[i])) {
            call.push_other(c.arguments[i]);
            continue;
        }
        // What is one tensor in place holds the same values apart.
        call.operands.push_back(parse_tensor(c.arguments[i], is_over(c, i) ? 7 : 100 + i));
        uint8_t *data = call.operands.back().bytes.data();
        if (aliased && c.reaches && is_over(c, i)) {
            const Operand result = parse_tensor(c.outputs[c.result], 0);
            const size_t size = call.operands.back().bytes.size();
            base = call.room_for_both(size, result.bytes.size(), c.above);
            std::memcpy(base, data, size);
            data = base;
        } else if (aliased && is_over(c, i)) {
            data = base = base ? base : data;
        } else if (aliased && c.over.empty()) {
            data = call.shift(call.operands.back(), c.shift);
        }
        call.push_tensor(call.operands.back(), data);
    }
    std::vector<std::pair<uint8_t *, size_t>> results;
    for (size_t i = 0; i < c.outputs.size(); i++) {
        call.operands.push_back(parse_tensor(c.outputs[i], 200 + i));
        Operand &operand = call.operands.back();
        uint8_t *data = aliased && i == c.result && base ? base - c.above : operand.bytes.data();
        if (aliased && c.over.empty()) {
            data = call.shift(operand, c.shift);
        }
        call.push_tensor(operand, data);
        results.emplace_back(data, operand.bytes.size());
    }
    call.stack.push_back(call.stack.back());  // what the kernel returns
    static uint8_t temporary[1 << 20];
    MemoryAllocator allocator(sizeof temporary, temporary);
    KernelRuntimeContext context(nullptr, &allocator);
    kernel(context, Span<EValue *>(call.stack.data(), call.stack.size()));
    for (const auto &result : results) {
        made.insert(made.end(), result.first, result.first + result.second);
    }
    return context.failure_state() == Error::Ok;
}

// Whether the first output is what its operand was: then nothing has been shown.
bool shows_nothing(const Case &c, const std::vector<uint8_t> &made) {
    if (c.over.empty() || c.reaches) {
        return false;
    }
    const Operand before = parse_tensor(c.arguments[c.over[0]], 7);
    return before.bytes.size() <= made.size() &&
           std::memcmp(before.bytes.data(), made.data(), before.bytes.size()) == 0;
}

Answer answer(const Case &c) {
    const Result<OpFunction> kernel = get_op_function_from_registry(c.kernel.c_str());
    std::vector<uint8_t> apart, aliased;
    if (!kernel.ok()) {
        return kUnknown;
    }
    if (!run(c, *kernel, false, apart) || !run(c, *kernel, true, aliased)) {
        return kRefused;
    }
    if (apart != aliased) {
        return kDiffers;
    }
    return shows_nothing(c, apart) ? kTrivial : kSame;
}

Answer answer_apart(const Case &c) {
    const pid_t child = fork();
    if (child == 0) {
        std::freopen("/dev/null", "w", stderr);  // what kernels say of arguments they refuse
        _exit(answer(c));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return kRefused;
    }
    return static_cast<Answer>(WEXITSTATUS(status));
}

}  // namespace

int main() {
    runtime_init();
    for (std::string line; std::getline(std::cin, line);) {
        std::cout << kAnswers[answer_apart(parse_case(line))] << "\n";
    }
    return 0;
}
