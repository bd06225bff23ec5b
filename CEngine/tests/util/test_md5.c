/*
 * test_md5.c -- MD5 (util/checksum/md5.h): the digests of RFC 1321, and of all sizes around the
 * block's in any pieces.
 */
#include "support/check.h"
#include "util/checksum/md5.h"

#include <stdio.h>
#include <string.h>

/* hex_of -- the digest of a text that is added in pieces of a size. */
static const char *hex_of(const char *text, size_t size, size_t piece) {
    static char hex[33];
    uint8_t digest[16];
    md5 m;
    md5_begin(&m);
    for (size_t at = 0; at < size; at += piece)
        md5_add(&m, text + at, size - at < piece ? size - at : piece);
    md5_end(&m, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return hex;
}

static void digests(void) {
    static const char *const samples[][2] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
         "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        CHECK_TEXT(samples[i][1], hex_of(samples[i][0], strlen(samples[i][0]), 64));
}

static void pieces_do_not_matter(void) {
    char text[200], whole[33];
    memset(text, 'x', sizeof text);
    for (size_t size = 0; size <= sizeof text; size++) {
        snprintf(whole, sizeof whole, "%s", hex_of(text, size, sizeof text));
        CHECK_TEXT(whole, hex_of(text, size, 1));
        CHECK_TEXT(whole, hex_of(text, size, 63));
    }
}

int main(void) {
    RUN(digests);
    RUN(pieces_do_not_matter);
    return check_finish();
}
