/* An allocator that counts the bytes it has handed out, and the most at any moment. */
#ifndef SUPPORT_METER_H
#define SUPPORT_METER_H

#include <stddef.h>

#include <arenaut/allocator.h>

typedef struct meter {
    size_t now, most;
} meter;

/* Borrows `m`, which must outlive all that is taken through it. */
arenaut_allocator meter_allocator(meter *m);

#endif
