/*
 * test_u128.c -- integers of 128 bits in two halves, which compilers without such a type use, count
 * like those of the others.
 */
#define TANSU_U128_HALVES
#include "support/check.h"
#include "support/random/random.h"
#include "util/u128.h"

#define ROUNDS 20000

/* some -- a random number of any width. */
static u128 some(random_source *source) {
    u128 number = u128_join(random_next(source), random_next(source));
    return u128_shift_right(number, (uint32_t)random_below(source, 128));
}

/* product -- a * b, from products with halves. */
static u128 product(u128 a, u128 b) {
    return u128_add(u128_multiply(a, u128_low(b)),
                    u128_shift_left(u128_multiply(a, u128_high(b)), 64));
}

static void a_quotient_times_the_divisor_is_what_was_divided(void) {
    random_source source = random_start(1);
    for (int i = 0; i < ROUNDS; i++) {
        u128 a = some(&source), divisor = some(&source), rest;
        if (u128_is_zero(divisor))
            continue;
        u128 quotient = u128_divide(a, divisor, &rest);
        CHECK(u128_less(rest, divisor));
        CHECK(u128_equal(u128_add(product(quotient, divisor), rest), a));
        CHECK(!u128_less(a, quotient));
    }
}

static void decimal_digits_are_appended_and_dropped(void) {
    u128 number = u128_of(0);
    uint32_t digit;
    for (uint32_t i = 1; i <= 38; i++)
        number = u128_append(number, i % 10);
    /* 12345678901234567890123456789012345678 */
    CHECK(u128_high(number) == 0x949B0F6F0023313 && u128_low(number) == 0xC4499050DE38F34E);
    for (uint32_t i = 38; i >= 1; i--) {
        number = u128_drop(number, &digit);
        CHECK_INT(i % 10, digit);
    }
    CHECK(u128_is_zero(number));
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 native;

static native to_native(u128 a) {
    return (native)u128_high(a) << 64 | u128_low(a);
}

static void every_operation_is_that_of_the_compiler(void) {
    random_source source = random_start(2);
    for (int i = 0; i < ROUNDS; i++) {
        u128 a = some(&source), b = random_chance(&source, 5) ? a : some(&source), rest;
        native x = to_native(a), y = to_native(b);
        uint32_t bits = (uint32_t)random_below(&source, 128);
        CHECK(to_native(u128_add(a, b)) == x + y);
        CHECK(to_native(u128_multiply(a, u128_low(b))) == x * (uint64_t)y);
        CHECK(to_native(u128_shift_left(a, bits)) == x << bits);
        CHECK(to_native(u128_shift_right(a, bits)) == x >> bits);
        CHECK(u128_less(a, b) == (x < y) && u128_equal(a, b) == (x == y));
        if (y != 0)
            CHECK(to_native(u128_divide(a, b, &rest)) == x / y && to_native(rest) == x % y);
    }
}
#else
static void every_operation_is_that_of_the_compiler(void) {
    check_skip("the compiler has no integers of 128 bits");
}
#endif

int main(void) {
    RUN(a_quotient_times_the_divisor_is_what_was_divided);
    RUN(decimal_digits_are_appended_and_dropped);
    RUN(every_operation_is_that_of_the_compiler);
    return check_finish();
}
