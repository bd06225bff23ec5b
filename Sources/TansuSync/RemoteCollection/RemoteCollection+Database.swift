#if TansuSync
    import Tansu
    import TansuBSON

    extension RemoteCollection {
        /// Creates the database on the server.
        ///
        /// - Returns: Whether it was created; false when it exists.
        /// - Throws: ``RemoteError``; `CancellationError`.
        @discardableResult
        public func create() async throws -> Bool {
            try await connection.json("PUT", "", accepted: [412]).status != 412
        }

        /// Drops the database on the server, with all of its documents.
        ///
        /// - Returns: Whether it existed.
        /// - Throws: ``RemoteError``; `CancellationError`.
        @discardableResult
        public func drop() async throws -> Bool {
            do { _ = try await connection.json("DELETE", "") } catch let error as RemoteError
                where [.noSuchDatabase, .notFound].contains(error.code)
            { return false }
            return true
        }
    }
#endif
