import Foundation

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
    ]

    /// What C names otherwise than Swift, in messages that also name something else.
    private static let names = [
        "tansu_index_list()": "indexes()", "tansu_verify()": "verify()", "max_pinned_bytes": "maxPinnedBytes",
    ]

    private static let optionNames = [
        "allow_writer": "allowWriter", "segment_size": "segmentSize", "compaction_percent": "compactionPercent",
        "compaction_share": "compactionShare", "sort_memory_bytes": "sortMemoryBytes",
        "group_memory_bytes": "groupMemoryBytes",
    ]

    /// The message in terms of Swift.
    static func translated(_ message: String) -> String {
        if let translation = translations[message] { return translation }
        let isOfOption = message.utf8.starts(with: "The option ".utf8)
        return (isOfOption ? names.merging(optionNames) { $1 } : names)
            .reduce(message) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
    }

    /// Where it was, in terms of Swift: an option has no "options." before its name.
    static func translated(context: String) -> String {
        let prefix = "options."
        let name = context.utf8.starts(with: prefix.utf8) ? String(context.dropFirst(prefix.count)) : context
        return names[name] ?? name
    }
}
