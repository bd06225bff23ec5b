/*
 * support/hex.c -- bytes from hexadecimal digits.
 */
#include "support/hex.h"

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint8_t *bytes_from_hex(const char *hex, size_t *size) {
    *size = strlen(hex) / 2;
    uint8_t *bytes = malloc(*size != 0 ? *size : 1);
    REQUIRE(bytes != NULL);
    for (size_t i = 0; i < *size; i++) {
        unsigned byte = 0;
        REQUIRE(sscanf(hex + 2 * i, "%2x", &byte) == 1);
        bytes[i] = (uint8_t)byte;
    }
    return bytes;
}
