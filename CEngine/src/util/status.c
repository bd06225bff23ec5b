/*
 * util/status.c -- the names of status codes and of this version.
 */
#include "tansu.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/* tansu_status_name -- the lasting name of a status. */
const char *tansu_status_name(tansu_status status) {
    switch (status) {
    case TANSU_OK: return "OK";
    case TANSU_DONE: return "DONE";
    case TANSU_E_MEMORY: return "MEMORY";
    case TANSU_E_INVALID_ARGUMENT: return "INVALID_ARGUMENT";
    case TANSU_E_CLOSED: return "CLOSED";
    case TANSU_E_IO: return "IO";
    case TANSU_E_FULL: return "FULL";
    case TANSU_E_LOCKED: return "LOCKED";
    case TANSU_E_BUSY: return "BUSY";
    case TANSU_E_READ_ONLY: return "READ_ONLY";
    case TANSU_E_CORRUPT: return "CORRUPT";
    case TANSU_E_VERSION: return "VERSION";
    case TANSU_E_NOT_FOUND: return "NOT_FOUND";
    case TANSU_E_EXISTS: return "EXISTS";
    case TANSU_E_NOT_UNIQUE: return "NOT_UNIQUE";
    case TANSU_E_INVALID_NAME: return "INVALID_NAME";
    case TANSU_E_INVALID_BSON: return "INVALID_BSON";
    case TANSU_E_INVALID_DOCUMENT: return "INVALID_DOCUMENT";
    case TANSU_E_INVALID_ID: return "INVALID_ID";
    case TANSU_E_INVALID_QUERY: return "INVALID_QUERY";
    case TANSU_E_INVALID_INDEX: return "INVALID_INDEX";
    case TANSU_E_INVALID_JSON: return "INVALID_JSON";
    case TANSU_E_INVALID_COMMAND: return "INVALID_COMMAND";
    case TANSU_E_TOO_LARGE: return "TOO_LARGE";
    case TANSU_E_CANCELLED: return "CANCELLED";
    case TANSU_E_TIMEOUT: return "TIMEOUT";
    case TANSU_E_SYNC_FAILED: return "SYNC_FAILED";
    case TANSU_E_UNSUPPORTED: return "UNSUPPORTED";
    case TANSU_E_INVALID_STATE: return "INVALID_STATE";
    case TANSU_E_REFERENCED: return "REFERENCED";
    case TANSU_E_MOVED: return "MOVED";
    }
    return "UNKNOWN";
}

/* tansu_version -- the library's version as text. */
const char *tansu_version(void) {
    return TEXT(TANSU_VERSION_MAJOR) "." TEXT(TANSU_VERSION_MINOR) "." TEXT(TANSU_VERSION_PATCH);
}

/* tansu_version_number -- the library's version as a number. */
int tansu_version_number(void) {
    return TANSU_VERSION_NUMBER;
}
