/* A plugin for QEMU that writes each load and store of the emulated program as valgrind's lackey
 * does (" L address,size", " S address,size"), so that a binary for a device can be traced where
 * it is emulated:
 *
 *     gcc -shared -fPIC trace_plugin.c -o trace_plugin.so
 *     qemu-system-arm … -plugin trace_plugin.so,to=trace.txt
 *
 * QEMU's interface for plugins, version 1, is declared here as far as it is used; builds of QEMU
 * do not always bring the header. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void accessed(unsigned cpu, qemu_plugin_meminfo_t what, uint64_t address, void *data);
typedef void ended(qemu_plugin_id_t id, void *data);
enum { NO_REGISTERS = 0, LOADS_AND_STORES = 3 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated *callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction, accessed *callback,
                                      int registers, int which, void *data);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t what);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t what);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, ended *callback, void *data);

int qemu_plugin_version = 1;
static FILE *trace;

static void write_access(unsigned cpu, qemu_plugin_meminfo_t what, uint64_t address, void *data) {
    (void)cpu, (void)data;
    fprintf(trace, " %c %" PRIx64 ",%u\n", qemu_plugin_mem_is_store(what) ? 'S' : 'L', address,
            1U << qemu_plugin_mem_size_shift(what));
}

static void watch(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), write_access,
                                         NO_REGISTERS, LOADS_AND_STORES, NULL);
    }
}

static void finish(qemu_plugin_id_t id, void *data) {
    (void)id, (void)data;
    fclose(trace);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    (void)info;
    static const char key[] = "to=";
    if (argc != 1 || strncmp(argv[0], key, sizeof key - 1) != 0) return -1;
    trace = fopen(argv[0] + sizeof key - 1, "w");
    if (!trace) return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, watch);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
