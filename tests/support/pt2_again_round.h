/* A torch.export archive through rematerialization. */
#ifndef SUPPORT_PT2_AGAIN_ROUND_H
#define SUPPORT_PT2_AGAIN_ROUND_H

#include <arenaut/pipeline.h>

/* Plans bytes of a model with rematerialized ops, in another schedule too if asked, and writes
 * it. */
arenaut_status pt2_again_write(const void *data, size_t size, bool reorder,
                               const arenaut_allocator *allocator, arenaut_text *out,
                               uint32_t *n_again, arenaut_error *err);

/* Property of any bytes: they are refused with a message, or the written file is read back as the
 * program that was planned. Bytes that do not begin as an archive are taken for the model.json of
 * one. Aborts, with a line on standard error, if not. True if ops are rematerialized. */
bool pt2_again_property(const uint8_t *data, size_t size);

#endif
