/*
 * test_external_sort.c -- an external sort gives the same with and without encryption of its
 * temporary files, in which an encrypted one leaves no plaintext; changed files and failing calls
 * are errors, and a deadline ends it.
 */
#include "crypt/keyring.h"
#include "query/exec/external_sort.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/random/random.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS 3000
#define MEMORY ((size_t)64 * 1024)
/* What every record contains. */
#define TEXT "known-plaintext,"

static tansu_error error;
static char *folder;
static keyring *keys;

/* ---- A file whose writes are looked at ---- */

static struct {
    tansu_buffer written; /* all of it, one after the other */
    bool change;          /* what is written is changed */
} traced;

static ssize_t traced_write(int fd, const void *bytes, size_t size, off_t offset) {
    REQUIRE(buffer_append(&traced.written, bytes, size));
    ssize_t done = fs_system.write(fd, bytes, size, offset);
    uint8_t byte = (uint8_t)(*(const uint8_t *)bytes ^ 1);
    if (traced.change)
        REQUIRE(pwrite(fd, &byte, 1, offset) == 1);
    return done;
}

/* ---- Sorting ---- */

/* context_of -- of a read that sorts. */
static read_context context_of(const fs *calls, keyring *with) {
    return (read_context){.calls = calls, .folder = folder, .keys = with, .sort_memory = MEMORY};
}

/* add_all -- records of all sizes in random order, from a seed. */
static tansu_status add_all(external_sort *s, uint64_t seed) {
    random_source random = random_from(seed);
    uint8_t key[8], payload[20000];
    tansu_status status = TANSU_OK;
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (uint8_t)TEXT[i % (sizeof TEXT - 1)];
    for (uint64_t i = 0; i < RECORDS && status == TANSU_OK; i++) {
        size_t size = random_below(&random, random_chance(&random, 1) ? sizeof payload : 200);
        store_be64(key, random_below(&random, RECORDS));
        sort_record r = {key, sizeof key, i, payload, size};
        status = external_sort_add(s, &r, &error);
    }
    return status;
}

/* sort -- all records in order, one after the other. */
static tansu_status sort(const read_context *rctx, uint64_t seed, tansu_buffer *result) {
    static const deadline none;
    const external_sort_options options = {
        .rctx = rctx, .deadline = &none, .memory = MEMORY, .may_spill = true};
    external_sort *s = external_sort_new(&options);
    sort_record r;
    result->size = 0;
    if (s == NULL)
        return TANSU_E_MEMORY;
    tansu_status status = add_all(s, seed);
    if (status == TANSU_OK)
        status = external_sort_finish(s, &error);
    while (status == TANSU_OK && (status = external_sort_next(s, &r, &error)) == TANSU_OK) {
        REQUIRE(buffer_append(result, r.key, r.key_size) &&
                buffer_append(result, &r.tie_breaker, sizeof r.tie_breaker) &&
                buffer_append(result, r.payload, r.payload_size));
    }
    if (status == TANSU_DONE)
        CHECK(external_sort_spilled(s) > 2 * MEMORY);
    external_sort_free(s);
    return status;
}

/* text_found -- whether 8 bytes of what the records contain were written. */
static bool text_found(void) {
    for (size_t at = 0; at < sizeof TEXT - 1; at++)
        if (memmem(traced.written.data, traced.written.size, &(TEXT TEXT)[at], 8) != NULL)
            return true;
    return false;
}

static void encrypted_sorts_give_the_same_and_write_no_plaintext(void) {
    fs calls = fs_system;
    calls.write = traced_write;
    read_context plain = context_of(&calls, NULL), encrypted = context_of(&calls, keys);
    tansu_buffer expected = TANSU_BUFFER_INIT, result = TANSU_BUFFER_INIT;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        traced.written.size = 0;
        CHECK_STATUS(TANSU_DONE, sort(&plain, seed, &expected));
        CHECK(text_found());
        traced.written.size = 0;
        CHECK_STATUS(TANSU_DONE, sort(&encrypted, seed, &result));
        CHECK(!text_found());
        CHECK(traced.written.size > MEMORY);
        CHECK_BYTES(expected.data, expected.size, result.data, result.size);
    }
    tansu_buffer_free(&expected);
    tansu_buffer_free(&result);
}

static void a_changed_file_is_an_error(void) {
    fs calls = fs_system;
    calls.write = traced_write;
    read_context encrypted = context_of(&calls, keys);
    tansu_buffer result = TANSU_BUFFER_INIT;
    traced.change = true;
    CHECK_STATUS(TANSU_E_IO, sort(&encrypted, 1, &result));
    CHECK(strstr(error.message, "changed") != NULL);
    traced.change = false;
    tansu_buffer_free(&result);
}

/* Writing and merging records of many bytes look at the time more often than of few. */
static void large_records_keep_to_a_deadline(void) {
    static uint8_t payload[400000];
    read_context plain = context_of(&fs_system, NULL);
    for (int late = 0; late < 3; late++) {
        deadline until = {.milliseconds = 0};
        const external_sort_options options = {
            .rctx = &plain, .deadline = &until, .memory = 16 * sizeof payload, .may_spill = true};
        external_sort *s = external_sort_new(&options);
        tansu_status status = s ? TANSU_OK : TANSU_E_MEMORY;
        for (uint32_t i = 0; i < 60 && status == TANSU_OK; i++) {
            sort_record r = {(const uint8_t *)&i, sizeof i, i, payload, sizeof payload};
            if (i == 40 && late == 1)
                until = (deadline){.milliseconds = 1, .end = 1};
            status = external_sort_add(s, &r, &error);
        }
        if (status == TANSU_OK)
            status = external_sort_finish(s, &error);
        if (late == 2)
            until = (deadline){.milliseconds = 1, .end = 1};
        for (sort_record r; status == TANSU_OK;)
            status = external_sort_next(s, &r, &error);
        CHECK_STATUS(late ? TANSU_E_TIMEOUT : TANSU_DONE, status);
        external_sort_free(s);
    }
}

/* Bytes are read back whatever their places, also those that are in memory still. */
static void any_part_of_a_file_is_read(void) {
    read_context rctx = context_of(&fs_system, keys);
    random_source random = random_start(2);
    tansu_buffer model = TANSU_BUFFER_INIT;
    uint8_t bytes[20000];
    spill_file f = {.fd = -1};
    CHECK_OK(spill_open(&f, &rctx, &error), &error);
    for (int round = 0; round < 300; round++) {
        size_t size = random_below(&random, random_chance(&random, 20) ? sizeof bytes : 300);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)random_next(&random);
        CHECK_OK(spill_append(&f, bytes, size, &error), &error);
        REQUIRE(buffer_append(&model, bytes, size));
        CHECK_INT(model.size, f.size);
        size_t from = random_below(&random, model.size + 1);
        size_t part = random_below(&random, model.size - from + 1);
        part = part < sizeof bytes ? part : sizeof bytes;
        CHECK_OK(spill_read(&f, bytes, part, from, &error), &error);
        CHECK_BYTES(model.data + from, part, bytes, part);
        if (round % 100 == 99) {
            CHECK_OK(spill_clear(&f, &error), &error);
            model.size = 0;
        }
    }
    spill_close(&f);
    tansu_buffer_free(&model);
}

static void every_file_call_may_fail(void) {
    read_context encrypted = context_of(&fault_fs, keys);
    tansu_buffer expected = TANSU_BUFFER_INIT, result = TANSU_BUFFER_INIT;
    fault_start(FAULT_FILES, 0, false, EIO);
    CHECK_STATUS(TANSU_DONE, sort(&encrypted, 1, &expected));
    unsigned calls = fault_stop();
    CHECK(calls > 100);
    for (unsigned nth = 1; nth <= calls; nth += nth < 20 ? 1 : calls / 20) {
        fault_start(FAULT_FILES, nth, true, EIO);
        tansu_status status = sort(&encrypted, 1, &result);
        fault_stop();
        /* Closing is the last call. */
        if (status == TANSU_DONE)
            CHECK_BYTES(expected.data, expected.size, result.data, result.size);
        else
            CHECK_STATUS(TANSU_E_IO, status);
    }
    tansu_buffer_free(&expected);
    tansu_buffer_free(&result);
}

int main(void) {
    static const uint8_t id[16] = {1}, key[CRYPT_KEY_SIZE] = {2};
    if (!library_crypto()) {
        CHECK(!crypt_available());
        return check_finish();
    }
    folder = folder_new();
    keys = keyring_new(id);
    REQUIRE(keys != NULL && keyring_add(keys, 1, key));
    RUN(encrypted_sorts_give_the_same_and_write_no_plaintext);
    RUN(a_changed_file_is_an_error);
    RUN(large_records_keep_to_a_deadline);
    RUN(any_part_of_a_file_is_read);
    RUN(every_file_call_may_fail);
    keyring_free(keys);
    tansu_buffer_free(&traced.written);
    folder_end(folder);
    return check_finish();
}
