/* libFuzzer's entry into one property of tests/support/properties.def: PROPERTY is its function,
 * which the compiler is told with -DPROPERTY, as it is its header with -include. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PROPERTY(data, size);
    return 0;
}
