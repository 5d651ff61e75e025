/* The table of file formats: readers, and writers of plans.
 *
 * Threads: files may be read and written at once; writers only read the result. */
#ifndef ARENAUT_FORMAT_H
#define ARENAUT_FORMAT_H

#include <arenaut/result.h>
#include <arenaut/sink.h>
#include <arenaut/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The content of a file: a program (models), or a problem, with the plan if it had one; beside the
 * problem of a trace, the measurements of its recording. */
typedef struct arenaut_document {
    const struct arenaut_format *format;
    arenaut_program *program;
    arenaut_problem *problem;
    arenaut_plan *plan;
    arenaut_trace *trace;
    arenaut_remat_certificate *rematerialization; /* beside a plan; NULL: none is stated */
    arenaut_given_kernels kernels; /* that the plan was made for, where it says so; the name lives
                                    * as long as the plan. A program has its own: given_kernels */
    uint32_t n_rounded;            /* beside a plan, as in arenaut_rewrite; 0: none are stated */
    arenaut_given_ops ops; /* beside a plan, as far as they are stated. They live as long as the
                            * plan */
    const arenaut_memory *memories; /* beside a plan: stated with it; NULL: none. Its methods are
                                     * those of the problem. They live as long as the plan */
    size_t n_memories;
    bool measured; /* beside a plan: its file states neither arenas nor spill. They are those of the
                    * problem beside it */
} arenaut_document;

void arenaut_document_free(arenaut_document *document); /* frees its content, not itself */

/* A value, or a range of values, for a size that a file leaves open. "*": for every size that has
 * none after the others. */
typedef struct arenaut_dim {
    const char *name;
    int64_t min, max;
} arenaut_dim;

typedef struct arenaut_read_options {
    uint64_t max_memory; /* refuse to allocate more than this for one file; 0: no limit */
    /* Called with a note that is no error, e.g. an unknown CSV column; may be NULL. */
    void (*note)(void *context, const char *text);
    void *note_context;
    /* For formats that bind_dims; those of a program are bound by the pipeline that
     * reads it. Of a range, buffers have the size for its upper end. BAD_ARGUMENT if
     * the file has no size of a name. */
    const arenaut_dim *dims;
    size_t n_dims;
    uint64_t reserved[4]; /* zero; later versions of 1.x take their fields here */
} arenaut_read_options;

/* A path of so many bytes, not terminated. */
typedef void arenaut_external_fn(void *context, const char *path, size_t length);

typedef struct arenaut_format {
    const char *name, *summary;
    const char *extensions; /* ".tflite .lite" */
    /* Whether these bytes look like this format: cheap, never reads past `size`. NULL:
     * cannot be read. */
    bool (*recognise)(const uint8_t *data, size_t size);
    arenaut_status (*read)(const uint8_t *data, size_t size, const arenaut_read_options *options,
                           const arenaut_allocator *allocator, arenaut_document *out,
                           arenaut_error *err);
    /* Writes the result with its plan. NULL: cannot be written. REFUSED if this format
     * cannot hold it, with the reason. */
    arenaut_status (*write)(const arenaut_result *result, arenaut_sink sink,
                            const arenaut_allocator *allocator, arenaut_error *err);
    bool binds_dims;     /* read() gives a problem, of the sizes in `dims` */
    bool needs_original; /* writes by patching result->file, which must be of this format */
    bool holds_order;    /* of a program whose ops were reordered, write() puts them in their order;
                          * so does the runtime, if it is set to */
    bool holds_orders;   /* so of each method, where a program has several */
    bool holds_repeats;  /* of a program with rematerialized ops, write() adds the copies */
    bool holds_tiles;    /* of a program that was split, write() puts the tiles in place of the ops,
                          * whether or not the runtime obeys a plan in the file */
    /* Writes the file back without the plan that we wrote. NULL: cannot be undone. */
    arenaut_status (*strip)(const uint8_t *data, size_t size, arenaut_sink sink,
                            const arenaut_allocator *allocator, arenaut_error *err);
    /* Writes a file that holds a plan without the bytes that nothing in it leads to; it cannot be
     * stripped then. REFUSED where that is not known of all of them. NULL: there are none. */
    arenaut_status (*compact)(const uint8_t *data, size_t size, arenaut_sink sink,
                              const arenaut_allocator *allocator, arenaut_error *err);
    /* Names the files that hold constants of a file which has been read, relative to its folder:
     * one for each constant, so that some come several times. NULL: constants are in it. */
    void (*list_external)(const uint8_t *data, size_t size, arenaut_external_fn *each,
                          void *context);
} arenaut_format;

size_t arenaut_format_count(void);
const arenaut_format *arenaut_format_at(size_t index);       /* NULL past the end */
const arenaut_format *arenaut_format_find(const char *name); /* NULL if unknown */
/* By content: the first row that recognises the bytes; NULL if none does. */
const arenaut_format *arenaut_format_recognise(const uint8_t *data, size_t size);
/* By the name of a file to be written; NULL if no row has its extension. */
const arenaut_format *arenaut_format_for_path(const char *path);

/* Reads bytes of any known format, or of the one named (`format` may be NULL). On OK the document
 * is the caller's, and it is valid: programs and problems have been validated. Constants are not
 * copied, and the document does not refer to `data` afterwards. Safe for any bytes; time and memory
 * are bounded by a constant times `size`. */
arenaut_status arenaut_read(const uint8_t *data, size_t size, const arenaut_format *format,
                            const arenaut_read_options *options, const arenaut_allocator *allocator,
                            arenaut_document *out, arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
