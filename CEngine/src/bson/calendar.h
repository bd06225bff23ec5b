/*
 * bson/calendar.h -- days of the Gregorian calendar, in all years before and after.
 */
#ifndef TANSU_BSON_CALENDAR_H
#define TANSU_BSON_CALENDAR_H

#include <stdint.h>

/* A day: month 1 to 12, day 1 to 31. */
typedef struct calendar_date {
    int64_t year;
    int month;
    int day;
} calendar_date;

/* calendar_days -- the number of days from 1970-01-01 to a date. */
int64_t calendar_days(int64_t year, int month, int day);

/* calendar_date_of -- the date that many days after 1970-01-01. */
calendar_date calendar_date_of(int64_t days);

#endif
