#if TansuSync
import Tansu
import TansuBSON

/// An error of a ``RemoteCollection``.
///
/// For example:
///
/// ```swift
/// do {
///     try await people.save(document)
/// } catch let error as RemoteError where error.code == .conflict {
///     // Someone else has saved it since it was read.
/// }
/// ```
public struct RemoteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong.
    public enum Code: String, Sendable, Hashable {
        /// The document was changed or removed since the revision that the call has. Read it again.
        case conflict
        /// The `_id` exists. Choose another, or `save` to replace.
        case exists
        /// There is no such document or index.
        case notFound
        /// The server has no such database. Create it with `create()`.
        case noSuchDatabase
        /// A query says what a server cannot be asked; the description names the operator and the path.
        case unsupported
        /// A sort needs an index that the server does not have. Create it with `ensureIndex`.
        case noUsableIndex
        /// The server refuses a document or a request as invalid.
        case refused
        /// The `_id` of a document is neither text nor an ObjectId.
        case unusableID
        /// A document or a request is larger than the server takes.
        case tooLarge
        /// The server does not accept the credentials.
        case unauthorized
        /// The server does not allow the call.
        case forbidden
        /// The server does not answer, or says that it cannot now, as often as it was asked. Later it may.
        case unreachable
        /// The server does not answer as the protocol says.
        case invalidAnswer
        /// What should be the URL of a database on a server is none.
        case invalidURL
        /// An option is out of its range.
        case invalidOptions
    }

    /// What went wrong.
    public let code: Code
    /// What went wrong, where, and what to do.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    init(_ failure: RemoteFailure) {
        switch failure.kind {
        case .noAnswer, .invalidAnswer, .untrusted: self.init(failure.error)
        case .status(let status):
            let text = "\(failure.location) answers \(status): \(failure.reason)"
            switch status {
            case 400 where failure.word == "no_usable_index":
                self.init(.noUsableIndex, "\(text); create an index on the sorted paths with ensureIndex")
            case 401: self.init(.unauthorized, text)
            case 403: self.init(.forbidden, text)
            case 404 where failure.isOfDatabase:
                self.init(.noSuchDatabase, "\(text); create it with create()")
            case 404: self.init(.notFound, text)
            case 409: self.init(.conflict, "\(text); read the document again")
            case 413: self.init(.tooLarge, text)
            case _ where failure.isTransient: self.init(.unreachable, text)
            default: self.init(.refused, text)
            }
        }
    }

    init(_ error: ReplicationError) {
        switch error.code {
        case .invalidURL: self.init(.invalidURL, error.description)
        case .unauthorized: self.init(.unauthorized, error.description)
        case .forbidden: self.init(.forbidden, error.description)
        case .noSuchDatabase: self.init(.noSuchDatabase, error.description)
        case .unreachable: self.init(.unreachable, error.description)
        case .invalidOptions: self.init(.invalidOptions, error.description)
        default: self.init(.invalidAnswer, error.description)
        }
    }
}

extension RemoteFailure {
    /// Whether a status 404 is about the database, not about a document in it.
    var isOfDatabase: Bool {
        ["Database does not exist.", "no_db_file"].contains { reason.hasSuffix($0) }
    }
}
#endif
