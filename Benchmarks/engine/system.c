#include "system.h"

#include "bench.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* seconds_of -- what a clock says. */
static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* system_seconds -- seconds of a clock that only goes forward. */
double system_seconds(void) {
    return seconds_of(CLOCK_MONOTONIC);
}

/* system_processor_seconds -- seconds that processors have worked for this process. */
double system_processor_seconds(void) {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* folder_walk -- adds up or removes everything in a folder. */
static int folder_walk(const char *folder, struct folder_size *size, int removing) {
    int result = 0;
    struct dirent *entry;
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return -1;
    while ((entry = readdir(directory)) != NULL) {
        char path[BENCH_PATH_SIZE];
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof path || lstat(path, &status) != 0) {
            result = -1;
            continue;
        }
        if (S_ISDIR(status.st_mode) && folder_walk(path, size, removing) != 0)
            result = -1;
        size->allocated += (uint64_t)status.st_blocks * 512;
        if (S_ISREG(status.st_mode))
            size->apparent += (uint64_t)status.st_size;
        if (removing && remove(path) != 0)
            result = -1;
    }
    closedir(directory);
    return result;
}

/* folder_size -- the size of all files below a folder. */
int folder_size(const char *folder, struct folder_size *size) {
    memset(size, 0, sizeof *size);
    return folder_walk(folder, size, 0);
}

/* folder_remove -- removes a folder with everything in it. */
int folder_remove(const char *folder) {
    struct folder_size unused = {0, 0};
    int result = folder_walk(folder, &unused, 1);
    return rmdir(folder) == 0 ? result : -1;
}

/* child_run -- runs a program to its end. */
int child_run(char *const arguments[], struct child_result *result) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        execvp(arguments[0], arguments);
        _exit(127);
    }
    if (waitpid(child, &status, 0) != child)
        return -1;
    result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return 0;
}

/* system_peak_memory -- the most resident memory of this process. Linux hands ru_maxrss on through
 * exec, so that a child would show the benchmark's own documents: there it is asked elsewhere. */
uint64_t system_peak_memory(void) {
#ifdef __APPLE__
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss : 0;
#else
    char line[256];
    unsigned long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL && sscanf(line, "VmHWM: %lu", &kilobytes) != 1)
        continue;
    fclose(file);
    return (uint64_t)kilobytes * 1024;
#endif
}

/* processor -- the model of the first one, where the system lists them in a file; otherwise "". */
static void processor(char *text, size_t size) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    text[0] = '\0';
    while (file != NULL && text[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        const char *value = strstr(line, ": ");
        if (strncmp(line, "model name", strlen("model name")) == 0 && value != NULL)
            snprintf(text, size, "%.*s, ", (int)strcspn(value + 2, "\"\\\n"), value + 2);
    }
    if (file != NULL)
        fclose(file);
}

/* system_describe -- the machine: processor, cores, operating system. */
void system_describe(char *text, size_t size) {
    char model[128];
    struct utsname name;
    processor(model, sizeof model);
    if (uname(&name) != 0)
        memset(&name, 0, sizeof name);
    snprintf(text, size, "%s%ld cores, %s %s %s", model, sysconf(_SC_NPROCESSORS_ONLN),
             name.sysname, name.release, name.machine);
}
