/*
 * test_irregular_files.c -- pipes, sockets, devices and folders in place of files that the engine
 * opens by name: no call waits for ever or reads what is no file; the error names what is in the
 * way and says what to do. Symbolic links to files and folders are fine.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/workload/sample_database.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A call that waits is ended, and the test with it. */
#define SECONDS_MOST 60

enum kind { PIPE, SOCKET, DEVICE, ENDLESS_DEVICE, FOLDER, KINDS };
static const char *const kind_names[KINDS] = {"a pipe", "a socket", "a device", "an endless device",
                                              "a folder"};

/* put_at -- something of that kind in place of what is at the path; false when it can't be made
 * here. */
static bool put_at(enum kind kind, const char *path) {
    remove_at(path);
    switch (kind) {
    case PIPE: return CHECK(mkfifo(path, 0600) == 0);
    case SOCKET: {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        if (strlen(path) >= sizeof address.sun_path)
            return false;
        strcpy(address.sun_path, path);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        bool made = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
        close(fd);
        return CHECK(made);
    }
    case DEVICE: return CHECK(symlink("/dev/null", path) == 0);
    case ENDLESS_DEVICE: return CHECK(symlink("/dev/zero", path) == 0);
    default: return CHECK(mkdir(path, 0700) == 0);
    }
}

/* in_the_way -- whether an error names what is no file, and says what to do. */
static bool in_the_way(tansu_status status, enum kind kind, const char *name) {
    const char *base = strrchr(name, '/');
    base = base == NULL ? name : base + 1;
    bool right = CHECK_STATUS(TANSU_E_IO, status);
    if (kind != FOLDER)
        right = CHECK_INT(ESPIPE, call_error.sys_errno) &&
                CHECK(strstr(call_error.message, "remove it") != NULL) && right;
    right = CHECK(strstr(call_error.context, base) != NULL ||
                  strstr(call_error.message, base) != NULL) &&
            right;
    if (!right)
        check_note("    %s as %s: %s (%s)", kind_names[kind], name, call_error.message,
                   call_error.context);
    return right;
}

/* open_at -- opens and closes. */
static tansu_status open_at(const char *path, bool read_only) {
    tansu_options options = call_options(path);
    options.read_only = read_only;
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (status == TANSU_OK) {
        sample_check(db);
        CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
        call_close(db);
    }
    return status;
}

/* Files without which nothing opens. */
static void a_database_with_something_else_as_a_file(void) {
    static const char *const names[] = {"MANIFEST", "LOCK", "log/00000001.seg", "log/00000002.seg"};
    char *from = sample_folder(), *folder = folder_new();
    const char *bad = path_in(folder, "bad"), *to = path_in(folder, "to");
    for (enum kind kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            folder_copy(from, bad);
            if (put_at(kind, path_in(bad, names[i]))) {
                in_the_way(open_at(bad, false), kind, names[i]);
                if (i != 1 || kind != FOLDER) { /* a folder can be held as well */
                    in_the_way(open_at(bad, true), kind, names[i]);
                    in_the_way(restore(bad, to), kind, names[i]);
                    CHECK(nothing_at(to));
                }
                if (i == 1 && kind != FOLDER) { /* repair must be sure that nobody writes there */
                    in_the_way(maintenance_repair(bad, to), kind, names[i]);
                    CHECK(nothing_at(to));
                } else if (i != 1) {
                    CHECK_OK(maintenance_repair(bad, to), &call_error);
                    CHECK_INT(i == 2 ? 0 : 50, maintenance_number("documents"));
                    CHECK(maintenance_number("problemCount") > 0);
                    folder_remove(to);
                }
            }
            folder_remove(bad);
        }
    }
    folder_end(folder);
    folder_end(from);
}

/* Files that are derived, or left by a process that was killed, are no reason not to open. */
static void something_else_as_a_derived_file(void) {
    static const char *const names[] = {"index/blocks.tch", "index/blocks.tch.wal",
                                        "log/00000007.seg.new"};
    char *from = sample_folder(), *folder = folder_new();
    const char *bad = path_in(folder, "bad"), *to = path_in(folder, "to");
    for (enum kind kind = 0; kind < FOLDER; kind++) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            folder_copy(from, bad);
            if (put_at(kind, path_in(bad, names[i]))) {
                bool fine = CHECK_OK(open_at(bad, true), &call_error) &&
                            CHECK_OK(restore(bad, to), &call_error);
                folder_remove(to);
                fine = CHECK_OK(maintenance_repair(bad, to), &call_error) &&
                       CHECK_INT(50, maintenance_number("documents")) && fine;
                folder_remove(to);
                fine = CHECK_OK(open_at(bad, false), &call_error) && fine;
                fine = CHECK_OK(open_at(bad, false), &call_error) && fine;
                if (!fine)
                    check_note("    %s as %s", kind_names[kind], names[i]);
            }
            folder_remove(bad);
        }
    }
    folder_end(folder);
    folder_end(from);
}

/* The MANIFEST can't be replaced by way of a pipe: the call fails, and nothing waits. */
static void something_else_as_the_next_manifest(void) {
    char *from = sample_folder(), *folder = folder_new();
    const char *bad = path_in(folder, "bad");
    for (enum kind kind = 0; kind < KINDS; kind++) {
        folder_copy(from, bad);
        tansu_db *db = call_open(bad);
        if (put_at(kind, path_in(bad, "MANIFEST.new"))) {
            CHECK_OK(call_save(db, NULL, "d", TANSU_INSERT, "{'_id': 1}"), &call_error);
            in_the_way(tansu_checkpoint(db, &call_error), kind, "MANIFEST.new");
            remove_at(path_in(bad, "MANIFEST.new"));
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        }
        call_close(db);
        folder_remove(bad);
    }
    folder_end(folder);
    folder_end(from);
}

static void something_else_as_a_path(void) {
    char *from = sample_folder(), *folder = folder_new();
    const char *odd = path_in(folder, "odd"), *to = path_in(folder, "to");
    tansu_db *db = call_open(from);
    for (enum kind kind = 0; kind < FOLDER; kind++) {
        if (!put_at(kind, odd))
            continue;
        in_the_way(restore(odd, to), kind, "odd");
        CHECK(nothing_at(to));
        CHECK(maintenance_repair(odd, to) != TANSU_OK);
        CHECK(nothing_at(to));
        CHECK_STATUS(TANSU_E_EXISTS, open_at(odd, false));
        CHECK(open_at(odd, true) != TANSU_OK);
        for (int f = 0; f < 2; f++)
            CHECK_STATUS(TANSU_E_EXISTS, backup(db, odd, backup_forms[f]));
        CHECK_OK(backup(db, to, TANSU_BACKUP_FILE), &call_error);
        CHECK_STATUS(TANSU_E_EXISTS, restore(to, odd));
        CHECK_STATUS(TANSU_E_EXISTS, maintenance_repair(to, odd));
        remove_at(to);
        for (int f = 0; f < 2; f++) { /* what is in the way of the part is taken away */
            put_at(kind, part_of(to));
            tansu_status status = backup(db, to, backup_forms[f]);
            if (status != TANSU_OK)
                in_the_way(status, kind, "to");
            remove_at(part_of(to));
            remove_at(to);
        }
        struct stat info;
        CHECK(lstat(odd, &info) == 0); /* it is not ours to remove */
    }
    call_close(db);
    folder_end(folder);
    folder_end(from);
}

/* Links to what is right are right. */
static void symbolic_links(void) {
    static const char *const names[] = {"MANIFEST",         "LOCK", "log/00000001.seg", "log",
                                        "index/blocks.tch", "index"};
    char *from = sample_folder(), *folder = folder_new();
    const char *linked = path_in(folder, "linked"), *to = path_in(folder, "to");
    const char *elsewhere = path_in(folder, "elsewhere");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        folder_copy(from, linked);
        REQUIRE(rename(path_in(linked, names[i]), elsewhere) == 0);
        REQUIRE(symlink(elsewhere, path_in(linked, names[i])) == 0);
        bool fine = CHECK_OK(open_at(linked, true), &call_error) &&
                    CHECK_OK(open_at(linked, false), &call_error) &&
                    CHECK_OK(restore(linked, to), &call_error);
        if (!fine)
            check_note("    a link as %s", names[i]);
        folder_remove(to);
        remove_at(elsewhere);
        folder_remove(linked);
    }
    REQUIRE(symlink(from, linked) == 0); /* the whole folder, and a backup */
    CHECK_OK(open_at(linked, false), &call_error);
    CHECK_OK(restore(linked, to), &call_error);
    folder_remove(to);
    tansu_db *db = call_open(linked);
    CHECK_OK(backup(db, elsewhere, TANSU_BACKUP_FILE), &call_error);
    call_close(db);
    remove_at(linked);
    REQUIRE(symlink(elsewhere, linked) == 0);
    CHECK_OK(restore(linked, to), &call_error);
    CHECK_OK(open_at(to, false), &call_error);
    folder_end(folder);
    folder_end(from);
}

int main(void) {
    alarm(SECONDS_MOST);
    RUN(a_database_with_something_else_as_a_file);
    RUN(something_else_as_a_derived_file);
    RUN(something_else_as_the_next_manifest);
    RUN(something_else_as_a_path);
    RUN(symbolic_links);
    return check_finish();
}
