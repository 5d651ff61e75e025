/* CUDA's memory on a tape, as an allocator that PyTorch can be told to use
 * (torch.cuda.memory.CUDAPluggableAllocator): the requests of one training step are recorded and
 * planned into one arena, and the steps after it are served from that.
 *
 * There is one tape in a process, since the two functions that PyTorch calls are told of no other
 * context. It belongs to one device and one of its streams: memory that is given back on a stream
 * may be handed out again on the same stream at once, and on no other. Memory outside of runs, and
 * requests of a run beyond its recording, come from the driver, which synchronizes with the device
 * when such memory is given back.
 *
 * Threads: any call from any thread; each blocks until the one before it has returned. A run is
 * recorded and played over all threads that ask on its stream, and their order must be the same
 * each time. */
#ifndef GPU_CUDA_TAPE_H
#define GPU_CUDA_TAPE_H

#include <sys/types.h>

#include <arenaut/tape.h>

/* PyTorch's entry points. NULL if there is no memory. Blocks are aligned to 512 bytes. */
void *arenaut_gpu_malloc(ssize_t size, int device, void *stream);
void arenaut_gpu_free(void *block, ssize_t size, int device, void *stream);

/* Names the driver's library instead of libcuda.so.1; before the first request. */
arenaut_status arenaut_gpu_driver(const char *library, arenaut_error *err);

/* Begins a run of this device and stream that is recorded, or played as it was recorded and
 * planned; _end ends it. In between nothing of another device or stream counts. The errors are
 * those of arenaut_tape_record, _play and _end. */
arenaut_status arenaut_gpu_record(int device, void *stream, arenaut_error *err);
arenaut_status arenaut_gpu_play(arenaut_error *err);
arenaut_status arenaut_gpu_end(arenaut_error *err);

/* Plans the recorded run, has the plan checked, and takes the arena from the driver. */
arenaut_status arenaut_gpu_plan(arenaut_error *err);

/* Gives the arena back and forgets the recording. REFUSED during a run, and while blocks of the
 * arena are out. */
arenaut_status arenaut_gpu_forget(arenaut_error *err);

typedef struct arenaut_gpu_figures {
    uint64_t arena, bound;      /* bytes; no plan needs less than `bound` */
    uint64_t driver, most;      /* bytes taken from the driver now, the arena among them; at most */
    uint64_t driver_calls;      /* requests that went to the driver */
    arenaut_tape_counts counts; /* of the tape */
} arenaut_gpu_figures;

void arenaut_gpu_count(arenaut_gpu_figures *figures);

#endif
