#if TansuSync
    /// Why a collection cannot be replicated, or what is stored of it cannot be used, or why a replication ended.
    public struct ReplicationError: Error, Sendable, Hashable, CustomStringConvertible {
        /// What went wrong.
        public enum Code: String, Sendable, Hashable {
            /// The collection is not replicated.
            case notReplicated
            /// An id is neither text nor an ObjectId, or two documents have the same id on the wire.
            case unusableID
            /// A document has a field whose name begins with `_`.
            case reservedField
            /// The collection refuses a document, for a unique index for example.
            case refused
            /// What the layer has stored is not what it writes.
            case corrupt
            /// What should be the URL of a database on a server is none.
            case invalidURL
            /// A server does not answer, or says that it cannot now. Later it may.
            case unreachable
            /// A server does not accept the credentials.
            case unauthorized
            /// A server does not allow what the replication needs.
            case forbidden
            /// A server has no such database.
            case noSuchDatabase
            /// A server does not answer as the protocol says.
            case invalidAnswer
            /// The options of a replication contradict each other.
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
    }

    /// Why one document was not saved; the others of its batch are.
    package enum DocumentError: Error, Sendable, Hashable {
        /// The edit is not based on the newest revision of a branch.
        case conflict
        /// A stub names an attachment that the revision it is based on does not have.
        case missingStub(name: String)
        /// The document cannot be stored, such as for a unique index of the collection: what the database says.
        case refused(String)
    }
#endif
