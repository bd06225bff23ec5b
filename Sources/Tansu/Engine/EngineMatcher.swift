import CTansu
import Foundation

/// A compiled query of the engine that is evaluated on single documents.
///
/// `@unchecked Sendable`: the engine allows one thread at a time in a matcher, which the lock ensures.
package final class EngineMatcher: @unchecked Sendable {
    private let lock = NSLock()
    private let handle: OpaquePointer

    /// Compiles a query. Throws `.invalidQuery`.
    package init(_ query: BSONDocument) throws {
        var handle: OpaquePointer?
        try query.withUnsafeBytes { bytes in
            _ = try engineCall { tansu_matcher_new(tansu_document(bytes), &handle, $0) }
        }
        guard let handle else { throw TansuError(.invalidState, "The engine returned no matcher") }
        self.handle = handle
    }

    deinit {
        tansu_matcher_free(handle)
    }

    /// Whether a document matches. Throws `.invalidQuery` when a regular expression needs too many steps.
    package func matches(_ document: BSONDocument) throws -> Bool {
        var matches: Int32 = 0
        try document.withUnsafeBytes { bytes in
            _ = try lock.withLock {
                try engineCall { tansu_matcher_ask(handle, tansu_document(bytes), &matches, $0) }
            }
        }
        return matches != 0
    }
}
