/* A torch.export archive through the library: read, passes, lower, plan, check. */
#ifndef SUPPORT_PT2_ROUND_H
#define SUPPORT_PT2_ROUND_H

#include "support/bytes.h"
#include "support/pipelines.h"

typedef struct zip_part {
    const char *name;
    const void *data;
    size_t size;
} zip_part;

/* An archive of stored entries, with 64-bit records where asked. free_bytes is due. */
bytes zip_of(const zip_part *parts, size_t n, bool large);

/* Variants of archives by different writers. */
enum {
    ZIP_LARGE_PLACES = 1, /* places with 64 bits, in the directory and at the end */
    ZIP_LARGE_SIZES = 2,  /* so sizes, in headers, behind them and in the directory */
    ZIP_FOLLOWED = 4,     /* sums and sizes come behind the bytes */
    ZIP_MARKED = 8,       /* these begin with their mark */
    ZIP_VARIANTS = 16,
};
bytes zip_with(const zip_part *parts, size_t n, unsigned variant);
/* An archive that holds this as its models/model.json. */
bytes pt2_of(const void *json, size_t size);
/* The models/model.json of an archive. */
bytes pt2_json(const bytes *archive);

/* Read, prepared with the default passes and `selection`, planned and checked; the caller frees it.
 * On failure nothing is left to be freed. */
arenaut_status pt2_open(const void *data, size_t size, const char *selection,
                        const arenaut_allocator *allocator, arenaut_pipeline **out,
                        arenaut_error *err);

/* Property of any bytes: they are refused with a message, or they make a valid program that
 * survives its passes, or is refused by one with a message, and whose plan stands. Aborts, with a
 * line on standard error, if it does not. True if there was a plan. Bytes that do not begin as an
 * archive are taken for the model.json of one: an archive's checksums keep nearly every change of
 * it out. */
bool pt2_property(const uint8_t *data, size_t size);

#endif
