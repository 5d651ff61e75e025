/* Writer of an archive with another text of the model. */
#include "core/checked.h"
#include "core/fail.h"
#include "core/writer.h"
#include "formats/pt2/pt2.h"

enum { ALIGNMENT = 64 }; /* of the bytes of each entry, as PyTorch writes them */

/* Blanks behind a JSON text mean nothing. */
static arenaut_status pad(arenaut_text *text, uint64_t size, arenaut_error *err) {
    static const char blanks[] = "                                                                ";
    arn_writer out = arn_writer_to(arenaut_text_sink(text));
    while (text->size < size && !out.failed) {
        arn_put(&out, blanks, (size_t)arn_min_u64(size - text->size, sizeof blanks - 1));
    }
    return out.failed ? arn_no_memory(err) : ARENAUT_OK;
}

arenaut_status arn_pt2_write_model(const arn_zip *zip, const arn_zip_entry *model, size_t listed,
                                   arenaut_text *text, arenaut_sink sink, arenaut_error *err) {
    uint64_t size = model->size, more = 0;
    if (text->size > size) {
        if (!arn_align_up(text->size - size, ALIGNMENT, &more) || !arn_add(size, more, &size)) {
            return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the model is too large to be written");
        }
    }
    const arenaut_status st = pad(text, size, err);
    if (st != ARENAUT_OK) return st;
    return arn_zip_replace(zip, listed, text->bytes, text->size, sink, err);
}
