#include "generator.h"

#include "bson_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_SIZE 512

static const char *const first_names[] = {
    "Aiko",  "Boris", "Chiara", "Dmitri", "Elena", "Farid", "Greta", "Hiro",  "Ines",   "Jonas",
    "Keiko", "Liam",  "Marta",  "Nadia",  "Omar",  "Paula", "Quinn", "Rosa",  "Stefan", "Tomoko",
    "Ulrik", "Vera",  "Wanda",  "Xavier", "Yusuf", "Zoe",   "Anton", "Bella", "Carlos", "Dora",
    "Emil",  "Frida", "Goran",  "Hanna",  "Igor",  "Julia", "Karl",  "Lena",  "Mateo",  "Nora"};
static const char *const last_names[] = {
    "Abe",    "Bauer",  "Costa", "Dubois", "Eriksen", "Ferrari", "Garcia", "Hansen", "Ivanov",
    "Jensen", "Kim",    "Lopez", "Moreau", "Nakano",  "Okafor",  "Petrov", "Quist",  "Rossi",
    "Silva",  "Tanaka", "Ueda",  "Vidal",  "Weber",   "Young",   "Zhang"};
static const char *const city_heads[] = {"North", "South", "East", "West",
                                         "New",   "Old",   "Port", "Saint "};
static const char *const city_tails[] = {"bridge", "field", "haven", "ford", "wood",
                                         "ton",    "mouth", "dale",  "gate", "burgh"};
static const char *const tag_words[] = {
    "reader", "cyclist", "pianist", "gardener", "runner", "painter", "climber", "sailor",
    "cook",   "dancer",  "hiker",   "skier",    "singer", "writer",  "potter",  "angler"};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* random_next -- the next of splitmix64's numbers. */
static uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* shuffle -- puts `chosen` random items of the array first, in random order */
static void shuffle(uint32_t *numbers, size_t count, size_t chosen, uint64_t seed) {
    for (size_t i = 0; i < chosen; i++) {
        size_t j = i + random_next(&seed) % (count - i);
        uint32_t kept = numbers[i];
        numbers[i] = numbers[j];
        numbers[j] = kept;
    }
}

/* random_numbers -- different numbers below a limit in random order. */
uint32_t *random_numbers(size_t limit, size_t count, uint64_t seed) {
    uint32_t *numbers = malloc(limit * sizeof *numbers);
    if (numbers == NULL || count > limit) {
        free(numbers);
        return NULL;
    }
    for (size_t i = 0; i < limit; i++)
        numbers[i] = (uint32_t)i;
    shuffle(numbers, limit, count, seed);
    return numbers;
}

/* assign_evenly -- gives each of `kinds` values to equally many documents, in random order. */
static uint32_t *assign_evenly(size_t count, size_t kinds, uint64_t seed) {
    uint32_t *numbers = random_numbers(count, count, seed);
    for (size_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] %= (uint32_t)kinds;
    return numbers;
}

/* generator_init -- deals out the fields of `count` documents. */
int generator_init(struct generator *generator, size_t count) {
    generator->count = count;
    generator->names = assign_evenly(count, count / GENERATOR_PER_NAME, 1);
    generator->cities = assign_evenly(count, GENERATOR_CITIES, 2);
    generator->zips = assign_evenly(count, GENERATOR_ZIPS, 3);
    generator->ages = assign_evenly(count, GENERATOR_AGES, 4);
    if (generator->names != NULL && generator->cities != NULL && generator->zips != NULL &&
        generator->ages != NULL)
        return 0;
    generator_free(generator);
    return -1;
}

/* generator_free -- frees what generator_init() took. */
void generator_free(struct generator *generator) {
    free(generator->names);
    free(generator->cities);
    free(generator->zips);
    free(generator->ages);
    memset(generator, 0, sizeof *generator);
}

/* generator_name -- the text of a name, different for every number. */
void generator_name(uint32_t number, char text[GENERATOR_TEXT_SIZE]) {
    size_t pairs = LENGTH(first_names) * LENGTH(last_names);
    snprintf(text, GENERATOR_TEXT_SIZE, "%s %s %u", first_names[number % LENGTH(first_names)],
             last_names[number / LENGTH(first_names) % LENGTH(last_names)],
             (unsigned)(number / pairs + 1));
}

/* generator_city -- the text of a city, different for every number below GENERATOR_CITIES. */
void generator_city(uint32_t number, char text[GENERATOR_TEXT_SIZE]) {
    snprintf(text, GENERATOR_TEXT_SIZE, "%s%s", city_heads[number % LENGTH(city_heads)],
             city_tails[number / LENGTH(city_heads) % LENGTH(city_tails)]);
}

/* generator_zip -- the text of a zip code, different for every number below GENERATOR_ZIPS. */
void generator_zip(uint32_t number, char text[GENERATOR_TEXT_SIZE]) {
    snprintf(text, GENERATOR_TEXT_SIZE, "%05u", 10000u + number * 883u % 90000u);
}

/* make_document -- writes document `i` into the two buffers; -1 when it does not fit. */
static int make_document(const struct generator *generator, size_t i, uint32_t version,
                         struct bson_writer *bson, char *json, size_t *json_size) {
    char name[GENERATOR_TEXT_SIZE], city[GENERATOR_TEXT_SIZE], zip[GENERATOR_TEXT_SIZE];
    char email[GENERATOR_TEXT_SIZE];
    const char *tags[3];
    uint64_t seed = i * 0x2545f4914f6cdd1du + 7;
    uint64_t dice = random_next(&seed);
    int64_t id = (int64_t)i + 1;
    int32_t age = GENERATOR_YOUNGEST + (int32_t)((generator->ages[i] + version) % GENERATOR_AGES);

    generator_name(generator->names[i], name);
    generator_city(generator->cities[i], city);
    generator_zip(generator->zips[i], zip);
    snprintf(email, sizeof email, "%c%06" PRIx64 ".%zu.%u@example.org", (char)('a' + dice % 26),
             dice >> 40, i, (unsigned)version);
    for (size_t t = 0; t < 3; t++)
        tags[t] = tag_words[(dice >> (8 + 4 * t)) % LENGTH(tag_words)];

    bson_writer_begin(bson);
    bson_writer_int64(bson, "_id", id);
    bson_writer_text(bson, "name", name);
    bson_writer_int32(bson, "age", age);
    bson_writer_text(bson, "email", email);
    bson_writer_open_array(bson, "tags");
    bson_writer_text(bson, "0", tags[0]);
    bson_writer_text(bson, "1", tags[1]);
    bson_writer_text(bson, "2", tags[2]);
    bson_writer_close(bson);
    bson_writer_open_document(bson, "address");
    bson_writer_text(bson, "city", city);
    bson_writer_text(bson, "zip", zip);
    bson_writer_close(bson);
    bson_writer_close(bson);

    int length = snprintf(json, JSON_SIZE,
                          "{\"_id\":%" PRId64 ",\"name\":\"%s\",\"age\":%d,\"email\":\"%s\","
                          "\"tags\":[\"%s\",\"%s\",\"%s\"],"
                          "\"address\":{\"city\":\"%s\",\"zip\":\"%s\"}}",
                          id, name, age, email, tags[0], tags[1], tags[2], city, zip);
    if (bson->overflow || length < 0 || length >= JSON_SIZE)
        return -1;
    *json_size = (size_t)length;
    return 0;
}

/* corpus_fill -- makes documents `numbers[k]`, or `first + k` when numbers is NULL. */
static int corpus_fill(const struct generator *generator, const uint32_t *numbers, size_t first,
                       size_t count, uint32_t version, struct corpus *corpus) {
    struct bson_writer bson;
    char json[JSON_SIZE];
    size_t json_size, used = 0, capacity = 0;
    uint8_t *memory = NULL;
    struct document *documents = calloc(count ? count : 1, sizeof *documents);
    size_t *offsets = calloc(count ? count : 1, sizeof *offsets);

    if (documents == NULL || offsets == NULL)
        goto err;
    for (size_t k = 0; k < count; k++) {
        size_t i = numbers != NULL ? numbers[k] : first + k;
        if (make_document(generator, i, version, &bson, json, &json_size) != 0)
            goto err;
        if (capacity - used < bson.size + json_size) {
            size_t wanted = capacity == 0 ? 64 * 1024 : capacity * 2;
            uint8_t *larger = realloc(memory, wanted);
            if (larger == NULL)
                goto err;
            memory = larger;
            capacity = wanted;
        }
        offsets[k] = used;
        memcpy(memory + used, bson.data, bson.size);
        memcpy(memory + used + bson.size, json, json_size);
        used += bson.size + json_size;
        documents[k] =
            (struct document){.id = (int64_t)i + 1, .bson_size = bson.size, .json_size = json_size};
    }
    for (size_t k = 0; k < count; k++) {
        documents[k].bson = memory + offsets[k];
        documents[k].json = (const char *)memory + offsets[k] + documents[k].bson_size;
    }
    free(offsets);
    *corpus = (struct corpus){.documents = documents, .count = count, .memory = memory};
    return 0;
err:
    free(memory);
    free(documents);
    free(offsets);
    return -1;
}

/* corpus_make -- makes a run of documents. */
int corpus_make(const struct generator *generator, size_t first, size_t count, uint32_t version,
                struct corpus *corpus) {
    return corpus_fill(generator, NULL, first, count, version, corpus);
}

/* corpus_pick -- makes documents picked by number. */
int corpus_pick(const struct generator *generator, const uint32_t *numbers, size_t count,
                uint32_t version, struct corpus *corpus) {
    return corpus_fill(generator, numbers, 0, count, version, corpus);
}

/* corpus_free -- frees the documents. */
void corpus_free(struct corpus *corpus) {
    free(corpus->documents);
    free(corpus->memory);
    memset(corpus, 0, sizeof *corpus);
}

/* sink_identify -- adds a document's id to the sink's two fingerprints. */
void sink_identify(struct sink *sink, int64_t id) {
    uint64_t state = (uint64_t)id;
    uint64_t mixed = random_next(&state);
    sink->set += mixed;
    sink->sequence = sink->sequence * 0x100000001b3u + mixed;
}
