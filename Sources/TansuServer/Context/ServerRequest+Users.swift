#if TansuServer
    import Tansu
    import TansuBSON
    import TansuSync

    // Documents of the database `_users` are accounts: who may write and read them, and how passwords are stored.
    extension ServerRequest {
        /// Whether the database of the request is that of the accounts.
        package var isUsersDatabase: Bool { databaseName == AccountRules.collection }

        /// What is stored of a document that a client sends, with the hash of the password instead of the password. Documents
        /// of other databases, and those that are no accounts, stay as they are.
        ///
        /// - Parameter fields: Without those that begin with an underscore.
        /// - Throws: ``HTTPFailure`` with 403 for a document that is no account, 404 for that of somebody else.
        package func storedFields(_ fields: BSONDocument, id: String, isDeleted: Bool = false) async throws
            -> BSONDocument
        {
            guard AccountRules.apply(to: id, in: databaseName) else { return fields }
            let isAdmin = try security().isAdmin(user)
            guard isAdmin || isOwn(id) else { throw HTTPFailure.notFound() }
            if isDeleted { return fields }
            var roles: [String]?
            if !isAdmin {
                let stored = try await database.collection(databaseName).get(id)
                roles = stored?["roles"]?.arrayValue?.compactMap(\.stringValue) ?? []
            }
            if let reason = AccountRules.refusal(of: fields, id: id, formerRoles: roles) {
                throw HTTPFailure.forbidden(reason)
            }
            guard let password = fields["password"], !password.isNull else { return fields }
            guard let password = password.stringValue else { throw HTTPFailure.forbidden("Password must be a string.") }
            let hash = try await server.authenticator.passwords.hash(
                password, iterations: server.options.passwordIterations)
            return hash.stored(in: fields)
        }

        /// - Throws: ``HTTPFailure`` with 404 when the document is the account of somebody else.
        package func checkReading(_ id: String) throws {
            guard isUsersDatabase, !id.hasPrefix("_local/") else { return }
            guard try security().isAdmin(user) || isOwn(id) else { throw HTTPFailure.notFound() }
        }

        private func isOwn(_ id: String) -> Bool { user.name.map { id == AccountRules.idPrefix + $0 } ?? false }
    }
#endif
