/* The slots and numbers of the .pte schema (version 0) that reading and writing need. */
#ifndef ARN_FORMATS_PTE_PTE_SCHEMA_H
#define ARN_FORMATS_PTE_PTE_SCHEMA_H

#define PTE_IDENTIFIER "ET12"
enum { PTE_VERSION = 0 };

/* The extended header, which lies between the identifier and the root table. */
#define PTE_HEADER_MAGIC "eh00"
enum {
    PTE_HEADER_AT = 8,
    PTE_HEADER_LENGTH = 12, /* positions in the file from here on */
    PTE_HEADER_PROGRAM_SIZE = 16,
    PTE_HEADER_SEGMENT_BASE = 24,
    PTE_HEADER_SEGMENT_SIZE = 32,
    PTE_HEADER_MIN_LENGTH = 24,          /* without the last field */
    PTE_HEADER_SEGMENT_SIZE_LENGTH = 32, /* with it */
};

/* Slots, table by table. A union takes two: its type, then its value. */
enum {
    PROGRAM_VERSION = 0,
    PROGRAM_EXECUTION_PLAN = 1,
    PROGRAM_CONSTANT_BUFFER = 2,
    PROGRAM_SEGMENTS = 4,
    PROGRAM_CONSTANT_SEGMENT = 5,
    PROGRAM_MUTABLE_DATA_SEGMENTS = 6,
};
enum { SEGMENT_OFFSET = 0, SEGMENT_SIZE = 1 };
enum { SUBSEGMENT_SEGMENT = 0, SUBSEGMENT_OFFSETS = 1 };
enum {
    PLAN_NAME = 0,
    PLAN_VALUES = 2,
    PLAN_INPUTS = 3,
    PLAN_OUTPUTS = 4,
    PLAN_CHAINS = 5,
    PLAN_OPERATORS = 6,
    PLAN_DELEGATES = 7,
    PLAN_BUFFER_SIZES = 8,
    PLAN_BUFFER_DEVICES = 9,
};
enum { DEVICE_BUFFER = 0, DEVICE_TYPE = 1, DEVICE_INDEX = 2 };
enum { VALUE_TYPE = 0, VALUE = 1 };
enum {
    TENSOR_SCALAR_TYPE = 0,
    TENSOR_STORAGE_OFFSET = 1,
    TENSOR_SIZES = 2,
    TENSOR_DIM_ORDER = 3,
    TENSOR_DATA_BUFFER = 5,
    TENSOR_ALLOCATION = 6,
    TENSOR_DYNAMISM = 8,
    TENSOR_EXTRA = 9,
};
enum { ALLOCATION_MEMORY_ID = 0, ALLOCATION_OFFSET_LOW = 1, ALLOCATION_OFFSET_HIGH = 2 };
enum {
    EXTRA_MUTABLE_SEGMENT = 0,
    EXTRA_QUALIFIED_NAME = 1,
    EXTRA_LOCATION = 2,
    EXTRA_DEVICE_TYPE = 3,
    EXTRA_DEVICE_INDEX = 4,
};
enum { INT_VALUE = 0 };
enum { BOOL_VALUE = 0 };
enum { LIST_ITEMS = 0 };
enum { CHAIN_INSTRUCTIONS = 2, CHAIN_STACKTRACE = 3 };
enum { INSTRUCTION_TYPE = 0, INSTRUCTION = 1 };
enum { CALL_CALLEE = 0, CALL_ARGS = 1 }; /* of kernels and delegates */
enum { MOVE_FROM = 0, MOVE_TO = 1 };
enum { JUMP_CONDITION = 0, JUMP_DESTINATION = 1 };
enum { OPERATOR_NAME = 0, OPERATOR_OVERLOAD = 1 };
enum { DELEGATE_ID = 0 };
enum { FRAMES_ITEMS = 0 };
enum { FRAME_FILE = 0, FRAME_LINE = 1 };

/* Kinds of values. */
enum {
    PTE_NULL = 1,
    PTE_INT = 2,
    PTE_BOOL = 3,
    PTE_TENSOR = 5,
    PTE_INT_LIST = 7, /* of values */
    PTE_TENSOR_LIST = 10,
    PTE_OPTIONAL_TENSOR_LIST = 11,
    PTE_VALUE_TYPES = PTE_OPTIONAL_TENSOR_LIST,
};
enum {
    PTE_KERNEL_CALL = 1,
    PTE_DELEGATE_CALL = 2,
    PTE_MOVE_CALL = 3,
    PTE_JUMP_FALSE_CALL = 4,
    PTE_FREE_CALL = 5,
};
enum { PTE_STATIC = 0, PTE_DYNAMIC_BOUND = 1, PTE_DYNAMIC_UNBOUND = 2 };
enum { PTE_IN_SEGMENT = 0, PTE_EXTERNAL = 1 };

#endif
