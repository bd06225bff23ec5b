/*
 * api/command/command_files.c -- JSON commands that read or write files: backups, repair, copies,
 * dumps.
 */
#include "api/command/command.h"
#include "api/handles.h"
#include "util/error.h"
#include "util/staging/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* put_report -- appends the report of a call that succeeded, and frees it. */
static tansu_status put_report(command *c, tansu_status status, tansu_buffer *report,
                               tansu_error *error) {
    if (status == TANSU_OK)
        status = command_put_document(c, ", \"report\": ", report, error);
    tansu_buffer_free(report);
    return status;
}

/* command_backup -- to "to", as a folder or as one file. */
tansu_status command_backup(command *c, tansu_error *error) {
    const char *form = command_text(c, MEMBER_FORM);
    bool file = form != NULL && strcmp(form, "file") == 0;
    if (form != NULL && !file && strcmp(form, "folder") != 0)
        return error_set(error, TANSU_E_INVALID_COMMAND, "form",
                         "The member \"form\" must be \"folder\" or \"file\"");
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_status status =
        tansu_backup(c->db, command_text(c, MEMBER_TO),
                     file ? TANSU_BACKUP_FILE : TANSU_BACKUP_FOLDER, NULL, NULL, &report, error);
    return put_report(c, status, &report, error);
}

tansu_status command_restore(command *c, tansu_error *error) {
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_status status = tansu_restore(command_text(c, MEMBER_FROM), command_text(c, MEMBER_TO),
                                        NULL, NULL, &report, error);
    return put_report(c, status, &report, error);
}

tansu_status command_repair(command *c, tansu_error *error) {
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_status status = tansu_repair(command_text(c, MEMBER_FROM), command_text(c, MEMBER_TO),
                                       NULL, NULL, &report, error);
    return put_report(c, status, &report, error);
}

/* command_clone -- into a new database at "to", which is closed again. */
tansu_status command_clone(command *c, tansu_error *error) {
    const doc_value *given = &c->given[MEMBER_OPTIONS];
    tansu_options options;
    tansu_db *copy = NULL;
    tansu_options_init(&options);
    tansu_status status = command_has(c, MEMBER_OPTIONS)
                              ? options_parse(given->data, given->size, &options, error)
                              : TANSU_OK;
    if (status == TANSU_OK && (options.path != NULL || options.store != TANSU_STORE_PERSISTENT))
        status = error_set(error, TANSU_E_INVALID_COMMAND, "options",
                           "A clone is a persistent database at \"to\"; leave out \"path\" and "
                           "\"store\"");
    options.path = command_text(c, MEMBER_TO);
    if (status == TANSU_OK)
        status = tansu_clone(c->db, &options, NULL, NULL, &copy, error);
    return status == TANSU_OK ? tansu_shutdown(copy, error) : status;
}

/* ---- Dumps ---- */

/* Where a dump is written. */
typedef struct dump_file {
    staging staged;
    uint64_t size;
    int fault; /* errno of a write that failed */
} dump_file;

/* write_dump -- a tansu_write_bytes. */
static int write_dump(void *context, const void *bytes, size_t size) {
    dump_file *f = context;
    if (fs_write_all(f->staged.calls, f->staged.fd, bytes, size, f->size) != 0) {
        f->fault = errno;
        return 0;
    }
    f->size += size;
    return 1;
}

/* command_dump -- to the new file "to". */
tansu_status command_dump(command *c, tansu_error *error) {
    const char *to = command_text(c, MEMBER_TO);
    tansu_buffer report = TANSU_BUFFER_INIT;
    dump_file f = {.size = 0};
    tansu_status status = staging_check_outside(to, db_inner(c->db)->folder, error);
    if (status != TANSU_OK)
        return status;
    status = staging_begin(&f.staged, &fs_system, to, false, error);
    if (status == TANSU_OK)
        status = tansu_dump(c->db, c->txn, write_dump, &f,
                            value_document(&c->given[MEMBER_OPTIONS]), NULL, NULL, &report, error);
    if (f.fault != 0)
        status = error_errno(error, to, "write", f.fault);
    if (status == TANSU_OK && f.staged.calls->sync(f.staged.fd, NULL, 0) != 0)
        status = error_errno(error, to, "sync", errno);
    if (status == TANSU_OK)
        status = staging_publish(&f.staged, error);
    staging_end(&f.staged);
    return put_report(c, status, &report, error);
}

/* Where a dump is read from. */
typedef struct load_file {
    int fd;
    off_t at;
    int fault; /* errno of a read that failed */
} load_file;

/* read_dump -- a tansu_read_bytes. */
static ptrdiff_t read_dump(void *context, void *bytes, size_t capacity) {
    load_file *f = context;
    ssize_t size = fs_system.read(f->fd, bytes, capacity, f->at);
    if (size < 0)
        f->fault = errno;
    else
        f->at += size;
    return size;
}

/* command_load -- from the file "from". */
tansu_status command_load(command *c, tansu_error *error) {
    const char *from = command_text(c, MEMBER_FROM);
    tansu_buffer report = TANSU_BUFFER_INIT;
    load_file f = {.fd = fs_system.open(&fs_system, from, O_RDONLY, 0)};
    if (f.fd < 0 && errno == ENOENT)
        return error_set(error, TANSU_E_NOT_FOUND, from, "There is no file \"%s\" to load", from);
    if (f.fd < 0)
        return error_errno(error, from, "open", errno);
    tansu_status status =
        tansu_load(c->db, read_dump, &f, value_document(&c->given[MEMBER_OPTIONS]), NULL, NULL,
                   &report, error);
    if (f.fault != 0)
        status = error_errno(error, from, "read", f.fault);
    fs_system.close(f.fd);
    return put_report(c, status, &report, error);
}
