"""The exported header as a static program: on the host, in C and in C++."""

import json
import re
import subprocess

import pytest

from conftest import DATA, ROOT

# Puts the program on memory, and prints where each of its tensors lies.
MAIN = """
#include <stdio.h>
#include <arenaut/runtime_program.h>
#include "model.h"
#ifdef __cplusplus
#define _Alignas alignas
#endif
_Alignas(NAME_ARENA_ALIGN) static unsigned char arena[NAME_ARENA_BYTES];
int main(void) {
    const arenaut_span pool[] = {{arena, sizeof arena}}, less[] = {{arena, sizeof arena - 1}};
    const arenaut_memory_manager memory = arenaut_memory_on_host(pool, 1);
    const arenaut_memory_manager small = arenaut_memory_on_host(less, 1);
    arenaut_instance model;
    arenaut_fault fault;
    arenaut_span span;
    char text[160];
    if (arenaut_instance_init(&model, &name_program, NAME_FINGERPRINT, &small, &fault))
        puts(arenaut_fault_text(&fault, text, sizeof text));
    if (arenaut_instance_init(&model, &name_program, NAME_FINGERPRINT ^ 1, &memory, &fault))
        puts(arenaut_fault_text(&fault, text, sizeof text));
    if (arenaut_instance_init(&model, &name_program, NAME_FINGERPRINT, &memory, &fault)) return 1;
    for (uint32_t m = 0; m < name_program.n_methods; m++) {
        if (arenaut_instance_begin(&model, m, &fault)) return 1;
        for (uint32_t k = 0; k < name_program.method[m].n_inputs; k++) {
            if (arenaut_instance_input(&model, k, &span, &fault)) continue;
            printf("%s input %u: %u\\n", name_program.method[m].name, (unsigned)k,
                   (unsigned)((unsigned char *)span.data - arena));
        }
        for (uint32_t k = 0; k < name_program.method[m].n_outputs; k++) {
            if (arenaut_instance_output(&model, k, &span, &fault)) continue;
            printf("%s output %u: %u\\n", name_program.method[m].name, (unsigned)k,
                   (unsigned)((unsigned char *)span.data - arena));
        }
        if (arenaut_instance_end(&model, &fault)) return 1;
    }
    return 0;
}
"""


@pytest.mark.parametrize("model", ["mobilenet_v1_025_96_int8", "if_while_float"])
@pytest.mark.parametrize("compiler", ["cc -std=c11 -x c", "c++ -std=c++17 -x c++"])
def test_an_exported_header_is_a_static_program(arenaut, tmp_path, model, compiler):
    arenaut("export", DATA / f"{model}.tflite", "--as", "header", "-o", tmp_path / "model.h")
    header = (tmp_path / "model.h").read_text()
    (tmp_path / "main.c").write_text(MAIN.replace("NAME", model.upper()).replace("name_", model + "_"))
    objects = []
    for name in ("static_program", "memory_manager", "fault", "fault_text"):
        objects.append(tmp_path / f"{name}.o")
        subprocess.run(["cc", "-std=c11", f"-I{ROOT}/include", f"-I{ROOT}/src", "-c",
                        ROOT / "src" / "runtime" / f"{name}.c", "-o", objects[-1]], check=True)
    subprocess.run([*compiler.split(), "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include",
                    tmp_path / "main.c", "-x", "none", *objects, "-o", tmp_path / "main"],
                   check=True)
    lines = subprocess.run([tmp_path / "main"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    size = re.search(r"_ARENA_BYTES (\d+)u", header).group(1)
    assert lines[0] == (f"pool 0: {int(size) - 1} bytes are given, the plan needs {size}")
    assert lines[1] == "the plan is for another program: fingerprints differ"
    # What the runtime says is what the macros say, which other tests hold against the plan.
    stated = re.findall(r"_(INPUT|OUTPUT)_(\d+)_OFFSET (\d+)u", header)
    found = [re.search(r"(input|output) (\d+): (\d+)", line).groups() for line in lines[2:]]
    assert [(kind.upper(), k, offset) for kind, k, offset in found] == stated
    assert len(found) >= 2


# A kernel that makes two bytes of each, over its own operand as far as the plan says.
OVERLAP_MAIN = """
#include <stdio.h>
#include <string.h>
#include <arenaut/runtime_program.h>
#include "twice.h"
_Alignas(TWICE_ARENA_ALIGN) static unsigned char arena[TWICE_ARENA_BYTES];
static void twice(const unsigned char *x, unsigned char *y) {
    for (int i = 0; i < 1600; i++) y[i] = (unsigned char)(3 * x[i / 2] + x[i / 2 + 1]);
}
int main(void) {
    const arenaut_span pool[] = {{arena, sizeof arena}};
    const arenaut_memory_manager memory = arenaut_memory_on_host(pool, 1);
    static unsigned char x[801], y[1600];
    arenaut_instance model;
    arenaut_fault fault;
    arenaut_span in, out;
    for (int i = 0; i < 801; i++) x[i] = (unsigned char)(i * i);
    if (arenaut_instance_init(&model, &twice_program, TWICE_FINGERPRINT, &memory, &fault) ||
        arenaut_instance_begin(&model, 0, &fault) ||
        arenaut_instance_input(&model, 0, &in, &fault) ||
        arenaut_instance_output(&model, 0, &out, &fault))
        return 1;
    memcpy(in.data, x, sizeof x);
    twice(in.data, out.data);
    twice(x, y);
    printf("%d %d\\n", (int)((unsigned char *)in.data - (unsigned char *)out.data),
           memcmp(out.data, y, sizeof y));
    return 0;
}
"""


def test_results_reach_into_operands(arenaut, tmp_path):
    (tmp_path / "twice.json").write_text(json.dumps({
        "schema": "arenaut.program/1",
        "tensors": [{"name": "x", "dtype": "uint8", "dims": [801]},
                    {"name": "y", "dtype": "uint8", "dims": [1600]}],
        "inputs": ["x"], "outputs": ["y"],
        "ops": [{"name": "twice", "inputs": ["x"], "outputs": ["y"],
                 "overlaps": [{"output": 0, "input": 0, "distance": 800}]}]}))
    arenaut("plan", tmp_path / "twice.json", "--overlap", "on", "-o", tmp_path / "twice.h")
    assert "#define TWICE_ARENA_BYTES 1601u" in (tmp_path / "twice.h").read_text()
    (tmp_path / "main.c").write_text(OVERLAP_MAIN)
    sources = [ROOT / "src" / "runtime" / f"{name}.c"
               for name in ("static_program", "memory_manager", "fault")]
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include",
                    f"-I{ROOT}/src", f"-I{tmp_path}", tmp_path / "main.c", *sources,
                    "-o", tmp_path / "main"], check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    assert done.stdout == "800 0\n"


# A program on two devices, its memories made through the registry of what the header says.
DEVICE_MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <arenaut/runtime_program.h>
#include "two.h"
static arenaut_status allocate(arenaut_device_allocator *self, size_t size, size_t align,
                               uint32_t index, void **address, arenaut_fault *fault) {
    (void)fault;
    printf("device %u.%u: %u bytes\\n", (unsigned)self->type, (unsigned)index, (unsigned)size);
    *address = aligned_alloc(align < 16 ? 16 : align, (size + 63) / 64 * 64);
    return ARENAUT_OK;
}
static void deallocate(arenaut_device_allocator *self, void *address, uint32_t index) {
    (void)self; (void)index;
    free(address);
}
static arenaut_status init(arenaut_device_allocator *a, uint32_t m, size_t n, uint32_t i,
                           arenaut_fault *f) {
    (void)a; (void)m; (void)n; (void)i; (void)f;
    return ARENAUT_UNSUPPORTED;
}
static arenaut_status at(arenaut_device_allocator *a, uint32_t m, size_t o, size_t n, uint32_t i,
                         void **p, arenaut_fault *f) {
    (void)a; (void)m; (void)o; (void)n; (void)i; (void)p; (void)f;
    return ARENAUT_UNSUPPORTED;
}
static arenaut_status copy(arenaut_device_allocator *a, void *to, const void *from, size_t n,
                           uint32_t i, arenaut_fault *f) {
    (void)a; (void)to; (void)from; (void)n; (void)i; (void)f;
    return ARENAUT_UNSUPPORTED;
}
int main(void) {
    arenaut_device_allocator host = {0, init, at, allocate, deallocate, copy, copy}, cuda = host;
    cuda.type = 1;
    arenaut_device_buffer buffer[3] = {{0}};
    arenaut_span span[3];
    arenaut_memory_manager memory;
    arenaut_instance model;
    arenaut_fault fault;
    char text[160];
    const arenaut_method_memory needs = arenaut_static_program_memory(&two_program);
    if (needs.n_buffers != 3 || arenaut_device_register(&host, &fault) ||
        arenaut_device_register(&cuda, &fault) ||
        arenaut_memory_create(&needs, buffer, span, &memory, &fault) ||
        arenaut_instance_init(&model, &two_program, TWO_FINGERPRINT, &memory, &fault)) return 1;
    const arenaut_memory_manager on_host = arenaut_memory_on_host(span, 3);
    if (arenaut_instance_init(&model, &two_program, TWO_FINGERPRINT, &on_host, &fault))
        puts(arenaut_fault_text(&fault, text, sizeof text));
    for (int i = 0; i < 3; i++) arenaut_device_buffer_destroy(&buffer[i]);
    return 0;
}
"""

TWO_DEVICES = """{"schema": "arenaut.program/1",
 "tensors": [{"name": "x", "bytes": 64}, {"name": "a", "bytes": 256, "device": 1},
             {"name": "b", "bytes": 128, "device": {"type": 1, "index": 1}},
             {"name": "y", "bytes": 64}],
 "inputs": ["x"], "outputs": ["y"],
 "ops": [{"name": "to", "inputs": ["x"], "outputs": ["a"]},
         {"name": "over", "inputs": ["a"], "outputs": ["b"]},
         {"name": "back", "inputs": ["b"], "outputs": ["y"]}]}
"""


def test_a_header_says_which_memory_lies_on_which_device(arenaut, tmp_path):
    (tmp_path / "two.program.json").write_text(TWO_DEVICES)
    arenaut("export", tmp_path / "two.program.json", "--as", "header", "-o", tmp_path / "two.h")
    (tmp_path / "main.c").write_text(DEVICE_MAIN)
    sources = ["static_program", "memory_manager", "memory_devices", "device_buffer",
               "device_registry", "fault", "fault_text"]
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include",
                    f"-I{ROOT}/src", tmp_path / "main.c",
                    *(ROOT / "src" / "runtime" / f"{name}.c" for name in sources),
                    "-o", tmp_path / "main"], check=True)
    lines = subprocess.run([tmp_path / "main"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    assert lines == ["device 0.0: 64 bytes", "device 1.0: 256 bytes", "device 1.1: 128 bytes",
                     "pool 1: the plan wants it on device type 1, not 0"]
