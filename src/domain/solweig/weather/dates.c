/* dates.c - the calendar, and filters of dates. */
#include "weather.h"

#include <stdlib.h>
#include <string.h>

enum { DAY = 24 * 60 };

/* The calendar. */

int qn_sw_is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int qn_sw_days_in_month(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return days[month - 1] + (month == 2 && qn_sw_is_leap(year));
}

/* Days from 1970-01-01 to the first day of `year`. */
static qn_i64 days_before_year(int year)
{
    const qn_i64 y = (qn_i64)year - 1, era = y + 400; /* >= 0: divisions round down */
    const qn_i64 leaps = era / 4 - era / 100 + era / 400 - 97;

    return 365 * y + leaps - 719162;
}

static int days_before_month(int year, int month)
{
    int days = 0;

    for (int m = 1; m < month; m++)
        days += qn_sw_days_in_month(year, m);
    return days;
}

qn_i64 qn_sw_minutes_of(int year, int month, int day, int hour, int minute)
{
    const qn_i64 days = days_before_year(year) + days_before_month(year, month) + day - 1;

    return days * DAY + (qn_i64)hour * 60 + minute;
}

qn_sw_date qn_sw_date_of(qn_i64 minutes)
{
    const qn_i64 days = minutes >= 0 ? minutes / DAY : -((-minutes + DAY - 1) / DAY);
    const int rest = (int)(minutes - days * DAY);
    qn_sw_date date = { .hour = rest / 60, .minute = rest % 60, .month = 1 };
    int left;

    /* A first guess that is at most one year off. */
    date.year = (int)(1970 + days * 400 / 146097);
    while (days < days_before_year(date.year))
        date.year--;
    while (days >= days_before_year(date.year + 1))
        date.year++;
    left = (int)(days - days_before_year(date.year));
    while (left >= qn_sw_days_in_month(date.year, date.month))
        left -= qn_sw_days_in_month(date.year, date.month++);
    date.day = left + 1;
    return date;
}

int qn_sw_date_is_valid(const qn_sw_date *d)
{
    return d->year >= 1 && d->year <= 9999 && d->month >= 1 && d->month <= 12 && d->day >= 1 &&
           d->day <= qn_sw_days_in_month(d->year, d->month) && d->hour >= 0 && d->hour < 24 &&
           d->minute >= 0 && d->minute < 60 && d->second >= 0 && d->second < 60;
}

int qn_sw_day_of_year(const qn_sw_date *date)
{
    return days_before_month(date->year, date->month) + date->day;
}

static qn_i64 minutes_of(const qn_sw_date *d)
{
    return qn_sw_minutes_of(d->year, d->month, d->day, d->hour, d->minute);
}

qn_sw_date qn_sw_date_add(qn_sw_date date, long long seconds)
{
    const long long total = seconds + date.second;
    const long long minutes = total / 60 - (total % 60 < 0);
    qn_sw_date moved = qn_sw_date_of(minutes_of(&date) + minutes);

    moved.second = (int)(total - 60 * minutes);
    return moved;
}

/* Filters. */

typedef struct {
    int has_year, has_time;
    qn_sw_date date;
} parsed_date;

int qn_sw_take_digits(const char **at, int n, char after, int *out)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        if ((*at)[i] < '0' || (*at)[i] > '9')
            return 0;
        value = 10 * value + (*at)[i] - '0';
    }
    if (after && (*at)[n] != after)
        return 0;
    *at += n + (after != 0);
    *out = value;
    return 1;
}

static qn_status parse_date(const char *text, parsed_date *out, qn_err *err)
{
    const char *at = text;
    const int has_year = strlen(text) > 4 && text[4] == '-';
    qn_sw_date d = { .year = 2000 }; /* a leap year, so that 02-29 is valid */
    int is_date = (!has_year || qn_sw_take_digits(&at, 4, '-', &d.year)) &&
                  qn_sw_take_digits(&at, 2, '-', &d.month) && qn_sw_take_digits(&at, 2, 0, &d.day);
    const int has_time = is_date && has_year && (*at == 'T' || *at == ' ');

    if (has_time) {
        at++;
        is_date =
            qn_sw_take_digits(&at, 2, ':', &d.hour) && qn_sw_take_digits(&at, 2, 0, &d.minute);
    }
    if (!is_date || *at || !qn_sw_date_is_valid(&d))
        return qn_fail(err, QN_ERR_USAGE,
                       "date \"%.40s\" is not YYYY-MM-DD, YYYY-MM-DDTHH:MM or MM-DD", text);
    *out = (parsed_date){ has_year, has_time, d };
    return QN_OK;
}

static qn_status parse_hours(const char *text, uint32_t *out, qn_err *err)
{
    uint32_t hours = 0;

    for (const char *at = text;; at++) {
        char *end;
        const long first = strtol(at, &end, 10);
        long last = first;
        int is_bad = end == at;

        at = end;
        if (*at == '-') {
            last = strtol(at + 1, &end, 10);
            is_bad |= end == at + 1;
            at = end;
        }
        if (is_bad || first < 0 || last > 23 || first > last || (*at && *at != ','))
            return qn_fail(err, QN_ERR_USAGE,
                           "hours \"%.60s\" are not a list of 0 .. 23 like 9,12-15", text);
        for (long h = first; h <= last; h++)
            hours |= UINT32_C(1) << h;
        if (!*at)
            break;
    }
    *out = hours;
    return QN_OK;
}

/* Stamps are whole minutes, so an end at 23:59:59 would include the last row of a day. */
static qn_i64 end_of(const qn_sw_date *d)
{
    const int is_midnight = d->hour == 0 && d->minute == 0;

    return minutes_of(d) + (is_midnight ? DAY - 1 : 0);
}

qn_status qn_sw_date_filter_parse(const char *start, const char *end, const char *hours,
                                  qn_sw_date_filter *out, qn_err *err)
{
    qn_sw_date_filter filter = { .kind = QN_SW_ALL_DATES };
    qn_status st = QN_OK;
    parsed_date from, to;

    if (end && !start)
        return qn_fail(err, QN_ERR_USAGE, "end date %.40s without a start date", end);
    if (start) {
        QN_TRY(parse_date(start, &from, err));
        to = from;
        if (end)
            QN_TRY(parse_date(end, &to, err));
        if (from.has_year != to.has_year)
            return qn_fail(err, QN_ERR_USAGE,
                           "start %.40s and end %.40s: either both have a year or none", start,
                           end);
        filter.kind = from.has_year ? QN_SW_BETWEEN : QN_SW_EVERY_YEAR;
        filter.first = minutes_of(&from.date);
        /* Without an end, a start with a time means that single row. */
        filter.last = end || !from.has_time ? end_of(&to.date) : filter.first;
        filter.first_day = from.date.month * 100 + from.date.day;
        filter.last_day = to.date.month * 100 + to.date.day;
        if (from.has_year && filter.last < filter.first)
            return qn_fail(err, QN_ERR_USAGE, "end %.40s lies before start %.40s", end, start);
    }
    if (hours)
        QN_TRY(parse_hours(hours, &filter.hours, err));
    *out = filter;
out:
    return st;
}

int qn_sw_date_passes(const qn_sw_date_filter *f, qn_i64 minutes)
{
    const qn_sw_date date = qn_sw_date_of(minutes);
    const int day = date.month * 100 + date.day;
    const int after = day >= f->first_day, before = day <= f->last_day;

    if (f->hours && !(f->hours >> date.hour & 1))
        return 0;
    if (f->kind == QN_SW_BETWEEN)
        return minutes >= f->first && minutes <= f->last;
    if (f->kind == QN_SW_EVERY_YEAR)
        return f->first_day <= f->last_day ? after && before : after || before;
    return 1;
}
