import Foundation
#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

/// Calls the engine, and throws its error unless the call succeeded.
///
/// - Returns: `TANSU_OK` or `TANSU_DONE`.
@discardableResult
func engineCall(_ body: (UnsafeMutablePointer<tansu_error>) throws -> tansu_status) throws -> tansu_status {
    var error = tansu_error.none
    let status = try body(&error)
    try status.check(error)
    return status
}

extension tansu_error {
    /// What a call is given to fill.
    static var none: tansu_error {
        var error = tansu_error()
        error.offset = -1
        return error
    }
}

extension tansu_status {
    /// Throws the error of a call that did not succeed.
    func check(_ error: tansu_error) throws {
        if self != TANSU_OK, self != TANSU_DONE { throw TansuError(status: self, error: error) }
    }
}

extension TansuError {
    /// The engine's error as Swift's. The status is authoritative; message and context may be empty.
    init(status: tansu_status, error: tansu_error) {
        let message = EngineMessages.translated(text(inBytesOf: error.message))
        self.init(
            Code(rawValue: UInt32(status.rawValue)),
            message.isEmpty ? "The engine returned \(String(cString: tansu_status_name(status)))" : message,
            context: EngineMessages.translated(context: text(inBytesOf: error.context)),
            offset: error.offset < 0 ? nil : error.offset,
            systemErrno: error.sys_errno == 0 ? nil : error.sys_errno
        )
    }
}

/// Swift imports a C array as a tuple: this reads the NUL-terminated text in one.
private func text<Tuple>(inBytesOf tuple: Tuple) -> String {
    withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

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

/// Runs `body` with a buffer for the engine to fill, and frees it.
func withEngineBuffer<Result>(_ body: (inout tansu_buffer) throws -> Result) rethrows -> Result {
    var buffer = tansu_buffer()
    defer { tansu_buffer_free(&buffer) }
    return try body(&buffer)
}

extension tansu_buffer {
    /// What the engine wrote; valid until the buffer is used again or freed.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: size) }
}

extension tansu_document {
    /// The bytes that a cursor points at; valid until its next step.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: size) }
}

extension tansu_document {
    /// The engine's form of a document's bytes. Valid as long as the bytes are.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(data: bytes.baseAddress, size: bytes.count)
    }
}
