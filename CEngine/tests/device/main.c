/*
 * device/main.c -- the program that uses the failing device: device-workload run | inspect.
 */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int usage(void) {
    fprintf(
        stderr,
        "usage: device-workload run DATABASE ACK_LOG SEED full|process|interval BACKUPS TIMEOUT "
        "plain|encrypted\n"
        "       device-workload inspect DATABASE ACK_LOG SEED TIME hard|soft BACKUPS SCRATCH "
        "TIMEOUT plain|encrypted\n"
        "TIMEOUT: seconds after which a call counts as hung.\n");
    return EXIT_USAGE;
}

static tansu_durability durability_named(const char *name) {
    return strcmp(name, "full") == 0      ? TANSU_DURABILITY_FULL
           : strcmp(name, "process") == 0 ? TANSU_DURABILITY_PROCESS
                                          : TANSU_DURABILITY_INTERVAL;
}

int main(int argc, char **argv) {
    if (argc == 9 && strcmp(argv[1], "run") == 0 && set_form(argv[8])) {
        watchdog_start((unsigned)strtoul(argv[7], NULL, 10));
        watchdog_exit(workload_run(argv[2], argv[3], strtoull(argv[4], NULL, 10),
                                   durability_named(argv[5]), argv[6]));
    }
    if (argc == 11 && strcmp(argv[1], "inspect") == 0 && set_form(argv[10])) {
        watchdog_start((unsigned)strtoul(argv[9], NULL, 10));
        watchdog_exit(workload_inspect(argv[2], argv[3], strtoull(argv[4], NULL, 10),
                                       strtoull(argv[5], NULL, 10), strcmp(argv[6], "soft") == 0,
                                       argv[7], argv[8]));
    }
    return usage();
}
