/*
 * generator.h -- the documents of the benchmark: the same on every run and every machine. Field
 * values are dealt out so that an equality on each field hits an exactly known number of them.
 */
#ifndef GENERATOR_H
#define GENERATOR_H

#include "bench.h"

#define GENERATOR_STEP 400    /* the number of documents is a multiple of this */
#define GENERATOR_PER_NAME 10 /* documents with the same name */
#define GENERATOR_CITIES 80   /* address.city: count / 80 documents each */
#define GENERATOR_ZIPS 100    /* address.zip: 1 % of the documents each */
#define GENERATOR_AGES 80     /* age: count / 80 documents each */
#define GENERATOR_YOUNGEST 18
#define GENERATOR_TEXT_SIZE 64 /* capacity for any generated field */

struct generator {
    size_t count;
    uint32_t *names, *cities, *zips, *ages; /* what document i got */
};

/* Documents kept in memory; `memory` holds the bytes of all of them. */
struct corpus {
    struct document *documents;
    size_t count;
    uint8_t *memory;
};

int generator_init(struct generator *generator, size_t count);
void generator_free(struct generator *generator);

void generator_name(uint32_t number, char text[GENERATOR_TEXT_SIZE]);
void generator_city(uint32_t number, char text[GENERATOR_TEXT_SIZE]);
void generator_zip(uint32_t number, char text[GENERATOR_TEXT_SIZE]);

/* Makes the documents first … first + count - 1. Version 0 is what is inserted; another version
 * has another age and email, for updates. */
int corpus_make(const struct generator *generator, size_t first, size_t count, uint32_t version,
                struct corpus *corpus);

/* The same for documents picked by number. */
int corpus_pick(const struct generator *generator, const uint32_t *numbers, size_t count,
                uint32_t version, struct corpus *corpus);
void corpus_free(struct corpus *corpus);

/* `count` different numbers below `limit` in random order, the same for a seed; NULL: no memory. */
uint32_t *random_numbers(size_t limit, size_t count, uint64_t seed);

#endif
