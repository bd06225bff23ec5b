/*
 * query/pipeline/document_list.c -- documents one after the other, in memory and in a file.
 */
#include "query/pipeline/document_list.h"

/* What is read of the file at once. */
#define WINDOW ((size_t)256 * 1024)

void document_list_init(document_list *list, stage *s, size_t memory) {
    *list = (document_list){.s = s, .memory = memory, .file = {.fd = -1}};
}

void document_list_free(document_list *list) {
    if (!list->s)
        return;
    tansu_buffer_free(&list->bytes);
    spill_close(&list->file);
    list->s = NULL;
}

tansu_status document_list_clear(document_list *list) {
    list->count = 0;
    list->bytes.size = 0;
    if (!list->spilled)
        return TANSU_OK;
    list->spilled = false;
    return spill_clear(&list->file, list->s->p->error);
}

/* spill -- moves the documents in memory to the file. */
static tansu_status spill(document_list *list) {
    pipeline *p = list->s->p;
    tansu_status status = TANSU_OK;
    if (p->no_disk) {
        const spill_refusal refusal = {.context = list->s->kind->name,
                                       .what = "The stage",
                                       .limit = list->memory,
                                       .advice = "let fewer documents reach it"};
        return spill_refuse(&refusal, p->error);
    }
    if (list->file.fd < 0)
        status = spill_open(&list->file, &p->rctx, p->error);
    if (status == TANSU_OK)
        status = spill_append(&list->file, list->bytes.data, list->bytes.size, p->error);
    if (status != TANSU_OK)
        return status;
    p->spilled += list->bytes.size;
    list->spilled = true;
    list->bytes.size = 0;
    return TANSU_OK;
}

tansu_status document_list_add(document_list *list, const doc_value *doc) {
    if (list->bytes.size != 0 && list->bytes.size + doc->size > list->memory) {
        tansu_status status = spill(list);
        if (status != TANSU_OK)
            return status;
    }
    if (!buffer_append(&list->bytes, doc->data, doc->size))
        return error_memory(list->s->p->error);
    list->count++;
    if (list->bytes.size > list->s->memory)
        list->s->memory = list->bytes.size;
    return TANSU_OK;
}

/* read_window -- replaces the window by what the file has from the reader's position on, at least
 * `size` bytes. */
static tansu_status read_window(const document_list *list, document_reader *r, size_t size) {
    uint64_t left = list->file.size - r->at;
    if (size < WINDOW)
        size = left < WINDOW ? (size_t)left : WINDOW;
    r->window.size = 0;
    if (!buffer_reserve(&r->window, size))
        return error_memory(list->s->p->error);
    r->window_at = r->at;
    tansu_status status = spill_read(&list->file, r->window.data, size, r->at, list->s->p->error);
    if (status == TANSU_OK)
        r->window.size = size;
    return status;
}

tansu_status document_list_next(const document_list *list, document_reader *r, doc_value *doc) {
    uint64_t in_file = list->spilled ? list->file.size : 0;
    if (r->at >= in_file) {
        uint64_t at = r->at - in_file;
        if (at >= list->bytes.size)
            return TANSU_DONE;
        const uint8_t *data = list->bytes.data + at;
        *doc = (doc_value){data, load_u32(data), DOC_DOCUMENT};
        r->at += doc->size;
        return TANSU_OK;
    }
    for (uint32_t size = 4;;) {
        uint64_t before = r->at - r->window_at;
        if (r->window.size != 0 && r->at >= r->window_at && before + size <= r->window.size) {
            const uint8_t *data = r->window.data + before;
            if (size == load_u32(data)) {
                *doc = (doc_value){data, size, DOC_DOCUMENT};
                r->at += size;
                return TANSU_OK;
            }
            size = load_u32(data);
            continue;
        }
        tansu_status status = read_window(list, r, size);
        if (status != TANSU_OK)
            return status;
    }
}

void document_reader_free(document_reader *reader) {
    tansu_buffer_free(&reader->window);
}
