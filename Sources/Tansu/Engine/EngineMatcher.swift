import CTansu
import Foundation

/// A compiled query of the engine that is asked about single documents.
///
/// `@unchecked Sendable`: the engine wants one thread at a time in a matcher, and the lock sees to that.
final class EngineMatcher: @unchecked Sendable {
    private let lock = NSLock()
    private let handle: OpaquePointer

    /// Compiles a query. Throws `.invalidQuery`.
    init(_ query: BSONDocument) throws {
        var handle: OpaquePointer?
        try query.withUnsafeBytes { bytes in
            _ = try engineCall { tansu_matcher_new(bytes.baseAddress, bytes.count, &handle, $0) }
        }
        guard let handle else { throw TansuError(.misuse, "the engine compiled nothing") }
        self.handle = handle
    }

    deinit {
        tansu_matcher_free(handle)
    }

    /// Whether a document matches. Throws `.invalidQuery` when a regular expression needs too much work.
    func matches(_ document: BSONDocument) throws -> Bool {
        var matches: Int32 = 0
        try document.withUnsafeBytes { bytes in
            _ = try lock.withLock {
                try engineCall { tansu_matcher_ask(handle, bytes.baseAddress, bytes.count, &matches, $0) }
            }
        }
        return matches != 0
    }
}
