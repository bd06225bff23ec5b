#if TansuSync
public import Foundation
import Tansu
import TansuBSON

/// An error of a call of this module: of a replication, a replicated collection or a ``RemoteCollection``.
///
/// For example:
///
/// ```swift
/// do {
///     try await people.save(document)
/// } catch let error as SyncError where error.code == .conflict {
///     // Someone else has saved it since it was read.
/// }
/// ```
///
/// What the database below refuses, and what is wrong with one of its attachments, is a `TansuError`, a text that is no
/// revision a ``RevisionError``, and a cancelled task gets a `CancellationError`.
public struct SyncError: Error, Sendable, Hashable {
    /// What went wrong.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        // MARK: Servers

        /// A server does not answer, or says that it cannot now, as often as it was asked. Later it may.
        case unreachable
        /// A server does not accept the credentials.
        case unauthorized
        /// A server does not allow the call, or what the replication needs.
        case forbidden
        /// A server has no such database. A ``RemoteCollection`` creates it with `create()`.
        case noSuchDatabase
        /// A server does not answer as the protocol says.
        case invalidAnswer
        /// What should be the URL of a database on a server is none.
        case invalidURL
        /// An option is out of its range, or contradicts another.
        case invalidOptions

        // MARK: Documents

        /// The document was changed or removed since the revision that the call has. Read it again.
        case conflict
        /// The `_id` exists. Choose another, or `save` to replace.
        case exists
        /// There is no such document or index.
        case notFound
        /// The server refuses a document or a request as invalid, or the collection refuses a document, for a unique index for
        /// example.
        case refused
        /// A document or a request is larger than the server takes.
        case tooLarge
        /// An `_id` is neither text nor an ObjectId, or two documents have the same id on the wire.
        case unusableID
        /// A document has a field whose name begins with `_`.
        case reservedField

        // MARK: Queries

        /// A query says what a server cannot be asked; the message names the operator and the path.
        case unsupported
        /// A sort needs an index that the server does not have. Create it with `ensureIndex`.
        case noUsableIndex

        // MARK: Replicated collections

        /// The collection is not replicated.
        case notReplicated
        /// What the layer has stored is not what it writes.
        case corrupt

        // MARK: Attachments

        /// The source of a replication does not send the bytes of an attachment that it has announced.
        case damaged
        /// The source of a replication sends an attachment compressed in another way than it said.
        case invalidEncoding
    }

    /// What went wrong.
    public let code: Code
    /// What went wrong, where, and what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension SyncError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}

extension SyncError: LocalizedError {
    /// The message, so that `localizedDescription` says what is wrong.
    public var errorDescription: String? { message }
}

extension Error {
    /// Whether it is about one attachment, so that other documents may be replicated.
    package var isOfAttachment: Bool {
        switch self {
        case let error as TansuError: error.isOfAttachment
        case let error as SyncError: [.notFound, .tooLarge, .damaged, .invalidEncoding].contains(error.code)
        default: false
        }
    }
}

extension SyncError {
    /// Whether it is about one document of a ``RemoteCollection``, so that others may be saved.
    var isOfDocument: Bool { [.conflict, .refused, .forbidden, .tooLarge].contains(code) }
}
#endif
