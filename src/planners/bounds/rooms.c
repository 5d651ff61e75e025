/* The stretches between reserved ranges, pool by pool, and the longest of them up to each, for each
 * alignment that occurs: where a buffer can lie at the lowest in an empty pool is then found by
 * bisection. */
#include "planners/bounds/rooms.h"

#include "core/checked.h"

static uint32_t log2_of(uint64_t align) {
    uint32_t log = 0;
    while (align >> log > 1) log++;
    return log;
}

static void list_rooms(arn_rooms *rooms) {
    const arenaut_problem *p = rooms->problem;
    uint32_t n = 0, r = 0; /* reserved ranges are in the order of pools and addresses */
    for (uint32_t k = 0; k < p->n_pools; k++) {
        arn_room now = {0, ARENAUT_UNLIMITED, 0};
        rooms->first[k] = n;
        for (; r < p->n_reserved && p->reserved[r].pool == k; r++) {
            const arenaut_reserved *range = &p->reserved[r];
            if (range->first > now.first) {
                now.end = range->first;
                rooms->room[n++] = now;
                now.free_before += now.end - now.first;
            }
            now.first = range->end;
        }
        now.end = ARENAUT_UNLIMITED;
        rooms->room[n++] = now;
        rooms->n[k] = n - rooms->first[k];
    }
}

static uint64_t bytes_from(uint64_t first, uint64_t end, uint64_t align) {
    const uint64_t start = arn_aligned(first, align);
    return start < end ? end - start : 0;
}

static void measure_rooms(arn_rooms *rooms, uint32_t log) {
    for (uint32_t k = 0; k < rooms->problem->n_pools; k++) {
        uint64_t most = 0;
        for (uint32_t i = rooms->first[k]; i < rooms->first[k] + rooms->n[k]; i++) {
            const arn_room *room = &rooms->room[i];
            most = arn_max_u64(most, bytes_from(room->first, room->end, UINT64_C(1) << log));
            rooms->longest[log][i] = most;
        }
    }
}

bool arn_rooms_make(arn_rooms *rooms, const arenaut_problem *problem,
                    const arenaut_allocator *allocator) {
    const arn_rooms none = {.problem = problem};
    const size_t most = (size_t)problem->n_reserved + problem->n_pools;
    uint64_t aligns = 0;
    *rooms = none;
    arn_region_init(&rooms->region, allocator);
    rooms->room = arn_region_allocate(&rooms->region, most, sizeof *rooms->room);
    bool made = rooms->room != NULL;
    if (made) list_rooms(rooms);
    for (uint32_t b = 0; b < problem->n_buffers; b++) aligns |= arenaut_problem_align(problem, b);
    for (uint32_t log = 0; log < 64 && made; log++) {
        if (!(aligns >> log & 1)) continue;
        rooms->longest[log] = arn_region_allocate(&rooms->region, most, sizeof(uint64_t));
        made = rooms->longest[log] != NULL;
        if (made) measure_rooms(rooms, log);
    }
    if (!made) arn_rooms_free(rooms);
    return made;
}

void arn_rooms_free(arn_rooms *rooms) { arn_region_free(&rooms->region); }

uint64_t arn_lowest_end(const arn_rooms *rooms, uint32_t b, uint32_t pool) {
    const arenaut_problem *p = rooms->problem;
    const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
    const uint64_t align = arenaut_problem_align(p, b);
    uint64_t at = fixed;
    if (fixed == ARENAUT_UNPLACED) {
        const uint64_t *longest = rooms->longest[log2_of(align)];
        uint32_t low = rooms->first[pool], high = low + rooms->n[pool] - 1;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (longest[middle] < p->size[b]) low = middle + 1;
            else high = middle;
        }
        at = arn_aligned(rooms->room[low].first, align);
    }
    const uint64_t end = at + p->size[b];
    return end <= p->pool[pool].capacity ? end : ARENAUT_UNPLACED;
}

/* The room of this pool that `address` lies in, or that is the last below it. */
static uint32_t room_below(const arn_rooms *rooms, uint32_t pool, uint64_t address) {
    uint32_t low = rooms->first[pool], high = low + rooms->n[pool];
    while (low + 1 < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rooms->room[middle].first <= address) low = middle;
        else high = middle;
    }
    return low;
}

uint64_t arn_largest_room(const arn_rooms *rooms, uint32_t b, uint32_t pool) {
    const uint64_t capacity = rooms->problem->pool[pool].capacity;
    const uint64_t align = arenaut_problem_align(rooms->problem, b);
    const uint32_t last = room_below(rooms, pool, capacity);
    const uint64_t end = arn_min_u64(rooms->room[last].end, capacity);
    const uint64_t here = bytes_from(rooms->room[last].first, end, align);
    if (last == rooms->first[pool]) return here;
    return arn_max_u64(here, rooms->longest[log2_of(align)][last - 1]);
}

uint64_t arn_rooms_end_of_free_bytes(const arn_rooms *rooms, uint32_t pool, uint64_t bytes) {
    uint32_t low = rooms->first[pool], high = low + rooms->n[pool];
    if (bytes == 0) return 0;
    while (low + 1 < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rooms->room[middle].free_before < bytes) low = middle;
        else high = middle;
    }
    return rooms->room[low].first + (bytes - rooms->room[low].free_before);
}
