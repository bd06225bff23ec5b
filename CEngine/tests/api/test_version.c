/*
 * test_version.c -- the library says its version, the format of its files and its optional libraries.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/repo_file.h"

#include <stdlib.h>

static void the_version_is_one_number_too(void) {
    char text[32];
    int number = tansu_version_number();
    CHECK_INT(TANSU_VERSION_NUMBER, number);
    snprintf(text, sizeof text, "%d.%d.%d", number / 1000000, number / 1000 % 1000, number % 1000);
    CHECK_TEXT(text, tansu_version());
}

static void the_file_format_is_that_of_a_new_database(void) {
    char *folder = folder_new();
    call_close(call_open(folder));
    tansu_buffer manifest = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, "MANIFEST"), &manifest);
    char line[64];
    int length = snprintf(line, sizeof line, "tansu database %d\n", tansu_file_format());
    REQUIRE(manifest.size > (size_t)length);
    CHECK_BYTES(line, (size_t)length, manifest.data, (size_t)length);
    tansu_buffer_free(&manifest);
    folder_end(folder);
}

/* is_listed -- whether a name is among those of the library. */
static bool is_listed(const char *name) {
    char *names = strdup(tansu_optional_libraries());
    REQUIRE(names != NULL);
    bool found = false;
    for (char *rest = names, *one; (one = strsep(&rest, " ")) != NULL;)
        found = found || strcmp(one, name) == 0;
    free(names);
    return found;
}

static void the_listed_libraries_are_optional_and_in_order(void) {
    char *names = strdup(tansu_optional_libraries());
    size_t size;
    char *dependencies = repo_file_read("CEngine/dependencies", &size);
    REQUIRE(names != NULL);
    const char *previous = "";
    for (char *rest = names, *name; *names != '\0' && (name = strsep(&rest, " ")) != NULL;) {
        char start[64];
        snprintf(start, sizeof start, "\n%s ", name);
        const char *line = strstr(dependencies, start);
        CHECK(strcmp(previous, name) < 0 && line != NULL);
        if (line != NULL) {
            const char *optional = strstr(line, "optional");
            CHECK(optional != NULL && optional < strchr(line + 1, '\n'));
        }
        previous = name;
    }
    free(dependencies);
    free(names);
}

static void the_library_can_do_what_the_listed_ones_are_for(void) {
    CHECK_INT(library_pcre2(), is_listed("libpcre2-8"));
    CHECK_INT(library_lz4(), is_listed("liblz4"));
    tansu_db *db = call_open(NULL);
    CHECK_INT(is_listed("liblz4"),
              call_ensure(db, NULL, "c", "{'compression': 'lz4'}") == TANSU_OK);
    CHECK_INT(is_listed("libpcre2-8"),
              call_count(db, NULL, "c", "{'name': {'$regex': '^m'}}") != -TANSU_E_UNSUPPORTED);
    call_close(db);
}

int main(void) {
    RUN(the_version_is_one_number_too);
    RUN(the_file_format_is_that_of_a_new_database);
    RUN(the_listed_libraries_are_optional_and_in_order);
    RUN(the_library_can_do_what_the_listed_ones_are_for);
    return check_finish();
}
