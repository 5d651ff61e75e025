/* The time of a machine: its processor seconds, or until a signal asks it to end, so that its
 * counts are printed in any case. */
#ifndef ARENAUT_FUZZ_MACHINE_TIME_H
#define ARENAUT_FUZZ_MACHINE_TIME_H

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

static volatile sig_atomic_t machine_asked_to_end;

static void machine_end(int number) { machine_asked_to_end = number; }

/* The seconds of the command line, 60 if it names none; from here on signals end the machine. */
static double machine_seconds(int argc, char **argv) {
    signal(SIGTERM, machine_end);
    signal(SIGINT, machine_end);
    return argc > 1 ? strtod(argv[1], NULL) : 60;
}

static bool machine_has_time(double seconds) {
    return !machine_asked_to_end && (double)clock() / CLOCKS_PER_SEC < seconds;
}

#endif
