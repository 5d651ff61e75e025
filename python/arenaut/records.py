"""The structs, enums and functions of the C library. Written by scripts/python_records.py
from its headers, where each is described: change those, and run the script again. What the package
neither calls nor is given is left out."""

from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int,
                    c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)

NONE = 4294967295
UNPLACED = 18446744073709551615
UNLIMITED = 18446744073709551615
SIZE_MAX = 9223372036854775807
MAX_POOLS = 64
NO_EFFORT_LIMIT = 18446744073709551615
TYPES_ANY = 4294967295
COST_UNKNOWN = 18446744073709551615
REPORT_MAX_WIDTH = 1000
MAX_OPEN_SIZES = 8
VERSION = "1.0.0-rc1"
OK = 0
NO_MEMORY = 1
BAD_ARGUMENT = 2
BAD_INPUT = 3
UNSUPPORTED = 4
TOO_LARGE = 5
REFUSED = 6
REJECTED = 7
STOPPED = 8
IO = 9
INTERNAL = 10
NO_PLAN = 11
NOT_FOUND = 12
DEVICE_HOST = 0
DEVICE_CUDA = 1
DEVICE_OPENCL = 2
DEVICE_TYPES = 16
INTERMEDIATE = 0
INPUT = 1
OUTPUT = 2
STATE = 3
SCRATCH = 4
CONSTANT = 5
CLASS_COUNT = 6
PROBLEM_TOKENS = 1
PROBLEM_BRANCHES = 2
PROBLEM_SYMBOLIC = 4
PROBLEM_TRAITS = 3
OPTIMAL = 0
FEASIBLE = 1
INFEASIBLE = 2
STOP_PROOF = 0
STOP_EFFORT = 1
STOP_TIME = 2
STOP_INTERRUPT = 3
STOP_END = 4
FEATURE_ALIGNMENT = 1
FEATURE_GAPS = 2
FEATURE_POOLS = 4
FEATURE_CAPACITY = 8
FEATURE_FIXED_OFFSETS = 16
FEATURE_SAME_BASE = 32
FEATURE_INSIDE = 64
FEATURE_CONFLICTS = 128
FEATURE_RESERVED = 256
FEATURE_HINTS = 512
FEATURE_TOKENS = 1024
FEATURE_SEPARATIONS = 2048
FEATURE_ALL = 1023
GO_ON = 0
OUT_OF_TIME = 1
INTERRUPTED = 2
PROOF_DEAD = 0
PROOF_LOAD = 1
PROOF_OVER = 2
PROOF_EDGE = 3
PROOF_SAME = 4
PROOF_POOLS = 5
PROOF_FROM = 6
PROOF_UNTIL = 7
PROOF_BRANCH = 8
PROOF_KEPT = 9
PROOF_PLACE = 10
PROOF_ALIKE = 11
PROOF_REJECT = 12
PROOF_JOIN = 13
PROOF_POOL = 14
PROOF_ARENA = 15
PROOF_WITHOUT = 16
PROOF_ABOVE = 17
PROOF_LEVEL = 18
PROOF_HIGH = 19
PROOF_COUNT = 20
DTYPE_BOOL = 0
DTYPE_INT2 = 1
DTYPE_INT4 = 2
DTYPE_UINT4 = 3
DTYPE_INT8 = 4
DTYPE_UINT8 = 5
DTYPE_INT16 = 6
DTYPE_UINT16 = 7
DTYPE_INT32 = 8
DTYPE_UINT32 = 9
DTYPE_INT64 = 10
DTYPE_UINT64 = 11
DTYPE_FLOAT4 = 12
DTYPE_FLOAT8 = 13
DTYPE_FLOAT16 = 14
DTYPE_BFLOAT16 = 15
DTYPE_FLOAT32 = 16
DTYPE_FLOAT64 = 17
DTYPE_COMPLEX64 = 18
DTYPE_COMPLEX128 = 19
DTYPE_STRING = 20
DTYPE_RESOURCE = 21
DTYPE_VARIANT = 22
DTYPE_OTHER = 23
DTYPE_COUNT = 24
OP_OUT = 0
OP_FUNCTIONAL = 1
OP_VIEW = 2
OP_IN_PLACE = 3
OP_MAKES = 4
OP_IF = 5
OP_WHILE = 6
OP_LOOP = 7
OP_CALL = 8
OP_CALL_ONCE = 9
OP_DELEGATE = 10
OP_JUMP = 11
OP_JUMP_FALSE = 12
OP_MOVE = 13
OP_FREE = 14
OP_ALLOC = 15
OP_ALLOC_IN_PLACE = 16
OP_TUPLE = 17
OP_FIELD = 18
OP_LET = 19
OP_KIND_COUNT = 20
BINDING_MUTATES = 0
BINDING_GRADIENT = 1
BINDING_LOSS = 2
BINDING_MUTATED = 3
BINDING_COUNT = 4
GIVEN_NONE = 0
GIVEN_OURS = 1
GIVEN_FOREIGN = 2
KERNEL_NONE = 0
KERNEL_ANY = 1
KERNEL_RASTER = 2
KERNEL_BLOCK = 3
KERNEL_BLOCK_REREAD = 4
KERNEL_ROWS = 5
KERNEL_ORDER_COUNT = 6
KERNEL_EITHER = 0
KERNEL_NO = 1
KERNEL_YES = 2
PERSISTENT_NOTHING = 0
PERSISTENT_CHANNELS = 1
PERSISTENT_SCALES = 2
PERSISTENT_SHAPE = 3
PERSISTENT_LOOKUP = 4
PERSISTENT_TRANSPOSED = 5
PERSISTENT_SUMS = 6
PERSISTENT_ESTIMATES = 7
PERSISTENT_FFT = 8
PERSISTENT_GATES = 9
PERSISTENT_ROW_SUMS = 10
PERSISTENT_SCALES_SUMS = 11
OP_UNKNOWN = 0
OP_RUNS = 1
OP_REFUSED = 2
OP_MISSING = 3
LIVE_IN = 1
LIVE_OUT = 2
ORDER_CUT = 0
ORDER_AHEAD = 1
ORDER_BACK = 2
ORDER_SEARCH = 3
ORDER_SAFE = 4
ORDER_EACH = 5
ORDER_RUN = 6
ORDER_SAME = 7
ORDER_END = 8
ORDER_RULE_COUNT = 9
ORDER_HEURISTIC_GIVEN = 0
ORDER_HEURISTIC_GREEDY = 1
ORDER_HEURISTIC_LPMF = 2
ORDER_HEURISTIC_BFS = 3
ORDER_HEURISTIC_DFS = 4
ORDER_HEURISTIC_DFS_OUT = 5
ORDER_HEURISTIC_LIFO = 6
ORDER_HEURISTIC_BACKWARD = 7
ORDER_HEURISTIC_TREES = 8
ORDER_HEURISTIC_COUNT = 9
REMAT_MOST_LATER = 3
SPLIT_CHANNELS = 0
SPLIT_ROWS = 1
SPLIT_KEPT = 2
SPLIT_ROWS_CALLED = 3
SPLIT_KEPT_CALLED = 4
SPLIT_CROPPED = 5
SPLIT_KEPT_CROPPED = 6
SPLIT_FITTED = 7
SPLIT_FITTED_OVER = 8
SPLIT_MODE_COUNT = 9
RULE_NONE = 0
RULE_SHAPE = 1
RULE_UNPLACED = 2
RULE_POOL = 3
RULE_ALIGNMENT = 4
RULE_OVERFLOW = 5
RULE_CAPACITY = 6
RULE_FIXED = 7
RULE_INSIDE = 8
RULE_RESERVED = 9
RULE_OVERLAP = 10
RULE_TOKENS = 11
RULE_ARENA = 12
RULE_BOUND = 13
RULE_WITNESS = 14
RULE_PROOF = 15
RULE_OUTSIDE = 16
RULE_CLOBBERED = 17
RULE_UNWRITTEN = 18
RULE_ARGUMENTS = 19
RULE_STATE_LOST = 20
RULE_NO_PLACE = 21
RULE_RACE = 22
RULE_STALE = 23
RULE_REWRITE = 24
RULE_ORDER = 25
RULE_COUNT = 26
EXPR_VALUE = 0
EXPR_SYMBOL = 1
EXPR_ADD = 2
EXPR_SUB = 3
EXPR_MUL = 4
EXPR_FLOOR_DIV = 5
EXPR_CEIL_DIV = 6
EXPR_MOD = 7
EXPR_MIN = 8
EXPR_MAX = 9
EXPR_COUNT = 10
SCRATCH_NONE = 0
SCRATCH_GIVEN = 1
SCRATCH_UNKNOWN = 2
STAGE_READ = 0
STAGE_LOWER = 1
STAGE_INCUMBENT = 2
STAGE_PLAN = 3
STAGE_CHECK = 4
STAGE_REPLAY = 5
STAGE_OTHER = 6
OVERWRITE_BY_RULES = 0
OVERWRITE_ON = 1
OVERWRITE_ONLY = 2
OVERWRITE_OFF = 3
OUTCOME_WRITE = 0
OUTCOME_IO_ELSEWHERE = 1
OUTCOME_NOT_OBEYED = 2
OUTCOME_OUTSIDE = 3
OUTCOME_FOREIGN = 4
OUTCOME_MEMORY_GROWS = 5
OUTCOME_LARGER = 6
OUTCOME_HELD = 7
OUTCOME_NO_SMALLER = 8
OUTCOME_SCRATCH_UNKNOWN = 9
OUTCOME_POOLS = 10
OUTCOME_COUNT = 11
TAIL_BASE = 0
TAIL_TENSORS = 1
TAIL_NODES = 2
TAIL_OPTIONS = 3
TAIL_KERNELS = 4
TAIL_SCRATCH = 5
TAIL_VARIABLES = 6
TAIL_ARGUMENTS = 7
TAIL_KINDS = 8


class Error(Structure):
    pass


class Device(Structure):
    pass


class Allocator(Structure):
    pass


class Sink(Structure):
    pass


class Text(Structure):
    pass


class Interval(Structure):
    pass


class Pool(Structure):
    pass


class Conflict(Structure):
    pass


class Separation(Structure):
    pass


class Reserved(Structure):
    pass


class Problem(Structure):
    pass


class OptionalId(Structure):
    pass


class OptionalOffset(Structure):
    pass


class Witness(Structure):
    pass


class Plan(Structure):
    pass


class Progress(Structure):
    pass


class Setting(Structure):
    pass


class PlanOptions(Structure):
    pass


class Planning(Structure):
    pass


class Planner(Structure):
    pass


class InPlace(Structure):
    pass


class Overlap(Structure):
    pass


class Attribute(Structure):
    pass


class Op(Structure):
    pass


class GivenKernels(Structure):
    pass


class KernelWhen(Structure):
    pass


class KernelRule(Structure):
    pass


class InPlaceRule(Structure):
    pass


class ScratchRule(Structure):
    pass


class ScratchRequests(Structure):
    pass


class PersistentRule(Structure):
    pass


class TypeRule(Structure):
    pass


class AlignRule(Structure):
    pass


class KernelSet(Structure):
    pass


class OrderOptions(Structure):
    pass


class RematFlow(Structure):
    pass


class RematCase(Structure):
    pass


class ArenaLayout(Structure):
    pass


class Target(Structure):
    pass


class SplitStage(Structure):
    pass


class Origin(Structure):
    pass


class Rewrite(Structure):
    pass


class SplitOptions(Structure):
    pass


class SplitChoice(Structure):
    pass


class SplitFront(Structure):
    pass


class WaysToSplit(Structure):
    pass


class Roofline(Structure):
    pass


class RecomputeOptions(Structure):
    pass


class RematBound(Structure):
    pass


class RematCertificate(Structure):
    pass


class CurvePoint(Structure):
    pass


class CurveTensor(Structure):
    pass


class RecomputeCurve(Structure):
    pass


class Finding(Structure):
    pass


class TracePeak(Structure):
    pass


class Trace(Structure):
    pass


class Memory(Structure):
    pass


class GivenOps(Structure):
    pass


class Result(Structure):
    pass


class ScratchEntry(Structure):
    pass


class ScratchSizes(Structure):
    pass


class Document(Structure):
    pass


class Dim(Structure):
    pass


class ReadOptions(Structure):
    pass


class Format(Structure):
    pass


class Variant(Structure):
    pass


class ReportOptions(Structure):
    pass


class Report(Structure):
    pass


class TensorAlign(Structure):
    pass


class Pin(Structure):
    pass


class SideFile(Structure):
    pass


class Splitting(Structure):
    pass


class Reordering(Structure):
    pass


class Joining(Structure):
    pass


class Copying(Structure):
    pass


class Recomputing(Structure):
    pass


class Recomputed(Structure):
    pass


class Ordering(Structure):
    pass


class PipelineOptions(Structure):
    pass


class Baseline(Structure):
    pass


class Memories(Structure):
    pass


class Figures(Structure):
    pass


class PipelineFault(Structure):
    pass


class Pipeline(Structure):
    pass


class PipelineFile(Structure):
    pass


class StatedPlaces(Structure):
    pass


class TensorArena(Structure):
    pass


Error._fields_ = [
    ("code", c_int),
    ("at", c_size_t),
    ("msg", c_char * 320)]
Device._fields_ = [
    ("type", c_uint16),
    ("index", c_uint16)]
Allocator._fields_ = [
    ("allocate", CFUNCTYPE(c_void_p, c_void_p, c_size_t)),
    ("reallocate", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_size_t, c_size_t)),
    ("release", CFUNCTYPE(None, c_void_p, c_void_p)),
    ("context", c_void_p)]
Sink._fields_ = [
    ("put", CFUNCTYPE(c_bool, c_void_p, c_void_p, c_size_t)),
    ("context", c_void_p)]
Text._fields_ = [
    ("bytes", c_void_p),
    ("size", c_size_t),
    ("capacity", c_size_t),
    ("allocator", POINTER(Allocator))]
Interval._fields_ = [
    ("first", c_int64),
    ("end", c_int64)]
Pool._fields_ = [
    ("name", c_char_p),
    ("capacity", c_uint64),
    ("align", c_uint64),
    ("device", Device),
    ("closed", c_bool)]
Conflict._fields_ = [
    ("a", c_uint32),
    ("b", c_uint32)]
Separation._fields_ = [
    ("upper", c_uint32),
    ("lower", c_uint32),
    ("distance", c_int64)]
Reserved._fields_ = [
    ("pool", c_uint32),
    ("first", c_uint64),
    ("end", c_uint64)]
Problem._fields_ = [
    ("n_buffers", c_uint32),
    ("n_pools", c_uint32),
    ("n_lifetimes", c_uint32),
    ("n_conflicts", c_uint32),
    ("n_reserved", c_uint32),
    ("n_separations", c_uint32),
    ("traits", c_uint32),
    ("size", POINTER(c_uint64)),
    ("align", POINTER(c_uint64)),
    ("lifetime_start", POINTER(c_uint32)),
    ("pools", POINTER(c_uint64)),
    ("fixed_offset", POINTER(c_uint64)),
    ("hint", POINTER(c_uint64)),
    ("same_base", POINTER(c_uint32)),
    ("inside", POINTER(c_uint32)),
    ("inside_delta", POINTER(c_uint64)),
    ("cls", POINTER(c_uint8)),
    ("uses", POINTER(c_uint32)),
    ("method", POINTER(c_uint32)),
    ("release", POINTER(c_uint32)),
    ("name", POINTER(c_char_p)),
    ("op", POINTER(c_char_p)),
    ("source", POINTER(c_char_p)),
    ("lifetime", POINTER(Interval)),
    ("pool", POINTER(Pool)),
    ("conflict", POINTER(Conflict)),
    ("reserved", POINTER(Reserved)),
    ("separation", POINTER(Separation)),
    ("n_methods", c_uint32),
    ("method_name", POINTER(c_char_p)),
    ("store", c_void_p)]
OptionalId._fields_ = [
    ("given", c_bool),
    ("id", c_uint32)]
OptionalOffset._fields_ = [
    ("given", c_bool),
    ("bytes", c_uint64)]
Witness._fields_ = [
    ("step", c_int64),
    ("pool", c_uint32),
    ("n_buffers", c_uint32),
    ("buffers", POINTER(c_uint32)),
    ("bytes_over", c_uint64)]
Plan._fields_ = [
    ("n_buffers", c_uint32),
    ("n_pools", c_uint32),
    ("pool", POINTER(c_uint32)),
    ("offset", POINTER(c_uint64)),
    ("arena", POINTER(c_uint64)),
    ("lower_bound", POINTER(c_uint64)),
    ("total", c_uint64),
    ("total_bound", c_uint64),
    ("spill", c_uint64),
    ("spill_bound", c_uint64),
    ("quality", c_int),
    ("stopped_by", c_int),
    ("effort", c_uint64),
    ("planner", c_char_p),
    ("witness", Witness),
    ("store", c_void_p)]
Progress._fields_ = [
    ("planner", c_char_p),
    ("best", c_uint64),
    ("bound", c_uint64),
    ("effort", c_uint64),
    ("spill", c_uint64),
    ("spill_bound", c_uint64),
    ("share", c_uint32)]
Setting._fields_ = [
    ("name", c_char_p),
    ("value", c_char_p)]
PlanOptions._fields_ = [
    ("planner", c_char_p),
    ("custom", POINTER(Planner)),
    ("effort", c_uint64),
    ("seed", c_uint64),
    ("capacity", c_uint64),
    ("threads", c_uint32),
    ("progress", CFUNCTYPE(c_int, c_void_p, POINTER(Progress))),
    ("progress_context", c_void_p),
    ("settings", POINTER(Setting)),
    ("n_settings", c_size_t),
    ("reserved", c_uint64 * 4)]
Planning._fields_ = [
    ("problem", POINTER(Problem)),
    ("options", POINTER(PlanOptions)),
    ("allocator", POINTER(Allocator)),
    ("plan", POINTER(Plan)),
    ("err", POINTER(Error))]
Planner._fields_ = [
    ("name", c_char_p),
    ("summary", c_char_p),
    ("settings", c_char_p),
    ("handles", c_uint32),
    ("run", CFUNCTYPE(c_int, POINTER(Planner), POINTER(Planning))),
    ("data", c_void_p),
    ("refuses", c_uint32),
    ("attempt", c_void_p)]
InPlace._fields_ = [
    ("output", c_uint32),
    ("input", c_uint32)]
Overlap._fields_ = [
    ("output", c_uint32),
    ("input", c_uint32),
    ("distance", c_int64)]
Attribute._fields_ = [
    ("name", c_char_p),
    ("n_numbers", c_uint32),
    ("numbers", POINTER(c_int64)),
    ("text", c_char_p)]
Op._fields_ = [
    ("name", c_char_p),
    ("source", c_char_p),
    ("kind", c_int),
    ("method", c_uint32),
    ("n_inputs", c_uint32),
    ("n_outputs", c_uint32),
    ("n_scratch", c_uint32),
    ("n_calls", c_uint32),
    ("n_in_place", c_uint32),
    ("inputs", POINTER(c_uint32)),
    ("outputs", POINTER(c_uint32)),
    ("scratch", POINTER(c_uint32)),
    ("calls", POINTER(c_uint32)),
    ("in_place", POINTER(InPlace)),
    ("arguments_may_alias", c_bool),
    ("pure", c_bool),
    ("target", c_uint32),
    ("stream", c_uint32),
    ("n_after", c_uint32),
    ("after", POINTER(c_uint32)),
    ("n_attributes", c_uint32),
    ("attributes", POINTER(Attribute)),
    ("n_overlaps", c_uint32),
    ("overlaps", POINTER(Overlap)),
    ("file_index", OptionalId)]
GivenKernels._fields_ = [
    ("name", c_char_p),
    ("fingerprint", c_uint64),
    ("unmeasured", c_bool)]
KernelWhen._fields_ = [
    ("types", c_uint32),
    ("pointwise", c_int),
    ("unit_stride", c_int),
    ("grouped", c_int),
    ("padded", c_int),
    ("one_row", c_int),
    ("dilated", c_int),
    ("min_in_channels", c_uint32),
    ("max_in_channels", c_uint32),
    ("min_out_channels", c_uint32),
    ("max_out_channels", c_uint32)]
KernelRule._fields_ = [
    ("op", c_char_p),
    ("when", KernelWhen),
    ("order", c_int),
    ("block", c_uint32),
    ("measured", c_bool)]
InPlaceRule._fields_ = [
    ("op", c_char_p),
    ("input", c_uint32),
    ("output", c_uint32),
    ("any_shape", c_bool)]
ScratchRule._fields_ = [
    ("op", c_char_p),
    ("input", c_uint32),
    ("types", c_uint32)]
ScratchRequests._fields_ = [
    ("n", c_uint32),
    ("bytes", c_uint64 * 4)]
PersistentRule._fields_ = [
    ("op", c_char_p),
    ("input", c_uint32),
    ("types", c_uint32),
    ("options", c_uint16 * 2),
    ("data", c_uint16 * 2),
    ("extra", c_int)]
TypeRule._fields_ = [
    ("op", c_char_p),
    ("input", c_uint32),
    ("runs", c_uint32),
    ("refused", c_uint32),
    ("operand", c_uint32),
    ("third", c_uint32),
    ("result", c_uint32),
    ("scaled", c_bool),
    ("measured", c_bool)]
AlignRule._fields_ = [
    ("op", c_char_p),
    ("align", c_uint64),
    ("rounds", c_bool)]
KernelSet._fields_ = [
    ("name", c_char_p),
    ("summary", c_char_p),
    ("version", c_char_p),
    ("base", POINTER(KernelSet)),
    ("rules", POINTER(KernelRule)),
    ("in_place", POINTER(InPlaceRule)),
    ("scratch", POINTER(ScratchRule)),
    ("persistent", POINTER(PersistentRule)),
    ("scratch_sizes", CFUNCTYPE(c_bool, c_void_p, POINTER(Op), POINTER(ScratchRequests))),
    ("macro", c_char_p),
    ("types", POINTER(TypeRule)),
    ("complete", c_bool),
    ("align", POINTER(AlignRule))]
OrderOptions._fields_ = [
    ("effort", c_uint64),
    ("progress", CFUNCTYPE(c_int, c_void_p, POINTER(Progress))),
    ("progress_context", c_void_p),
    ("reserved", c_uint64 * 4)]
RematFlow._fields_ = [
    ("op", c_uint32),
    ("storage", c_uint32),
    ("flow", c_uint64)]
RematCase._fields_ = [
    ("storage", c_uint32),
    ("moment", c_uint32),
    ("n_flows", c_uint32),
    ("byte_price", c_uint64),
    ("time_price", c_uint64),
    ("unit", c_uint64)]
ArenaLayout._fields_ = [
    ("pointer", c_uint32),
    ("base", c_uint32),
    ("base_apart", c_uint32),
    ("builtin", c_uint32),
    ("method", c_uint32),
    ("tensor", c_uint32),
    ("op", c_uint32),
    ("argument", c_uint32),
    ("quantization", c_uint32),
    ("scratch", c_uint32),
    ("variables", c_uint32),
    ("variable", c_uint32),
    ("request", c_uint32),
    ("n_requests", c_uint32),
    ("tensor_note", c_uint32),
    ("buffer_note", c_uint32)]
Target._fields_ = [
    ("name", c_char_p),
    ("summary", c_char_p),
    ("format", c_char_p),
    ("align", c_uint64),
    ("round_sizes", c_bool),
    ("keep_inputs", c_bool),
    ("keep_outputs", c_bool),
    ("state_in_arena", c_bool),
    ("skip_untouched", c_bool),
    ("merge_calls", c_bool),
    ("arena_per_method", c_bool),
    ("share_apart", c_bool),
    ("keep_memories", c_bool),
    ("tokens", c_bool),
    ("op_order", c_bool),
    ("offsets", c_char_p),
    ("incumbent", c_char_p),
    ("plans_nothing", c_bool),
    ("plan_in_file", c_bool),
    ("places_scratch", c_bool),
    ("kernels", POINTER(KernelSet)),
    ("outside", c_char_p),
    ("layout", POINTER(ArenaLayout)),
    ("joint", c_char_p),
    ("naming", c_char_p),
    ("wide", c_char_p)]
SplitStage._fields_ = [
    ("first_op", c_uint32),
    ("n_ops", c_uint32),
    ("pieces", c_uint32),
    ("mode", c_int)]
Origin._fields_ = [
    ("tensor", c_uint32),
    ("same", c_bool),
    ("axis", c_uint32),
    ("begin", c_int64)]
Rewrite._fields_ = [
    ("program", c_void_p),
    ("n_tensors", c_uint32),
    ("n_ops", c_uint32),
    ("tensors", POINTER(Origin)),
    ("ops", POINTER(c_uint32)),
    ("before", c_uint64),
    ("after", c_uint64),
    ("stages", POINTER(SplitStage)),
    ("n_stages", c_uint32),
    ("n_ops_before", c_uint32),
    ("macs", c_uint64),
    ("macs_before", c_uint64),
    ("n_rounded", c_uint32),
    ("rounded", c_uint32),
    ("tiles", POINTER(c_uint32)),
    ("copied", POINTER(c_uint32)),
    ("n_copied", c_uint32),
    ("arguments", POINTER(c_uint32))]
SplitOptions._fields_ = [
    ("max_ops", OptionalId),
    ("max_macs", OptionalId),
    ("target", POINTER(Target)),
    ("kernels", POINTER(KernelSet)),
    ("overlap", c_bool),
    ("in_place", c_bool),
    ("unmeasured", c_bool),
    ("rounding", c_bool),
    ("run_by", POINTER(KernelSet)),
    ("effort", c_uint64),
    ("progress", CFUNCTYPE(c_int, c_void_p, POINTER(Progress))),
    ("progress_context", c_void_p),
    ("reserved", c_uint64 * 4)]
SplitChoice._fields_ = [
    ("stages", POINTER(SplitStage)),
    ("n_stages", c_uint32),
    ("tensors", c_uint64),
    ("kept", c_int64),
    ("head", c_uint64),
    ("ops", c_uint32),
    ("shared", c_uint32),
    ("macs", c_uint64),
    ("n_rounded", c_uint32)]
SplitFront._fields_ = [
    ("choices", POINTER(SplitChoice)),
    ("n_choices", c_uint32),
    ("even", POINTER(SplitChoice)),
    ("n_even", c_uint32),
    ("floor", c_uint64),
    ("floor_op", c_uint32),
    ("effort", c_uint64)]
WaysToSplit._fields_ = [
    ("front", POINTER(SplitFront)),
    ("kept", c_uint64),
    ("taken", c_uint32),
    ("fitted", c_bool)]
Roofline._fields_ = [
    ("name", c_char_p),
    ("operations", c_uint64),
    ("bytes", c_uint64),
    ("launch", c_uint64)]
RecomputeOptions._fields_ = [
    ("budget", c_uint64),
    ("max_ops", OptionalId),
    ("costs", POINTER(c_uint64)),
    ("device", Roofline),
    ("effort", c_uint64),
    ("progress", CFUNCTYPE(c_int, c_void_p, POINTER(Progress))),
    ("progress_context", c_void_p),
    ("reserved", c_uint64 * 4)]
RematBound._fields_ = [
    ("value", c_uint64),
    ("op", c_uint32),
    ("n_later", c_uint32),
    ("later", c_uint32 * REMAT_MOST_LATER),
    ("byte_price", c_uint64),
    ("time_price", c_uint64),
    ("n_flows", c_uint32),
    ("flows", POINTER(RematFlow)),
    ("n_cases", c_uint32),
    ("cases", POINTER(RematCase))]
RematCertificate._fields_ = [
    ("budget", c_uint64),
    ("base", c_uint64),
    ("added", c_uint64),
    ("any_op", c_bool),
    ("timed", c_bool),
    ("device", Roofline),
    ("time", RematBound),
    ("floor", RematBound),
    ("n_runs", c_uint32),
    ("runs", POINTER(c_uint32)),
    ("allocator", Allocator)]
CurvePoint._fields_ = [
    ("percent", c_uint32),
    ("budget", c_uint64),
    ("peak", c_uint64),
    ("added", c_uint64),
    ("bound", c_uint64),
    ("n_copies", c_uint32),
    ("fits", c_bool)]
CurveTensor._fields_ = [
    ("name", c_void_p),
    ("op", c_void_p),
    ("bytes", c_uint64)]
RecomputeCurve._fields_ = [
    ("before", c_uint64),
    ("base", c_uint64),
    ("floor", c_uint64),
    ("floor_op", c_void_p),
    ("n_tensors", c_uint32),
    ("tensors", POINTER(CurveTensor)),
    ("n_points", c_uint32),
    ("points", POINTER(CurvePoint)),
    ("allocator", Allocator)]
Finding._fields_ = [
    ("rule", c_int),
    ("a", c_uint32),
    ("b", c_uint32),
    ("op", c_uint32),
    ("method", c_uint32),
    ("step", c_int64),
    ("first", c_uint64),
    ("end", c_uint64),
    ("pool", c_uint32),
    ("msg", c_char * 320)]
TracePeak._fields_ = [
    ("bytes", c_uint64),
    ("step", c_int64)]
Trace._fields_ = [
    ("n_events", c_uint64),
    ("n_requests", c_uint32),
    ("n_held", c_uint32),
    ("has_addresses", c_bool),
    ("asked", POINTER(c_uint64)),
    ("reserved", POINTER(c_uint64)),
    ("most_asked", TracePeak),
    ("most_reserved", TracePeak),
    ("allocator", Allocator)]
Memory._fields_ = [
    ("method", c_uint32),
    ("id", c_uint32),
    ("device", Device),
    ("now", c_uint64),
    ("planned", c_uint64)]
GivenOps._fields_ = [
    ("tiles", POINTER(SplitStage)),
    ("n_tiles", c_uint32),
    ("n_copied", c_uint32),
    ("copied", POINTER(c_uint32)),
    ("schedule", POINTER(c_uint32)),
    ("n_schedule", c_uint32),
    ("n_joined", c_uint32),
    ("joined", POINTER(c_uint32))]
Result._fields_ = [
    ("path", c_char_p),
    ("format", c_char_p),
    ("sha256", c_char_p),
    ("file", c_void_p),
    ("file_size", c_size_t),
    ("program", c_void_p),
    ("rewrite", POINTER(Rewrite)),
    ("rematerialization", POINTER(RematCertificate)),
    ("ways", POINTER(WaysToSplit)),
    ("target", POINTER(Target)),
    ("kernels", POINTER(KernelSet)),
    ("unmeasured", c_bool),
    ("lowering", c_void_p),
    ("problem", POINTER(Problem)),
    ("plan", POINTER(Plan)),
    ("baseline", POINTER(Plan)),
    ("trace", POINTER(Trace)),
    ("scratch", c_int),
    ("memories", POINTER(Memory)),
    ("n_memories", c_size_t),
    ("behind", c_uint64),
    ("seconds", c_double),
    ("n_rounded", c_uint32),
    ("given_ops", GivenOps),
    ("given_kernels", GivenKernels)]
ScratchEntry._fields_ = [
    ("method", c_uint32),
    ("op", c_uint32),
    ("bytes", c_uint64)]
ScratchSizes._fields_ = [
    ("entries", POINTER(ScratchEntry)),
    ("n", c_size_t),
    ("known", c_bool)]
Document._fields_ = [
    ("format", POINTER(Format)),
    ("program", c_void_p),
    ("problem", POINTER(Problem)),
    ("plan", POINTER(Plan)),
    ("trace", POINTER(Trace)),
    ("rematerialization", POINTER(RematCertificate)),
    ("kernels", GivenKernels),
    ("n_rounded", c_uint32),
    ("ops", GivenOps),
    ("memories", POINTER(Memory)),
    ("n_memories", c_size_t),
    ("measured", c_bool)]
Dim._fields_ = [
    ("name", c_char_p),
    ("min", c_int64),
    ("max", c_int64)]
ReadOptions._fields_ = [
    ("max_memory", c_uint64),
    ("note", CFUNCTYPE(None, c_void_p, c_char_p)),
    ("note_context", c_void_p),
    ("dims", POINTER(Dim)),
    ("n_dims", c_size_t),
    ("reserved", c_uint64 * 4)]
Format._fields_ = [
    ("name", c_char_p),
    ("summary", c_char_p),
    ("extensions", c_char_p),
    ("recognise", CFUNCTYPE(c_bool, c_void_p, c_size_t)),
    ("read", CFUNCTYPE(c_int, c_void_p, c_size_t, POINTER(ReadOptions), POINTER(Allocator), POINTER(Document), POINTER(Error))),
    ("write", CFUNCTYPE(c_int, POINTER(Result), Sink, POINTER(Allocator), POINTER(Error))),
    ("binds_dims", c_bool),
    ("needs_original", c_bool),
    ("holds_order", c_bool),
    ("holds_orders", c_bool),
    ("holds_repeats", c_bool),
    ("holds_tiles", c_bool),
    ("strip", CFUNCTYPE(c_int, c_void_p, c_size_t, Sink, POINTER(Allocator), POINTER(Error))),
    ("compact", CFUNCTYPE(c_int, c_void_p, c_size_t, Sink, POINTER(Allocator), POINTER(Error))),
    ("list_external", CFUNCTYPE(None, c_void_p, c_size_t, c_void_p, c_void_p))]
Variant._fields_ = [
    ("name", c_char_p),
    ("flags", c_char_p),
    ("arena", c_uint64),
    ("result", POINTER(Result)),
    ("reserve", c_uint64),
    ("saves", c_uint64)]
ReportOptions._fields_ = [
    ("width", c_uint32),
    ("top", c_uint32),
    ("color", c_bool),
    ("unicode", c_bool),
    ("variants", POINTER(Variant)),
    ("n_variants", c_uint32),
    ("steps", Interval),
    ("replan", c_bool),
    ("curve", POINTER(RecomputeCurve)),
    ("reserved", c_uint64 * 4)]
Report._fields_ = [
    ("name", c_char_p),
    ("summary", c_char_p),
    ("extension", c_char_p),
    ("needs_plan", c_bool),
    ("emit", CFUNCTYPE(c_int, POINTER(Result), POINTER(ReportOptions), Sink, POINTER(Allocator), POINTER(Error)))]
TensorAlign._fields_ = [
    ("tensor", c_char_p),
    ("align", c_uint64)]
Pin._fields_ = [
    ("tensor", c_char_p),
    ("pool", c_char_p),
    ("offset", OptionalOffset)]
SideFile._fields_ = [
    ("text", c_char_p),
    ("size", c_size_t)]
Splitting._fields_ = [
    ("on", c_bool),
    ("stages", POINTER(SplitStage)),
    ("n_stages", c_uint32),
    ("options", SplitOptions),
    ("budget", c_uint64),
    ("head", c_uint64),
    ("tail", c_uint64)]
Reordering._fields_ = [
    ("on", c_bool),
    ("n_ops", c_uint32),
    ("ops", POINTER(c_uint32)),
    ("options", OrderOptions)]
Joining._fields_ = [
    ("chosen", c_bool),
    ("results", POINTER(c_uint32)),
    ("n", c_uint32)]
Copying._fields_ = [
    ("ops", POINTER(c_uint32)),
    ("n", c_uint32)]
Recomputing._fields_ = [
    ("on", c_bool),
    ("ops", POINTER(c_uint32)),
    ("n_ops", c_uint32),
    ("options", RecomputeOptions),
    ("costs", SideFile)]
Recomputed._fields_ = [
    ("known", c_bool),
    ("before", c_uint64),
    ("after", c_uint64),
    ("n_ops", c_uint32),
    ("bytes", c_uint64),
    ("bytes_before", c_uint64),
    ("base", c_uint64),
    ("added", c_uint64),
    ("bound", c_uint64),
    ("kept", c_uint64),
    ("floor", c_uint64),
    ("device", c_char_p),
    ("fits", c_bool),
    ("certificate", POINTER(RematCertificate))]
Ordering._fields_ = [
    ("known", c_bool),
    ("given", c_uint64),
    ("best", c_uint64),
    ("bound", c_uint64),
    ("at_ends", c_uint64),
    ("n_lines", c_uint32),
    ("heuristics", c_uint64 * ORDER_HEURISTIC_COUNT),
    ("n_joins", c_uint32),
    ("n_in_place", c_uint32),
    ("n_views", c_uint32),
    ("n_copied", c_uint32),
    ("n_held", c_uint32),
    ("between_jumps", c_bool)]
PipelineOptions._fields_ = [
    ("path", c_char_p),
    ("format", POINTER(Format)),
    ("target", POINTER(Target)),
    ("kernels", POINTER(KernelSet)),
    ("unmeasured", c_bool),
    ("method", c_char_p),
    ("passes", c_char_p),
    ("share", c_char_p),
    ("shapes", SideFile),
    ("scratch", SideFile),
    ("scratch_model", c_char_p),
    ("judge_given", c_bool),
    ("overwrite", c_int),
    ("preserve_inputs", c_bool),
    ("exclude_io", c_bool),
    ("overlap", c_bool),
    ("in_place_rules", POINTER(InPlaceRule)),
    ("n_in_place_rules", c_size_t),
    ("align_rules", POINTER(AlignRule)),
    ("n_align_rules", c_uint32),
    ("align", c_uint64),
    ("tensor_aligns", POINTER(TensorAlign)),
    ("n_tensor_aligns", c_size_t),
    ("splitting", Splitting),
    ("recomputing", Recomputing),
    ("reordering", Reordering),
    ("joining", Joining),
    ("copying", Copying),
    ("pools", POINTER(Pool)),
    ("n_pools", c_uint32),
    ("pins", POINTER(Pin)),
    ("n_pins", c_size_t),
    ("dims", POINTER(Dim)),
    ("n_dims", c_size_t),
    ("compact", c_bool),
    ("plan", PlanOptions),
    ("plan_as_made", c_bool),
    ("context", c_void_p),
    ("note", CFUNCTYPE(None, c_void_p, c_char_p)),
    ("stage", CFUNCTYPE(None, c_void_p, c_int)),
    ("after_pass", CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)),
    ("reserved", c_uint64 * 4)]
Baseline._fields_ = [
    ("plan", POINTER(Plan)),
    ("from_file", c_bool),
    ("overlaps", c_bool),
    ("in_place", c_bool),
    ("reaches", c_bool),
    ("shares", c_bool),
    ("apart", c_bool),
    ("finding", Finding),
    ("problem", POINTER(Problem)),
    ("lowering", c_void_p),
    ("program", c_void_p)]
Memories._fields_ = [
    ("rows", POINTER(Memory)),
    ("n", c_size_t),
    ("sized", c_bool)]
Figures._fields_ = [
    ("now", c_uint64),
    ("planned", c_uint64),
    ("bound", c_uint64),
    ("needed", c_uint64)]
PipelineFault._fields_ = [
    ("file", c_size_t),
    ("option", c_char_p),
    ("unknown", c_char_p),
    ("open", c_char_p * 8),
    ("n_open", c_uint32)]
Pipeline._fields_ = [
    ("options", PipelineOptions),
    ("document", Document),
    ("target", POINTER(Target)),
    ("kernels", POINTER(KernelSet)),
    ("unmeasured", c_bool),
    ("rewrite", POINTER(Rewrite)),
    ("ways", WaysToSplit),
    ("recomputed", Recomputed),
    ("ordering", Ordering),
    ("scratch", ScratchSizes),
    ("lowering", c_void_p),
    ("problem", POINTER(Problem)),
    ("op_outside", c_uint32),
    ("baseline", Baseline),
    ("memories", Memories),
    ("plan", POINTER(Plan)),
    ("figures", Figures),
    ("result", Result),
    ("fault", PipelineFault),
    ("store", c_void_p)]
PipelineFile._fields_ = [
    ("name", c_char_p),
    ("data", c_void_p),
    ("size", c_size_t)]
StatedPlaces._fields_ = [
    ("n_placed", c_uint32),
    ("bytes", c_uint64),
    ("kernels", POINTER(KernelSet))]
TensorArena._fields_ = [
    ("tensors", c_uint64),
    ("scratch", c_uint64),
    ("notes", c_uint64),
    ("head", c_uint64),
    ("tail", c_uint64),
    ("padding", c_uint64),
    ("total", c_uint64),
    ("exact", c_bool),
    ("op", c_uint32),
    ("part", c_uint64 * TAIL_KINDS),
    ("models", c_uint32),
    ("apart", c_bool),
    ("planning", c_uint64)]

#: What each function takes, and what it gives.
FUNCTIONS = {
    "arenaut_text_sink": ((POINTER(Text),), Sink),
    "arenaut_text_free": ((POINTER(Text),), None),
    "arenaut_class_name": ((c_int,), c_char_p),
    "arenaut_problem_fingerprint": ((POINTER(Problem),), c_uint64),
    "arenaut_problem_validate": ((POINTER(Problem), POINTER(Error)), c_int),
    "arenaut_quality_name": ((c_int,), c_char_p),
    "arenaut_stop_name": ((c_int,), c_char_p),
    "arenaut_plan_free": ((POINTER(Plan),), None),
    "arenaut_plan_measure": ((POINTER(Plan), POINTER(Problem), POINTER(Error)), c_int),
    "arenaut_planner_count": ((), c_size_t),
    "arenaut_planner_at": ((c_size_t,), POINTER(Planner)),
    "arenaut_planner_find": ((c_char_p,), POINTER(Planner)),
    "arenaut_plan_make": ((POINTER(Problem), POINTER(PlanOptions), POINTER(Allocator), POINTER(POINTER(Plan)), POINTER(Error)), c_int),
    "arenaut_lower_bound": ((POINTER(Problem), POINTER(Allocator), POINTER(c_uint64), POINTER(c_int64), POINTER(Error)), c_int),
    "arenaut_kernel_set_count": ((), c_size_t),
    "arenaut_kernel_set_at": ((c_size_t,), POINTER(KernelSet)),
    "arenaut_kernel_set_find": ((c_char_p,), POINTER(KernelSet)),
    "arenaut_kernel_set_read": ((c_char_p, c_size_t, POINTER(Allocator), POINTER(POINTER(KernelSet)), POINTER(Error)), c_int),
    "arenaut_kernel_set_free": ((POINTER(KernelSet),), None),
    "arenaut_target_count": ((), c_size_t),
    "arenaut_target_at": ((c_size_t,), POINTER(Target)),
    "arenaut_target_find": ((c_char_p,), POINTER(Target)),
    "arenaut_split_mode_name": ((c_int,), c_char_p),
    "arenaut_roofline_find": ((c_char_p,), POINTER(Roofline)),
    "arenaut_rule_name": ((c_int,), c_char_p),
    "arenaut_check_plan": ((POINTER(Problem), POINTER(Plan), POINTER(Allocator), POINTER(Finding), POINTER(Error)), c_int),
    "arenaut_caching_reserve": ((POINTER(Problem), c_bool, POINTER(Allocator), POINTER(c_uint64), POINTER(Error)), c_int),
    "arenaut_result_rounded": ((POINTER(Result),), c_uint32),
    "arenaut_result_ops": ((POINTER(Result),), GivenOps),
    "arenaut_result_kernels_name": ((POINTER(Result),), c_char_p),
    "arenaut_document_free": ((POINTER(Document),), None),
    "arenaut_format_count": ((), c_size_t),
    "arenaut_format_at": ((c_size_t,), POINTER(Format)),
    "arenaut_format_find": ((c_char_p,), POINTER(Format)),
    "arenaut_format_for_path": ((c_char_p,), POINTER(Format)),
    "arenaut_read": ((c_void_p, c_size_t, POINTER(Format), POINTER(ReadOptions), POINTER(Allocator), POINTER(Document), POINTER(Error)), c_int),
    "arenaut_report_count": ((), c_size_t),
    "arenaut_report_at": ((c_size_t,), POINTER(Report)),
    "arenaut_report_find": ((c_char_p,), POINTER(Report)),
    "arenaut_report_emit": ((POINTER(Report), POINTER(Result), POINTER(ReportOptions), Sink, POINTER(Allocator), POINTER(Error)), c_int),
    "arenaut_pipeline_new": ((POINTER(PipelineOptions), POINTER(Allocator), POINTER(POINTER(Pipeline)), POINTER(Error)), c_int),
    "arenaut_pipeline_free": ((POINTER(Pipeline),), None),
    "arenaut_pipeline_read": ((POINTER(Pipeline), POINTER(PipelineFile), c_size_t, POINTER(Error)), c_int),
    "arenaut_pipeline_states_places": ((POINTER(Pipeline),), c_bool),
    "arenaut_pipeline_check_stated": ((POINTER(Pipeline), POINTER(StatedPlaces), POINTER(Finding), POINTER(Error)), c_int),
    "arenaut_pipeline_prepare": ((POINTER(Pipeline), POINTER(Error)), c_int),
    "arenaut_pipeline_find_baseline": ((POINTER(Pipeline), POINTER(Error)), c_int),
    "arenaut_pipeline_plan": ((POINTER(Pipeline), POINTER(Error)), c_int),
    "arenaut_pipeline_describe": ((POINTER(Pipeline), c_bool, POINTER(Error)), c_int),
    "arenaut_pipeline_replay": ((POINTER(Pipeline), POINTER(Plan), POINTER(Finding), POINTER(Error)), c_int),
    "arenaut_outcome_text": ((c_int,), c_char_p),
    "arenaut_pipeline_outcome": ((POINTER(Pipeline), c_bool, c_bool, POINTER(c_int), POINTER(Error)), c_int),
    "arenaut_pipeline_write_file": ((POINTER(Pipeline), c_size_t, c_bool, Sink, POINTER(Error)), c_int),
    "arenaut_tensor_arena_find": ((POINTER(Result), c_uint64, POINTER(Target), POINTER(Allocator), POINTER(TensorArena), POINTER(Error)), c_int),
    "arenaut_tensor_arena_add": ((POINTER(Result), c_uint64, POINTER(Target), POINTER(Allocator), POINTER(TensorArena), POINTER(Error)), c_int),
}
