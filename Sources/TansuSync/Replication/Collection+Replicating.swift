#if TansuSync
    import Tansu
    import TansuBSON

    extension Database.Collection {
        /// Starts to replicate with a database on a server: CouchDB, PouchDB Server or another Tansu. Replication of the
        /// collection is switched on if it is off.
        ///
        /// ```swift
        /// let replication = try await people.replicate(
        ///     with: "https://example.org/people", .both, .continuous, credentials: .session("anna", password: "…"))
        /// ```
        ///
        /// An observed query sees what replication brings, in commits of whole batches.
        ///
        /// - Parameters:
        ///   - url: The URL of the database, with or without user and password.
        ///   - direction: Which way documents go.
        ///   - mode: When it ends.
        ///   - credentials: How this side shows the server who it is.
        /// - Returns: The replication, which runs as long as it is kept.
        /// - Throws: ``ReplicationError`` when the URL or an option is invalid or the collection cannot be replicated;
        ///   `TansuError`. What goes wrong later is a status of the replication.
        public func replicate(
            with url: String, _ direction: Replication.Direction = .both, _ mode: Replication.Mode = .once,
            credentials: RemoteCredentials = .none, options: Replication.Options = .init()
        ) async throws -> Replication {
            let far = try ReplicationSide.url(url, credentials: credentials)
            let near = ReplicationSide.collection(try await enableReplication())
            return try Replication(near, far, direction, mode, options)
        }

        /// Starts to replicate with a collection of this process, without HTTP. Replication of both is switched on if it is
        /// off.
        ///
        /// - Parameters:
        ///   - other: A collection of another database, or another one of this database.
        ///   - direction: Which way documents go.
        ///   - mode: When it ends.
        /// - Returns: The replication, which runs as long as it is kept.
        /// - Throws: ``ReplicationError`` when an option is invalid or a collection cannot be replicated; `TansuError`.
        public func replicate<Other>(
            with other: Database.Collection<Other>, _ direction: Replication.Direction = .both,
            _ mode: Replication.Mode = .once, options: Replication.Options = .init()
        ) async throws -> Replication {
            let near = try await enableReplication()
            let far = try await other.enableReplication()
            guard near !== far else {
                throw ReplicationError(.invalidOptions, "Collection \"\(name)\" is not replicated with itself")
            }
            return try Replication(.collection(near), .collection(far), direction, mode, options)
        }
    }
#endif
