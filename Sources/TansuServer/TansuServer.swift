#if TansuServer
    import Tansu

    /// The HTTP API of CouchDB for the collections of a database.
    @available(macOS 14, *)
    public struct TansuServer: Sendable {
        /// The database that it serves.
        public let database: Database

        /// Creates a server.
        public init(database: Database) {
            self.database = database
        }
    }
#endif
