/* An executor of blocks: its state, and the calls of its kernels. */
#ifndef EXECUTOR_H
#define EXECUTOR_H

#include <stdbool.h>

#include <arenaut/runtime_allocators.h>
#include <arenaut/runtime_graph.h>
#include <arenaut/runtime_plan.h>

enum { MOST_VALUES = 16, MOST_PACKED = 4 };

typedef struct tensor {
    float *data;
    size_t n; /* floats */
} tensor;

typedef struct executor executor;
typedef void kernel(executor *e, const arenaut_node *node);

/* A graph, and the kernel of each of its nodes. */
typedef struct block {
    arenaut_graph graph;
    kernel *const *kernels;
} block;

struct executor {
    const block *block;
    executor *inner; /* that a node of this block runs; NULL: none does */
    arenaut_value value[MOST_VALUES];
    tensor tensor[MOST_VALUES];
    tensor packed[MOST_PACKED]; /* elements of the tuple that is being built */
    arenaut_iteration *it;
    void *room; /* that the iteration works in */
    arenaut_iteration_planner planner;
    arenaut_source source;
    arenaut_storage brought; /* by a kernel, in place of its value's own */
    arenaut_fault fault;
    uint32_t runs;
};

/* An iteration for the block: one block, one iteration. */
void open_executor(executor *e, const block *of, executor *inner, uint16_t slack);
void close_executor(executor *e);
/* allocate, the kernels in their order, deallocate. Then outputs are held. */
void run_block(executor *e);

/* For kernels. */
const tensor *input_of(const executor *e, const arenaut_node *node, uint32_t i);
/* Memory for n floats of an output, where the plan wants it or elsewhere. */
float *make_output(executor *e, const arenaut_node *node, uint32_t i, size_t n);
/* The first output, in memory that the kernel takes itself. */
void bring_storage(executor *e, const arenaut_node *node, size_t n);
/* Ends the program, with the fault's sentence, unless all is well. */
void require(const executor *e, arenaut_status status);

#endif
