/*
 * support/other_process.c -- the other process and the pipes to it.
 */
#include "support/other_process.h"

#include "support/calls/call.h"
#include "support/check.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct request {
    char path[1024];
    char json[256]; /* empty: nothing is saved */
    int read_only;
} request;

static int to_stranger[2], from_stranger[2];
static pid_t process;

/* answer -- does what a request asks for. */
static tansu_status answer(const request *r) {
    tansu_options options = call_options(r->path);
    tansu_db *db = NULL;
    options.read_only = r->read_only;
    tansu_status status = tansu_open(&options, &db, NULL);
    if (status == TANSU_OK && r->json[0] != 0)
        status = call_save(db, NULL, "c", TANSU_SAVE, r->json);
    tansu_close(db);
    return status;
}

/* serve -- answers requests until there are no more. */
static void serve(void) {
    request r;
    close(to_stranger[1]);
    close(from_stranger[0]);
    while (read(to_stranger[0], &r, sizeof r) == (ssize_t)sizeof r) {
        int status = (int)answer(&r);
        if (write(from_stranger[1], &status, sizeof status) != (ssize_t)sizeof status)
            break;
    }
    _exit(0);
}

void other_process_start(void) {
    REQUIRE(pipe(to_stranger) == 0 && pipe(from_stranger) == 0);
    process = fork();
    REQUIRE(process >= 0);
    if (process == 0)
        serve();
    close(to_stranger[0]);
    close(from_stranger[1]);
}

/* ask -- one request. It is smaller than a pipe takes at once. */
static tansu_status ask(const char *path, const char *json, int read_only) {
    request r = {.read_only = read_only};
    int status = 0;
    snprintf(r.path, sizeof r.path, "%s", path);
    snprintf(r.json, sizeof r.json, "%s", json);
    REQUIRE(write(to_stranger[1], &r, sizeof r) == (ssize_t)sizeof r);
    REQUIRE(read(from_stranger[0], &status, sizeof status) == (ssize_t)sizeof status);
    return (tansu_status)status;
}

tansu_status other_process_open(const char *path, int read_only) {
    return ask(path, "", read_only);
}

tansu_status other_process_save(const char *path, const char *json) {
    return ask(path, json, 0);
}

void other_process_end(void) {
    int status = -1;
    close(to_stranger[1]);
    close(from_stranger[0]);
    REQUIRE(waitpid(process, &status, 0) == process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
