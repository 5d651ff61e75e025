/* Sentences for faults, made without stdio. */
#include <arenaut/runtime_fault.h>

static const char *const sentence[ARENAUT_FAULT_COUNT] = {
#define XX(name, status, text) text,
    ARENAUT_FAULT_MAP(XX)
#undef XX
};

typedef struct text {
    char *to;
    size_t size, used; /* one byte of `size` is kept for the NUL */
} text;

static void put(text *t, char c) {
    if (t->used + 1 < t->size) t->to[t->used++] = c;
}

static void put_number(text *t, uintmax_t n) {
    char digit[3 * sizeof n];
    size_t count = 0;
    do {
        digit[count++] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    while (count) put(t, digit[--count]);
}

char *arenaut_fault_text(const arenaut_fault *fault, char *to, size_t size) {
    text t = {to, size, 0};
    const char *from =
        fault->reason < ARENAUT_FAULT_COUNT ? sentence[fault->reason] : "unknown fault";
    if (size == 0) return to;
    for (; *from; from++) {
        if (*from != '%') {
            put(&t, *from);
            continue;
        }
        from++;
        put_number(&t, *from == 'o' ? fault->object : *from == 'f' ? fault->found : fault->allowed);
    }
    t.to[t.used] = '\0';
    return to;
}
