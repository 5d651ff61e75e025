/* onnxruntime: ONNX Runtime on the CPU. It plans when a session starts and once more in its first
 * run, and takes no plan from a file; a plan here shows the bytes that it could need. */
#include <arenaut/target.h>

extern const arenaut_target arn_target_onnxruntime;
const arenaut_target arn_target_onnxruntime = {
    .name = "onnxruntime",
    .summary = "ONNX Runtime on the CPU: offsets and sizes in steps of 64 bytes",
    .format = "onnx",
    .align = 64,
    .round_sizes = true,
    .state_in_arena = true,
    .skip_untouched = true,
    .incumbent = "onnxruntime",
};
