/*
 * api/command/command_transaction.c -- JSON commands for a transaction of several requests.
 */
#include "api/command/command.h"
#include "api/handles.h"
#include "api/session.h"
#include "util/buffer.h"
#include "util/error.h"

/* choose -- which of the texts a member is, or `otherwise`; -1 when it is none of them. */
static int choose(const command *c, unsigned member, const char *const *texts, int otherwise) {
    const char *text = command_text(c, member);
    if (text == NULL)
        return otherwise;
    for (int i = 0; texts[i] != NULL; i++)
        if (strcmp(texts[i], text) == 0)
            return i;
    return -1;
}

/* command_begin -- a transaction that lasts until "commit" or "abort". */
tansu_status command_begin(command *c, tansu_error *error) {
    enum { READ_CHECKED = TANSU_TXN_WRITE + 1 };
    static const char *const modes[] = {"read", "write", "readChecked", NULL};
    static const char *const durabilities[] = {"default", "full", "process", "interval", NULL};
    int mode = choose(c, MEMBER_MODE, modes, TANSU_TXN_WRITE);
    int durability = choose(c, MEMBER_DURABILITY, durabilities, TANSU_DURABILITY_DEFAULT);
    if (mode < 0)
        return error_set(error, TANSU_E_INVALID_COMMAND, "mode",
                         "The member \"mode\" must be \"read\", \"readChecked\" or \"write\"");
    if (durability < 0)
        return error_set(error, TANSU_E_INVALID_COMMAND, "durability",
                         "The member \"durability\" must be \"full\", \"process\" or \"interval\"");
    tansu_txn *txn = NULL;
    int64_t number;
    bool checked = mode == READ_CHECKED;
    tansu_status status = tansu_txn_begin(c->db, checked ? TANSU_TXN_READ : (tansu_txn_mode)mode,
                                          (tansu_durability)durability, &txn, error);
    if (status != TANSU_OK)
        return status;
    if (checked)
        status = tansu_txn_check_documents(txn, error);
    if (status == TANSU_OK)
        status = session_add(c->db, SESSION_TXN, txn, 0, &number, error);
    if (status != TANSU_OK) {
        tansu_txn_abort(txn);
        return status;
    }
    return command_put_count(c, ", \"transaction\": ", number, error);
}

/* end_transaction -- with its cursors. */
static tansu_status end_transaction(command *c, bool commits, uint64_t *sequence,
                                    tansu_error *error) {
    int64_t number = command_number(c, MEMBER_TRANSACTION, 0);
    void *txn;
    tansu_status status = session_take(c->db, SESSION_TXN, number, &txn, error);
    if (status != TANSU_OK)
        return status;
    session_end_cursors(c->db, number);
    if (commits)
        status = tansu_txn_commit(txn, sequence, error);
    else
        tansu_txn_abort(txn);
    session_forget(c->db, number);
    return status;
}

/* command_commit -- the response has the number of the commit, 0 when nothing was changed. */
tansu_status command_commit(command *c, tansu_error *error) {
    uint64_t sequence = 0;
    tansu_status status = end_transaction(c, true, &sequence, error);
    return status == TANSU_OK ? command_put_count(c, ", \"sequence\": ", (int64_t)sequence, error)
                              : status;
}

tansu_status command_abort(command *c, tansu_error *error) {
    return end_transaction(c, false, NULL, error);
}

tansu_status command_savepoint(command *c, tansu_error *error) {
    return tansu_savepoint_begin(c->txn, error);
}

tansu_status command_release_savepoint(command *c, tansu_error *error) {
    return tansu_savepoint_release(c->txn, error);
}

tansu_status command_roll_back_savepoint(command *c, tansu_error *error) {
    return tansu_savepoint_roll_back(c->txn, error);
}
