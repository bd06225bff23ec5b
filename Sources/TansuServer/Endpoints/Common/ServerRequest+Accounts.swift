#if TansuServer
    import TansuBSON
    import TansuSync

    extension ServerRequest {
        /// What reads documents without naming each in the path is for those who manage the accounts.
        ///
        /// - Throws: ``HTTPFailure`` with 401 or 403.
        func checkWholeDatabase() throws {
            guard isUsersDatabase, let part = path.parts.dropFirst().first, part.hasPrefix("_") else { return }
            if ["_design", "_local", "_security", "_bulk_docs"].contains(part) { return }
            try requireDatabaseAdmin()
        }
    }
#endif
