/* qnn-direct: ExecuTorch on a Hexagon processor itself (QNN's direct mode), portable kernels and
 * delegated graphs beside one another. There a delegate works on the arena's memory as it is: by
 * backends/qualcomm at cff6f4dd, `TensorWrapper::FillDataBuffer` hands QNN the tensor's address,
 * which must be a multiple of QNN_TENSOR_ALIGNMENT, and a size rounded up to it. The application
 * (QnnExecuTorchIdlWrapper.cpp there) has such room for the program's inputs and outputs; between
 * two delegates, or a delegate and a kernel, the plan has to. On Android the delegate copies, or
 * has memory of QNN's, so that the set `portable` is enough. */
#include <arenaut/kernels.h>

static const arenaut_align_rule align[] = {
    {"QnnBackend", 64, true},
    {NULL, 0, false},
};

extern const arenaut_kernel_set arn_kernels_portable;
extern const arenaut_kernel_set arn_kernels_qnn_direct;
const arenaut_kernel_set arn_kernels_qnn_direct = {
    .name = "qnn-direct",
    .summary = "ExecuTorch on a Hexagon processor: QNN's delegates work on 64-byte blocks",
    .version = "executorch cff6f4dd",
    .base = &arn_kernels_portable,
    .align = align,
};
