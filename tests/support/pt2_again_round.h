/* A torch.export archive, on its way through recompute. */
#ifndef SUPPORT_PT2_AGAIN_ROUND_H
#define SUPPORT_PT2_AGAIN_ROUND_H

#include <arenaut/pipeline.h>

/* Plans bytes of a model with ops that run again, in another order too if asked, and writes it. */
arenaut_status pt2_again_write(const void *data, size_t size, bool reorder,
                               const arenaut_allocator *allocator, arenaut_text *out,
                               uint32_t *n_again, arenaut_error *err);

/* What must hold for any bytes: they are refused with a message, or what is written is read back as
 * the program that was planned. What does not begin as an archive is taken for the model.json of
 * one. Aborts, with a line on standard error, if it does not. True if ops run again. */
bool pt2_again_property(const uint8_t *data, size_t size);

#endif
