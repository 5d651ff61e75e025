/* Names with a number each, in a tree that branches at the first bit in which two of them differ (a
 * crit-bit tree). A look-up costs no more than reading the name, even for names chosen by an
 * attacker; a hash table would have no such bound. */
#ifndef ARN_CORE_NAME_TREE_H
#define ARN_CORE_NAME_TREE_H

#include "core/memory.h"

/* A name as it lies in the file. */
typedef struct arn_name {
    const uint8_t *text;
    size_t length;
} arn_name;

typedef struct arn_name_tree {
    struct arn_name_node *root; /* NULL: no name yet */
} arn_name_tree;

/* Adds `name` with `value`, or finds its old value: *value is then that, and *found true. False if
 * there is no memory. */
bool arn_name_tree_add(arn_name_tree *tree, arn_region *region, arn_name name, uint32_t *value,
                       bool *found);
/* False if the name is not there. */
bool arn_name_tree_find(const arn_name_tree *tree, arn_name name, uint32_t *value);

#endif
