/*
 * test_date_text.c -- dates as text without a format (query/expression/date_text.h), by the rules
 * of timelib.
 */
#include "query/expression/date_text.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

/* parse -- the text of the date that a text is, or "none". */
static const char *parse(const char *text, size_t size, const char *zone_name) {
    static char result[DATE_TEXT_SIZE];
    static evaluation ev;
    tansu_error error;
    time_zone *zone = NULL;
    int64_t milliseconds;
    ev.error = &error;
    REQUIRE(!zone_name || time_zone_open(zone_name, "zone", &zone, &error) == TANSU_OK);
    tansu_status status = date_text_parse(&ev, NULL, text, size, zone, &milliseconds);
    time_zone_free(zone);
    CHECK(status == TANSU_OK || status == TANSU_E_INVALID_QUERY);
    if (status != TANSU_OK || date_text_write(&ev, NULL, milliseconds, result) != TANSU_OK)
        return "none";
    return result;
}

/* expect -- checks the dates of texts. */
typedef struct sample {
    const char *text, *date;
} sample;

static void expect(const sample *samples, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!CHECK_TEXT(samples[i].date, parse(samples[i].text, strlen(samples[i].text), NULL)))
            check_note("%s", samples[i].text);
    }
}

#define EXPECT(samples) expect(samples, sizeof(samples) / sizeof *(samples))

static void iso_dates(void) {
    static const sample samples[] = {
        {"2017-07-04T11:56:02Z", "2017-07-04T11:56:02.000Z"},
        {"2017-07-04T11:56:02.813Z", "2017-07-04T11:56:02.813Z"},
        {"2017-07-04T11:56:02.8Z", "2017-07-04T11:56:02.800Z"},
        {"2017-07-04T11:56:02.8139999Z", "2017-07-04T11:56:02.813Z"},
        {"2017-07-04 11:56:02", "2017-07-04T11:56:02.000Z"},
        {"2017-07-04 11:56", "2017-07-04T11:56:00.000Z"},
        {"2017-7-4", "2017-07-04T00:00:00.000Z"},
        {"2017-07", "2017-07-01T00:00:00.000Z"},
        {"20170704", "2017-07-04T00:00:00.000Z"},
        {"20170704 115602", "2017-07-04T11:56:02.000Z"},
        {"20170704T115602", "2017-07-04T11:56:02.000Z"},
        {"2017/07/04", "2017-07-04T00:00:00.000Z"},
        {"2017-W27-2", "2017-07-04T00:00:00.000Z"},
        {"2017W27", "2017-07-03T00:00:00.000Z"},
        {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"},
        {" \t2017-07-04\n", "2017-07-04T00:00:00.000Z"},
        {"2017-07-04\xC2\xA0", "2017-07-04T00:00:00.000Z"},
        {"2017:07:04 11:56:02", "2017-07-04T11:56:02.000Z"},
    };
    EXPECT(samples);
    CHECK_TEXT("2017-07-04T00:00:00.000Z", parse("\0002017-07-04", 11, NULL));
}

static void other_dates(void) {
    static const sample samples[] = {
        {"July 4th, 2017", "2017-07-04T00:00:00.000Z"},
        {"July 4th, 2017 11am", "2017-07-04T11:00:00.000Z"},
        {"July 4th, 2017 12am", "2017-07-04T00:00:00.000Z"},
        {"July 4th, 2017 12:39:30 BST", "2017-07-04T11:39:30.000Z"},
        {"oct 20 2020", "2020-10-20T00:00:00.000Z"},
        {"4 July 2017", "2017-07-04T00:00:00.000Z"},
        {"4-Jul-2017", "2017-07-04T00:00:00.000Z"},
        {"Jul-04-17", "2017-07-04T00:00:00.000Z"},
        {"04.07.2017", "2017-07-04T00:00:00.000Z"},
        {"7/4/2017", "2017-07-04T00:00:00.000Z"},
        {"7/4/17 11:56 pm", "2017-07-04T23:56:00.000Z"},
        {"7/4/70", "1970-07-04T00:00:00.000Z"},
        {"Tue, 04 Jul 2017 11:56:02 +0200", "2017-07-04T09:56:02.000Z"},
        {"Tue Jul  4 11:56:02 2017", "2017-07-04T11:56:02.000Z"},
        {"Friday 2017-07-04", "2017-07-07T00:00:00.000Z"},
        {"04/Jul/2017:11:56:02 -0700", "2017-07-04T18:56:02.000Z"},
        {"2017-07-04 noon", "2017-07-04T12:00:00.000Z"},
        {"2017-07-04 tomorrow", "2017-07-05T00:00:00.000Z"},
        {"2017-07-04 +1 week 2 days", "2017-07-13T00:00:00.000Z"},
        {"2017-07-31 +1 month", "2017-08-31T00:00:00.000Z"},
        {"2017-07-04 -7 months", "2016-12-04T00:00:00.000Z"},
    };
    EXPECT(samples);
}

static void zones(void) {
    static const sample samples[] = {
        {"2017-07-04T11:56:02+0500", "2017-07-04T06:56:02.000Z"},
        {"2017-07-04T11:56:02-05:30", "2017-07-04T17:26:02.000Z"},
        {"2017-07-04T11:56:02 +5", "2017-07-04T06:56:02.000Z"},
        {"2017-07-04T11:56:02 GMT+530", "2017-07-04T06:26:02.000Z"},
        {"2017-07-04T11:56:02 EST", "2017-07-04T16:56:02.000Z"},
        {"2017-07-04T11:56:02 A", "2017-07-04T10:56:02.000Z"},
        {"2017-07-04 11:56 Europe/Berlin", "none"},
        {"2017-07-04 11:56 (America/New_York)", "none"},
        {"2017-07-04 11:56 Nowhere/At_All", "none"},
        {"2017-07-04 11:56 UTC CET", "none"},
    };
    EXPECT(samples);
    CHECK_TEXT("2017-02-08T17:10:40.787Z",
               parse("2017-02-08T12:10:40.787", 23, "America/New_York"));
    CHECK_TEXT("none", parse("2017-02-08T12:10:40.787Z", 24, "America/New_York"));
    /* Clocks show it twice, or never. */
    CHECK_TEXT("2017-11-05T06:30:00.000Z", parse("2017-11-05T01:30:00", 19, "America/New_York"));
    CHECK_TEXT("2017-03-12T07:30:00.000Z", parse("2017-03-12T02:30:00", 19, "America/New_York"));
}

static void no_dates(void) {
    static const sample samples[] = {
        {"", "none"},
        {"Friday", "none"},
        {"not-a-date", "none"},
        {"now", "none"},
        {"12:50:53", "none"},
        {"July 4th", "none"},
        {"2017", "none"},
        {"2017-02-29", "none"},
        {"2017-13-01", "none"},
        {"2017-07-04T25:00:00", "none"},
        {"2017-07-04T24:00:00", "none"},
        {"2017-07-04T11:56:60", "none"},
        {"2017 -07-04T11:56:02Z", "none"},
        {"2017-07-04T11: 56:02Z", "none"},
        {"2017-07-04 2018-07-04", "none"},
        {"11:56 2017-07-04 11:57", "none"},
        {"10000-01-01T00:00:00Z", "none"},
        {"20599-01-01T00:00:00Z", "none"},
        {"2017-07-04#", "none"},
        {"2017-07-04\xE2\x80\x83", "none"},
    };
    EXPECT(samples);
}

/* Parts without end, and numbers that would leave the range of dates. */
static void large_texts(void) {
    static char text[200000];
    size_t size = 0;
    while (size + 20 < sizeof text)
        size += (size_t)snprintf(text + size, 20, "+999999999 years ");
    CHECK_TEXT("none", parse(text, size, NULL));
    memset(text, '9', sizeof text);
    CHECK_TEXT("none", parse(text, sizeof text, NULL));
    memset(text, ' ', sizeof text);
    CHECK_TEXT("none", parse(text, sizeof text, NULL));
}

static void years_of_text(void) {
    static evaluation ev;
    tansu_error error;
    char text[DATE_TEXT_SIZE];
    ev.error = &error;
    CHECK_OK(date_text_write(&ev, NULL, INT64_C(-62167219200000), text), &error);
    CHECK_TEXT("0000-01-01T00:00:00.000Z", text);
    CHECK_OK(date_text_write(&ev, NULL, -1, text), &error);
    CHECK_TEXT("1969-12-31T23:59:59.999Z", text);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, date_text_write(&ev, NULL, INT64_C(-62167219200001), text));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, date_text_write(&ev, NULL, INT64_MAX, text));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, date_text_write(&ev, NULL, INT64_MIN, text));
}

int main(void) {
    RUN(iso_dates);
    RUN(other_dates);
    RUN(zones);
    RUN(no_dates);
    RUN(large_texts);
    RUN(years_of_text);
    return check_finish();
}
