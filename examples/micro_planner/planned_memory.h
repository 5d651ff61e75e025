// A memory planner object for tflite-micro that places tensors *and* the scratch of kernels
// at the offsets of arenaut's plan. A plan inside the model (docs/tflite.md) places tensors
// alone, and the runtime's own planner then has to find room for scratch around them.
//
//     // once, on a desk: prints the requests
//     static arenaut::RecordedMemory recorded;
//     tflite::MicroAllocator::Create(arena, sizeof arena, &recorded);
//
//     arenaut plan requests.csv -o planned.csv                      # of those lines
//     awk -f examples/micro_planner/plan_header.awk planned.csv > memory_plan.h
//
//     // from then on, in the firmware
//     #include "memory_plan.h"
//     static arenaut::PlannedMemory planned(&kMemoryPlan);
//     tflite::MicroAllocator::Create(arena, sizeof arena, &planned);
//
// The requests are the model's and the kernels', so a plan is for both: with other kernels, or
// another version of them, AllocateTensors fails and says which buffer differs, and nothing runs.
#ifndef ARENAUT_EXAMPLES_PLANNED_MEMORY_H
#define ARENAUT_EXAMPLES_PLANNED_MEMORY_H

#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
#include "tensorflow/lite/micro/memory_planner/micro_memory_planner.h"
#include "tensorflow/lite/micro/micro_log.h"

namespace arenaut {

// One request, in the order in which the runtime makes them, and where it lies. Bytes; `last` is
// the last step that uses it.
struct PlannedBuffer {
    int32_t size, first, last, offset;
};

struct MemoryPlan {
    int32_t n, arena;
    const PlannedBuffer *buffers;
};

class PlannedMemory : public tflite::MicroMemoryPlanner {
  public:
    // The plan is borrowed.
    explicit PlannedMemory(const MemoryPlan *plan) : plan_(plan) {}

    TfLiteStatus AddBuffer(int size, int first, int last) override {
        if (asked_ >= plan_->n) {
            MicroPrintf("the plan has %d buffers, and more are asked for",
                        static_cast<int>(plan_->n));
            return kTfLiteError;
        }
        const PlannedBuffer &known = plan_->buffers[asked_];
        if (size != known.size || first != known.first || last != known.last) {
            MicroPrintf(
                "buffer %d: %d bytes from step %d to %d; the plan is for %d bytes from step %d to "
                "%d",
                static_cast<int>(asked_), size, first, last, static_cast<int>(known.size),
                static_cast<int>(known.first), static_cast<int>(known.last));
            return kTfLiteError;
        }
        asked_++;
        return kTfLiteOk;
    }

    TfLiteStatus AddBuffer(int, int, int, int) override {
        MicroPrintf(
            "the model holds a plan of its own, which this planner does not mix with another");
        return kTfLiteError;
    }

    TfLiteStatus GetOffsetForBuffer(int index, int *offset) override {
        if (asked_ != plan_->n || index < 0 || index >= asked_) {
            MicroPrintf("buffer %d: %d buffers were asked for, and the plan has %d", index,
                        static_cast<int>(asked_), static_cast<int>(plan_->n));
            return kTfLiteError;
        }
        *offset = plan_->buffers[index].offset;
        return kTfLiteOk;
    }

    size_t GetMaximumMemorySize() override { return static_cast<size_t>(plan_->arena); }
    int GetBufferCount() override { return asked_; }
    bool preserves_all_tensors() const override { return false; }

  private:
    const MemoryPlan *plan_;
    int32_t asked_ = 0;

    TF_LITE_REMOVE_VIRTUAL_DELETE
};

// Plans as the runtime does by itself, and prints each request as a line of a problem in CSV.
class RecordedMemory : public tflite::GreedyMemoryPlanner {
  public:
    TfLiteStatus AddBuffer(int size, int first, int last) override {
        if (asked_ == 0) MicroPrintf("id,lower,upper,size,alignment");
        MicroPrintf("%d,%d,%d,%d,16", static_cast<int>(asked_++), first, last + 1, size);
        return GreedyMemoryPlanner::AddBuffer(size, first, last);
    }

  private:
    int32_t asked_ = 0;

    TF_LITE_REMOVE_VIRTUAL_DELETE
};

}  // namespace arenaut

#endif
