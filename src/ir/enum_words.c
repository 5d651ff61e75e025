/* The words that files and reports use for enum values: one table each, made from the same list
 * as the enum, so that the two cannot differ. */
#include <arenaut/check.h>
#include <arenaut/plan.h>
#include <arenaut/problem.h>
#include <arenaut/program.h>

#include "ir/problem.h"
#include "ir/program.h"

const char *arn_problem_trait_name(uint32_t bit) {
    static const char *const words[] = {
#define XX(number, name, text) [number] = text,
        ARENAUT_PROBLEM_TRAIT_MAP(XX)
#undef XX
    };
    return bit < ARENAUT_PROBLEM_TRAITS ? words[bit] : NULL;
}

const char *arenaut_class_name(arenaut_class cls) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_CLASS_MAP(XX)
#undef XX
    };
    return (unsigned)cls < ARENAUT_CLASS_COUNT ? names[cls] : NULL;
}

const char *arn_op_kind_name(arenaut_op_kind kind) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_OP_KIND_MAP(XX)
#undef XX
    };
    return (unsigned)kind < ARENAUT_OP_KIND_COUNT ? names[kind] : NULL;
}

const char *arn_binding_kind_name(arenaut_binding_kind kind) {
    static const char *const names[] = {"mutates", "gradient", "loss", "mutated"};
    return (unsigned)kind < ARENAUT_BINDING_COUNT ? names[kind] : NULL;
}

const char *arenaut_rule_name(arenaut_rule rule) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_RULE_MAP(XX)
#undef XX
    };
    return (unsigned)rule < ARENAUT_RULE_COUNT ? names[rule] : NULL;
}

const char *arenaut_dtype_name(arenaut_dtype dtype) {
    static const char *const names[] = {
#define XX(name, text, bits) text,
        ARENAUT_DTYPE_MAP(XX)
#undef XX
    };
    return (unsigned)dtype < ARENAUT_DTYPE_COUNT ? names[dtype] : NULL;
}

uint32_t arenaut_dtype_bits(arenaut_dtype dtype) {
    static const uint8_t widths[] = {
#define XX(name, text, bits) bits,
        ARENAUT_DTYPE_MAP(XX)
#undef XX
    };
    return (unsigned)dtype < ARENAUT_DTYPE_COUNT ? widths[dtype] : 0;
}

const char *arenaut_quality_name(arenaut_quality quality) {
    static const char *const names[] = {"optimal", "feasible", "infeasible"};
    return (unsigned)quality < 3 ? names[quality] : NULL;
}

const char *arenaut_stop_name(arenaut_stop stop) {
    static const char *const names[] = {"proof", "effort", "time", "interrupt", "end"};
    return (unsigned)stop < 5 ? names[stop] : NULL;
}
