/*
 * bson/calendar.c -- days to dates and back. Years begin in March here, which puts the leap day at
 * their end; 400 of them are an era of 146097 days.
 */
#include "bson/calendar.h"

#define ERA_DAYS 146097
/* From 0000-03-01 to 1970-01-01. */
#define DAYS_TO_1970 719468

int64_t calendar_days(int64_t year, int month, int day) {
    if (month <= 2)
        year--;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * ERA_DAYS + day_of_era - DAYS_TO_1970;
}

calendar_date calendar_date_of(int64_t days) {
    days += DAYS_TO_1970;
    int64_t era = (days >= 0 ? days : days - (ERA_DAYS - 1)) / ERA_DAYS;
    int64_t day_of_era = days - era * ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march_month = (5 * day_of_year + 2) / 153;
    int month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
    return (calendar_date){.year = year_of_era + era * 400 + (month <= 2),
                           .month = month,
                           .day = (int)(day_of_year - (153 * march_month + 2) / 5 + 1)};
}
