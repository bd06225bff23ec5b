/// The engine's messages that name what only C has, in terms of Swift. A message that the engine words differently one day is
/// passed on as it is: the tests of errors notice that.
enum EngineMessages {
    private static let translations = [
        "The transaction is for reading; begin one with TANSU_TXN_WRITE":
            "A transaction of read() cannot write; use write()",
        "A read transaction has no savepoints; begin one with TANSU_TXN_WRITE":
            "A transaction of read() has no savepoints; use write()",
        "This thread's own write transaction is open; pass it to the call, or end it first":
            "This thread is inside a write transaction; write through that transaction",
        "The transaction was cancelled; abort it": "The transaction was cancelled; leave its closure",
        "The transaction was cancelled before it started; abort it": "The transaction was cancelled before it began",
        "Indexes cannot be created, and nothing dropped or renamed, in a savepoint; release it first":
            "Indexes cannot be created, and nothing dropped or renamed, in a savepoint; do it outside of savepoint()",
        "The option \"interval_ms\" must be at least 1":
            "The interval of the durability must be at least 1 millisecond",
        "The option \"follow\" is for databases that are opened with \"allow_writer\"":
            "The option \"follow\" is for databases that are opened with \"allowWriter\"",
        "The option \"segment_size\" must be from 1 MiB to 1 GiB":
            "The option \"segmentSize\" must be from 1 MiB to 1 GiB",
        "The option \"compaction_percent\" must be from 0 to 100":
            "The option \"compactionPercent\" must be from 0 to 100",
        "The option \"compaction_share\" must be from 1 to 100":
            "The option \"compactionShare\" must be from 1 to 100",
        "The option \"sort_memory_bytes\" must be from 64 KiB to 1 TiB":
            "The option \"sortMemoryBytes\" must be from 64 KiB to 1 TiB",
        "The option \"group_memory_bytes\" must be from 64 KiB to 1 TiB":
            "The option \"groupMemoryBytes\" must be from 64 KiB to 1 TiB",
    ]

    /// The message in terms of Swift.
    static func translated(_ message: String) -> String { translations[message] ?? message }
}
