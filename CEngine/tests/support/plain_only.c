/*
 * support/plain_only.c -- which tests those are.
 */
#include "support/plain_only.h"

#include <stddef.h>

#ifdef TANSU_TEST_ENCRYPT
#include <string.h>

#define FORMAT "it reads or changes the plain files of the log or of the index"
#define SALVAGE \
    "it salvages records without a valid checksum, which an encrypted segment has none of"
#define MEMORY \
    "it expects that all of the log is mapped, and of an encrypted one a part is in memory"
#define KEY "it opens databases without a key, or with a key of its own"
#define NOTED \
    "it counts the syncs of an opening, and that of an encrypted one notes the end of the log"

/* By source file, and reason. */
static const struct {
    const char *file, *reason, *tests; /* each between spaces */
} lists[] = {
    {"test_compression.c", FORMAT,
     " joins_and_updates_read_compressed_documents "
     "open_cursors_and_snapshots_keep_what_they_see "
     "readers_share_a_cache_that_keeps_nothing files_are_smaller_and_an_option_away "
     "backups_are_not_compressed_and_readers_need_nothing "
     "feeds_deliver_what_is_compressed every_part_of_a_segment_is_checked "
     "a_header_that_is_lost_is_not_needed a_segment_of_another_codec_is_rejected "
     "allocations_that_fail_cost_one_call file_calls_that_fail_are_reported "},
    {"test_concurrent_reader.c", FORMAT,
     " a_damaged_log_is_an_error "
     "files_that_come_back_do_not_make_a_failure_a_success "},
    {"test_convert.c", KEY,
     " a_database_is_encrypted_and_decrypted what_cannot_be_converted_is_left_alone "
     "a_path_through_a_link_leaves_nothing_where_it_leads "
     "the_next_call_removes_what_an_interrupted_one_left "
     "opening_with_a_key_removes_the_plain_form_that_was_left "
     "a_plain_copy_that_was_not_completed_is_removed "
     "one_form_or_the_other_whatever_fails "},
    {"test_copies_of_corruption.c", FORMAT,
     " the_error_names_the_collection_and_the_rest_can_be_dumped "
     "a_malformed_document_under_a_valid_checksum_is_not_copied "
     "a_transaction_checks_what_it_reads "},
    {"test_corruption.c", FORMAT,
     " a_segment_of_another_format_is_refused "
     "lost_commits_of_a_cleanly_closed_log_are_noticed "
     "corruption_after_the_checkpoint_is_no_torn_end_while_the_machine_was_on "},
    {"test_corruption_random.c", FORMAT,
     " random_corruption_is_detected_or_harmless_and_repaired "
     "corruption_at_every_offset_is_detected_or_harmless_and_repaired "},
    {"test_durability.c", MEMORY,
     " what_a_failed_sync_dropped_is_an_io_error "
     "what_a_failed_commit_dropped_hides_no_document "},
    {"test_durability.c", NOTED, " what_a_killed_process_was_syncing_is_written_again "},
    {"test_encryption.c", KEY,
     " opens_with_its_key_only opens_with_its_passphrase_only "
     "plain_databases_refuse_a_key rekeying_is_refused "
     "readers_go_on_after_the_key_was_changed what_cannot_be_done_yet "},
    {"test_encryption_keys.c", KEY, " invalid_keys "},
    {"test_encryption_trace.c", KEY, " nothing_is_written_in_plain without_a_key_it_is_seen "},
    {"test_feed_corruption.c", FORMAT, " corruption_is_reported_with_its_offset "},
    {"test_forged_compaction.c", FORMAT,
     " a_compaction_may_replace_the_segment_that_it_is_in "
     "a_compaction_may_replace_a_segment_many_times "},
    {"test_forged_compressed.c", FORMAT,
     " blocks_may_begin_anywhere a_block_may_say_that_it_is_enormous "
     "a_block_may_be_enormous "},
    {"test_forged_documents.c", FORMAT,
     " documents_may_hold_anything recovery_and_repair_may_find_anything "},
    {"test_forged_last_commit.c", FORMAT, " a_commit_that_was_made_is_there_afterwards "},
    {"test_forged_log.c", FORMAT,
     " a_link_to_an_older_version_may_lead_anywhere "
     "a_stored_location_may_lead_anywhere "},
    {"test_forged_meta.c", FORMAT,
     " the_next_collection_may_be_one_that_is_there "
     "the_next_record_id_may_be_one_that_is_there "
     "there_may_be_as_many_record_ids_as_a_collection_can_have "},
    {"test_forged_record_ids.c", FORMAT,
     " numbers_beyond_those_given_out_are_damage numbers_that_may_be_right_are_taken "},
    {"test_forged_trees.c", FORMAT, " all_children_of_a_block_may_be_one "},
    {"test_open_json.c", KEY, " keys "},
    {"test_read_errors.c", MEMORY,
     " a_commit_into_lost_pages_is_not_acknowledged threads_read_while_pages_go "},
    {"test_record_headers.c", FORMAT, " each_damaged_byte_of_an_insert_is_noticed "},
    {"test_repair.c", SALVAGE,
     " one_damaged_document_costs_only_itself a_lost_version_leaves_the_one_before "
     "of_documents_with_one_id_the_newest_is_kept "
     "a_unique_index_that_no_longer_fits_is_made_without_that "
     "a_misplaced_block_costs_what_it_lies_over "
     "what_follows_a_misplaced_frame_is_no_commit "
     "a_version_that_lies_over_the_newest_one_is_older "},
    {"test_repair_compacted.c", FORMAT,
     " frames_over_others_cost_only_those a_frame_over_the_next_is_a_loss "
     "an_intact_compacted_segment_counts_under_any_number "
     "a_compacted_segment_without_a_header_leaves_doubts "
     "deletions_count_that_compaction_has_dropped "
     "a_document_that_the_index_files_do_not_know_is_uncertain "},
    {"test_repair_disk_faults.c", SALVAGE, " what_disks_do_costs_what_it_touches "},
    {"test_repair_encrypted.c", KEY,
     " the_key_is_needed plain_databases_take_no_key the_manifest_is_not_needed "},
    {"test_repair_proofs.c", SALVAGE,
     " a_deletion_that_was_lost_is_asked_of_the_index "
     "a_document_whose_id_became_that_of_another_is_lost "
     "a_document_whose_id_became_that_of_a_removed_one_is_kept "
     "a_removed_document_whose_id_became_that_of_another_removes_nothing "
     "the_index_files_correct_the_name_of_a_collection "},
    {"test_segments.c", MEMORY,
     " descriptors_are_few what_a_killed_process_wrote_is_synced "
     "the_segment_size_may_change "},
    {"test_sqlite.c", KEY, " an_encrypted_database_needs_its_key_file "},
};

const char *plain_only(const char *file, const char *test) {
    const char *slash = strrchr(file, '/'), *name = slash == NULL ? file : slash + 1;
    size_t length = strlen(test);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(lists[i].file, name) != 0)
            continue;
        for (const char *at = lists[i].tests; (at = strstr(at, test)) != NULL; at += length)
            if (at[-1] == ' ' && at[length] == ' ')
                return lists[i].reason;
    }
    return NULL;
}

#else

const char *plain_only(const char *file, const char *test) {
    (void)file;
    (void)test;
    return NULL;
}
#endif
