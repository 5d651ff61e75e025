/* Labels of names and sizes on the rectangles: where there is room, and never over one another. */
#include <string.h>

#include "report/label.h"
#include "report/svg/svg_drawing.h"

/* Takes room for so many letters and lines in the middle of a rectangle, unless other buffers'
 * labels, whose rectangles may lie across this one, are in the way. */
static bool take_room(svg_drawing *s, svg_rectangle r, size_t letters, uint32_t lines) {
    const uint32_t width = (uint32_t)letters * SVG_LETTER, height = lines * SVG_LINE;
    const svg_rectangle box = {r.x + r.width / 2 - width / 2, r.y + r.height / 2 - height / 2,
                               width, height};
    for (uint32_t i = 0; i < s->n_labelled; i++) {
        const svg_rectangle other = s->labelled[i];
        if (box.x < other.x + other.width && other.x < box.x + box.width &&
            box.y < other.y + other.height && other.y < box.y + box.height)
            return false;
    }
    s->labelled[s->n_labelled++] = box;
    return true;
}

/* Name and size inside the rectangle, as far as there is room. A name cut to a few letters
 * says less than the size alone. */
static void put_buffer_label(svg_drawing *s, svg_rectangle r, uint32_t b, bool strong) {
    enum { LEAST_LETTERS = 16, PADDING = 50 };
    const char *cls = strong ? "label small" : "label small pl";
    const uint32_t letters = r.width > PADDING ? (r.width - PADDING) / SVG_LETTER : 0;
    const uint32_t middle = s->y + r.y + r.height / 2, x = SVG_LEFT + r.x + r.width / 2;
    const arn_label bytes = arn_report_commas(s->result->problem->size[b]);
    const arn_label whole = arn_report_buffer_label(s->result, b, 90),
                    name = arn_report_buffer_label(s->result, b, letters);
    const bool has_name = letters >= LEAST_LETTERS || arn_report_columns(whole.text) <= letters;
    const bool has_bytes = strlen(bytes.text) <= letters;
    const size_t columns = has_name ? arn_report_columns(name.text) : 0;
    const size_t longest = columns > strlen(bytes.text) ? columns : strlen(bytes.text);
    if (r.height >= 2 * SVG_LINE && has_name && has_bytes) {
        if (!take_room(s, r, longest, 2)) return;
        arn_svg_text(s, x, middle - 20, cls, "middle", name.text);
        arn_svg_text(s, x, middle + 100, cls, "middle", bytes.text);
    } else if (r.height >= SVG_LINE && (has_name || has_bytes)) {
        if (!take_room(s, r, has_name ? columns : strlen(bytes.text), 1)) return;
        arn_svg_text(s, x, middle + 35, cls, "middle", has_name ? name.text : bytes.text);
    }
}

/* After all that could cover them; buffers alive at the peak take their room first. */
void arn_svg_labels(svg_drawing *s) {
    s->n_labelled = 0;
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < s->n_chosen; i++) {
            const uint32_t b = s->owner[s->chosen[i]];
            const bool strong = arn_svg_is_strong(s, b);
            if (strong == (turn == 0))
                put_buffer_label(s, arn_svg_place(s, s->chosen[i]), b, strong);
        }
    }
}
