// Begins the recording of a whole run of the tests before main, where the program has the Swift function for it.
__attribute__((weak)) void runloops_tests_begin_recording(void);

__attribute__((constructor)) static void begin_recording(void) {
    if (runloops_tests_begin_recording) runloops_tests_begin_recording();
}
