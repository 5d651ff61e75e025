/* The table of a file's memories: a row for each that a method states, with its size now and with
 * the plan in the file. The sizes are found by src/stages/file_memories.c. */
#include "memories.h"

#include <inttypes.h>

#include "text_table.h"

/* "forward, memory 1". */
static void describe_memory(const arenaut_pipeline *p, const arenaut_memory *memory,
                            arenaut_text *out) {
    const char *name = p->document.program->methods[memory->method].name;
    if (name) text_put_clean(out, shortened(name).text);
    else text_printf(out, "method %" PRIu32, memory->method);
    text_printf(out, ", memory %" PRIu32, memory->id + 1);
    if (memory->device.type || memory->device.index) {
        text_printf(out, " (device %u.%u)", (unsigned)memory->device.type,
                    (unsigned)memory->device.index);
    }
}

void put_memories(const arenaut_pipeline *p, const char *indent, arenaut_text *out) {
    const arenaut_memories *list = &p->memories;
    text_table table;
    table_begin(&table, "llrrrrr");
    for (size_t i = 0; i < list->n; i++) {
        const arenaut_memory *row = &list->rows[i];
        arenaut_text what = {0};
        describe_memory(p, row, &what);
        table_cellf(&table, "%s%-9s", indent, i ? "" : "memories");
        table_cell(&table, what.bytes);
        table_cell(&table, "now");
        table_cell(&table, with_commas(row->now).text);
        table_cell(&table, list->sized ? "planned" : "");
        table_cell(&table, list->sized ? with_commas(row->planned).text : "");
        table_cell(&table, list->sized && row->now && row->planned != row->now
                               ? change_percent(row->now, row->planned).text
                               : "");
        arenaut_text_free(&what);
    }
    table_end(&table, out, "", "");
}
