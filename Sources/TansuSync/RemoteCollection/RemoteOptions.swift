#if TansuSync
    import Tansu

    /// What can be set of a ``RemoteCollection``.
    public struct RemoteOptions: Sendable {
        /// What the ids of documents, which are text on a server, are to this side.
        public enum IDs: Sendable, Hashable {
            /// What the type of the documents declares: ObjectIds if its `id` is one, else text.
            case automatic
            /// Text.
            case text
            /// 24 hex digits are an ObjectId; other ids stay text.
            case objectIDs
        }

        /// What the ids of documents are.
        public var ids = IDs.automatic
        /// The greatest number of documents that the server is asked for at once: 1 or more.
        public var pageSize = 1_000
        /// How often a document that others change at the same time is read and saved again: 1 or more.
        public var conflictAttempts = 10
        /// Whether the paths of queries lead to single values that JSON has. Conditions are then sent without what finds
        /// elements of arrays, and numbers, that are stored in another way: CouchDB uses an index for more of them, and documents
        /// with such values may be missing from the result.
        public var assumesPlainValues = false
        /// A file of PEM certificates: only servers whose certificate goes back to one of them are trusted. The system's
        /// certificates when nil.
        public var trustedCertificates: String?
        /// The seconds without a byte after which a connection counts as broken: 1 or more.
        public var timeout = 75
        /// How often a request that fails for a reason that may pass is sent: 1 or more.
        public var attempts = 8

        /// The options that a collection has when none are given.
        public init() {}

        func transport() throws(RemoteError) -> ClientTransport {
            guard pageSize > 0, conflictAttempts > 0, timeout > 0, attempts > 0 else {
                throw RemoteError(
                    .invalidOptions,
                    "pageSize, conflictAttempts, timeout and attempts of a remote collection are 1 or more")
            }
            var options = Replication.Options()
            options.trustedCertificates = trustedCertificates
            options.timeout = timeout
            do { return try options.transport() } catch { throw RemoteError(error) }
        }
    }
#endif
