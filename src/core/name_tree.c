/* The crit-bit tree of name_tree.h (D. J. Bernstein, cr.yp.to/critbit.html): a branch holds the
 * first bit in which the names below it differ. A lookup reads the name once and compares one
 * candidate. */
#include "core/name_tree.h"

#include <string.h>

/* A name, or a branch: names whose bit number `bit` is 0 are on side 0. Bits are counted from
 * the front, nine to a byte, of which the first tells whether there is such a byte at all:
 * so a name and its own beginning differ too. */
typedef struct arn_name_node {
    bool is_name;
    uint32_t value;
    arn_name name;
    uint64_t bit;
    struct arn_name_node *side[2];
} arn_name_node;

static unsigned bit_of(arn_name name, uint64_t bit) {
    const uint64_t byte = bit / 9;
    if (byte >= name.length) return 0;
    if (bit % 9 == 0) return 1;
    return name.text[byte] >> (8 - bit % 9) & 1;
}

static bool equal(arn_name a, arn_name b) {
    return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

/* The name that shares the most with `name`. */
static const arn_name_node *nearest(const arn_name_node *node, arn_name name) {
    while (node && !node->is_name) node = node->side[bit_of(name, node->bit)];
    return node;
}

/* The first bit in which two different names differ. */
static uint64_t first_difference(arn_name a, arn_name b) {
    uint64_t byte = 0;
    while (byte < a.length && byte < b.length && a.text[byte] == b.text[byte]) byte++;
    uint64_t bit = byte * 9;
    while (bit_of(a, bit) == bit_of(b, bit)) bit++;
    return bit;
}

bool arn_name_tree_find(const arn_name_tree *tree, arn_name name, uint32_t *value) {
    const arn_name_node *node = nearest(tree->root, name);
    if (!node || !equal(node->name, name)) return false;
    *value = node->value;
    return true;
}

static arn_name_node *new_name(arn_region *region, arn_name name, uint32_t value) {
    arn_name_node *node = arn_region_allocate(region, 1, sizeof *node);
    if (node) *node = (arn_name_node){.is_name = true, .value = value, .name = name};
    return node;
}

bool arn_name_tree_add(arn_name_tree *tree, arn_region *region, arn_name name, uint32_t *value,
                       bool *found) {
    *found = arn_name_tree_find(tree, name, value);
    if (*found) return true;
    arn_name_node *leaf = new_name(region, name, *value);
    if (!leaf) return false;
    if (!tree->root) {
        tree->root = leaf;
        return true;
    }
    arn_name_node *branch = arn_region_allocate(region, 1, sizeof *branch);
    if (!branch) return false;
    const uint64_t bit = first_difference(nearest(tree->root, name)->name, name);
    arn_name_node *parent = NULL, *at = tree->root;
    while (!at->is_name && at->bit < bit) {
        parent = at;
        at = at->side[bit_of(name, at->bit)];
    }
    const unsigned side = bit_of(name, bit);
    *branch = (arn_name_node){.bit = bit};
    branch->side[side] = leaf;
    branch->side[!side] = at;
    if (parent) {
        parent->side[bit_of(name, parent->bit)] = branch;
    } else {
        tree->root = branch;
    }
    return true;
}
