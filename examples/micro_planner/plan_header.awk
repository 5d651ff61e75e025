# A planned problem in CSV (with columns lower, upper, size, offset: written by `arenaut plan requests.csv -o planned.csv`) as
# the header that planned_memory.h is given.
BEGIN {
    FS = ","
    print "#include \"planned_memory.h\"\n\nstatic const arenaut::PlannedBuffer kPlannedBuffers[] = {"
}
/^#/ { next }
!columns {
    for (k = 1; k <= NF; k++) at[$k] = k
    if (!(at["lower"] && at["upper"] && at["size"] && at["offset"])) {
        print "plan_header.awk: no column lower, upper, size or offset in " FILENAME > "/dev/stderr"
        exit failed = 1
    }
    columns = NF
    next
}
{
    printf "    {%d, %d, %d, %d},\n", $at["size"], $at["lower"], $at["upper"] - 1, $at["offset"]
    n++
    end = $at["size"] + $at["offset"]
    if (end > arena) arena = end
}
END {
    if (!failed) printf "};\nstatic const arenaut::MemoryPlan kMemoryPlan = {%d, %d, kPlannedBuffers};\n", n, arena
}
