public import Foundation

/// An error of a call to the database.
///
/// For example:
///
/// ```swift
/// do {
///     try await people.insert(person)
/// } catch let error as TansuError where error.code == .exists {
///     print("there already:", error.message)
/// }
/// ```
///
/// A value that cannot be encoded or decoded is not a `TansuError`: it is the `EncodingError` or
/// `DecodingError` that Codable users know. A cancelled task gets a `CancellationError`.
public struct TansuError: Error, Sendable, Hashable {
    /// What kind of error it is; ``Code`` documents the remedy of each.
    public let code: Code

    /// One sentence: what is wrong, and what to do.
    public let message: String

    /// Where: a path, an operator, a file or a name. Empty when there is none.
    public let context: String

    /// The byte of the input or file at fault or, when several documents were saved, the number of the
    /// document at fault, counted from 0. `nil` when it does not apply.
    public let offset: Int64?

    /// The `errno` of the system call that failed, or `nil` when none did.
    public let systemErrno: Int32?

    /// The engine's report of the call that failed, when it made one.
    var report: BSONDocument?

    /// Makes an error; the library does so, and tests of your own code may.
    ///
    /// - Parameters:
    ///   - code: What kind of error it is.
    ///   - message: One sentence for people.
    ///   - context: Where: a path, an operator, a file or a name.
    ///   - offset: The byte or the document at fault.
    ///   - systemErrno: The `errno` of a failed system call.
    public init(
        _ code: Code, _ message: String, context: String = "", offset: Int64? = nil, systemErrno: Int32? = nil
    ) {
        self.code = code
        self.message = message
        self.context = context
        self.offset = offset
        self.systemErrno = systemErrno
    }
}

extension TansuError: CustomStringConvertible {
    /// The name of the code, the message, and the location.
    public var description: String {
        var text = "\(code): \(message)"
        if !context.isEmpty { text += " [\(context)]" }
        if let offset { text += " at \(offset)" }
        if let systemErrno { text += " (errno \(systemErrno): \(String(cString: strerror(systemErrno))))" }
        return text
    }
}

extension TansuError: LocalizedError {
    /// The same text as ``description``, so that `localizedDescription` says what is wrong.
    public var errorDescription: String? { description }
}
