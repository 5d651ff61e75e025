/* Elements of SVG: numbers in tenths, text that a file may have chosen, lines, rectangles. */
#include <inttypes.h>
#include <string.h>

#include "report/label.h"
#include "report/svg/svg_drawing.h"

void arn_svg_tenths(svg_drawing *s, uint32_t n) {
    arn_putf(&s->out, n % 10 ? "%" PRIu32 ".%" PRIu32 : "%" PRIu32, n / 10, n % 10);
}

static void put_attribute(svg_drawing *s, const char *name, uint32_t tenths) {
    arn_putf(&s->out, " %s=\"", name);
    arn_svg_tenths(s, tenths);
    arn_puts(&s->out, "\"");
}

/* Text from a file as XML text: escaped, and without the characters XML forbids, which are
 * control characters and U+FFFE and U+FFFF. */
void arn_svg_escaped(svg_drawing *s, const char *text) {
    while (*text) {
        const size_t n = arn_report_shown_length(text);
        const bool forbidden = n == 3 && (memcmp(text, "\xEF\xBF\xBE", 3) == 0 ||
                                          memcmp(text, "\xEF\xBF\xBF", 3) == 0);
        if (n == 0 || forbidden) arn_puts(&s->out, "?");
        else if (*text == '&') arn_puts(&s->out, "&amp;");
        else if (*text == '<') arn_puts(&s->out, "&lt;");
        else if (*text == '>') arn_puts(&s->out, "&gt;");
        else if (*text == '"') arn_puts(&s->out, "&quot;");
        else arn_put(&s->out, text, n);
        text += n ? n : 1;
    }
}

void arn_svg_text(svg_drawing *s, uint32_t x, uint32_t y, const char *cls, const char *anchor,
                  const char *text) {
    arn_puts(&s->out, "<text");
    put_attribute(s, "x", x);
    put_attribute(s, "y", y);
    arn_putf(&s->out, " class=\"%s\"", cls);
    if (anchor) arn_putf(&s->out, " text-anchor=\"%s\"", anchor);
    arn_puts(&s->out, ">");
    arn_svg_escaped(s, text);
    arn_puts(&s->out, "</text>\n");
}

void arn_svg_line(svg_drawing *s, uint32_t x1, uint32_t y1, uint32_t x2, uint32_t y2,
                  const char *cls) {
    arn_puts(&s->out, "<line");
    put_attribute(s, "x1", x1);
    put_attribute(s, "y1", y1);
    put_attribute(s, "x2", x2);
    put_attribute(s, "y2", y2);
    arn_putf(&s->out, " class=\"%s\"/>\n", cls);
}

/* Leaves the tag open, for a title. */
void arn_svg_rectangle(svg_drawing *s, svg_rectangle r, const char *cls) {
    arn_puts(&s->out, "<rect");
    put_attribute(s, "x", SVG_LEFT + r.x);
    put_attribute(s, "y", s->y + r.y);
    put_attribute(s, "width", r.width);
    put_attribute(s, "height", r.height);
    arn_putf(&s->out, " class=\"%s\"", cls);
}
