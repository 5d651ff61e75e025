/* Devices: the owners of memory. */
#ifndef ARENAUT_DEVICE_H
#define ARENAUT_DEVICE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Device types that have a number here. A program may use others below
 * ARENAUT_DEVICE_TYPES as it likes; the numbers of host and CUDA are ExecuTorch's. */
enum {
    ARENAUT_DEVICE_HOST = 0,
    ARENAUT_DEVICE_CUDA = 1,
    ARENAUT_DEVICE_OPENCL = 2,
    ARENAUT_DEVICE_TYPES = 16 /* the runtime's registry has room for as many */
};

/* A device that memory belongs to. Type 0 is the host. */
typedef struct arenaut_device {
    uint16_t type;
    uint16_t index;
} arenaut_device;

#ifdef __cplusplus
}
#endif
#endif
