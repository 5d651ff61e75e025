/* Small programs, written out in a test:
 *
 *     arenaut_program *p = new_program();
 *     begin_method(p, "main");
 *     const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
 *     const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
 *     ADD_OP(p, .name = "RELU", IN(x), OUT(y), IN_PLACE(0, 0));
 *     FINISH(p, LIST(x), LIST(y));
 *
 * Everything fails the test rather than return an error. The caller frees the program. */
#ifndef SUPPORT_PROGRAMS_H
#define SUPPORT_PROGRAMS_H

#include <arenaut/program.h>

#include "support/random.h"

arenaut_program *new_program(void);
uint32_t begin_method(arenaut_program *program, const char *name);    /* an entry */
uint32_t begin_submethod(arenaut_program *program, const char *name); /* called by ops */
/* Tensors belong to the method begun last. */
uint32_t add_tensor(arenaut_program *program, const char *name, uint64_t bytes, arenaut_class cls);
/* Of dense elements; of the first method, without a name of its own. */
uint32_t add_shaped(arenaut_program *program, arenaut_class cls, arenaut_dtype dtype,
                    const int64_t *dims, uint32_t rank);
uint32_t add_view(arenaut_program *program, const char *name, uint32_t storage, uint64_t offset,
                  uint64_t bytes);
/* Fills in the op's method: the one begun last. */
uint32_t add_op(arenaut_program *program, arenaut_op op);
void set_io(arenaut_program *program, uint32_t method, const uint32_t *inputs, size_t n_inputs,
            const uint32_t *outputs, size_t n_outputs);
void finish_program(arenaut_program *program); /* validates it */

/* A valid, finished program with ops of all kinds: views, in-place pairs, state shared by
 * name, scratch, branches, loops (at most one inside another), calls, delegates. At most
 * 120 tensors of at most 4 bytes. Nearly all of its reads find something written. */
arenaut_program *random_program(rng *r);

/* Lists of tensors, with their length. */
#define LIST_COUNT(...) (sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define LIST(...) (const uint32_t[]){__VA_ARGS__}, LIST_COUNT(__VA_ARGS__)
#define NO_LIST NULL, 0

#define SET_IO(program, method, ...) set_io(program, method, __VA_ARGS__)
/* Inputs and outputs of the first method, and no more of the program. */
#define FINISH(program, ...) (set_io(program, 0, __VA_ARGS__), finish_program(program))

/* ADD_OP(program, .kind = …, IN(…), OUT(…)): the rest of arenaut_op stays zero, so the kind
 * is OUT if none is given. */
#define ADD_OP(program, ...) add_op(program, (arenaut_op){__VA_ARGS__})
#define IN(...) .inputs = (const uint32_t[]){__VA_ARGS__}, .n_inputs = LIST_COUNT(__VA_ARGS__)
#define OUT(...) .outputs = (const uint32_t[]){__VA_ARGS__}, .n_outputs = LIST_COUNT(__VA_ARGS__)
#define SCRATCH(...) \
    .scratch = (const uint32_t[]){__VA_ARGS__}, .n_scratch = LIST_COUNT(__VA_ARGS__)
#define CALLS(...) .calls = (const uint32_t[]){__VA_ARGS__}, .n_calls = LIST_COUNT(__VA_ARGS__)
#define ATTRIBUTES(...)                               \
    .attributes = (arenaut_attribute[]){__VA_ARGS__}, \
    .n_attributes = sizeof((arenaut_attribute[]){__VA_ARGS__}) / sizeof(arenaut_attribute)
#define INTS(name, ...) \
    {name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__}, NULL}
#define WORD(name, word) {name, 0, NULL, word}
#define IN_PLACE(output_, input_) \
    .in_place = &(const arenaut_in_place){output_, input_}, .n_in_place = 1

#endif
