/*
 * test_header_example.c -- the worked example of tansu.h compiles and does what it says. The build
 * takes its text out of the header.
 */
#include "support/check.h"
#include "support/folder.h"

#define main header_example
#include "header_example.c"
#undef main

#include <fcntl.h>
#include <unistd.h>

static void the_example_prints_the_match(void) {
    char *folder = folder_new();
    char here[4096];
    REQUIRE(getcwd(here, sizeof here) != NULL && chdir(folder) == 0);
    int terminal = dup(STDOUT_FILENO);
    int file = open("printed", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(terminal >= 0 && file >= 0 && fflush(stdout) == 0);
    REQUIRE(dup2(file, STDOUT_FILENO) >= 0);
    int result = header_example();
    REQUIRE(fflush(stdout) == 0 && dup2(terminal, STDOUT_FILENO) >= 0);
    close(file);
    close(terminal);
    REQUIRE(chdir(here) == 0);
    CHECK_INT(0, result);
    tansu_buffer printed = TANSU_BUFFER_INIT;
    static const char expected[] = "{\"_id\": 2, \"name\": \"Alan\", \"born\": 1912}\n";
    file_read(folder_join(folder, "printed"), &printed);
    CHECK_BYTES(expected, sizeof expected - 1, printed.data, printed.size);
    tansu_buffer_free(&printed);
    folder_end(folder);
}

int main(void) {
    RUN(the_example_prints_the_match);
    return check_finish();
}
