#if TansuServer
    import Tansu
    import TansuBSON

    // Documents of the database `_users` are accounts: who may write and read them, and how passwords are stored.
    extension ServerRequest {
        /// Whether the database of the request is that of the accounts.
        package var isUsersDatabase: Bool { databaseName == Accounts.collection }

        /// What is stored of a document that a client sends, with the hash of the password instead of the password. Documents
        /// of other databases, and those that are no accounts, stay as they are.
        ///
        /// - Parameter fields: Without those that begin with an underscore.
        /// - Throws: ``HTTPFailure`` with 403 for a document that is no account, 404 for that of somebody else.
        package func storedFields(_ fields: BSONDocument, id: String, isDeleted: Bool = false) async throws
            -> BSONDocument
        {
            guard isUsersDatabase, !id.hasPrefix("_design/"), !id.hasPrefix("_local/") else { return fields }
            let isAdmin = try security().isAdmin(user)
            guard isAdmin || isOwn(id) else { throw HTTPFailure.notFound() }
            if isDeleted { return fields }
            let stored = try await database.collection(databaseName).get(id)
            try Self.check(fields, id: id, stored: stored, isAdmin: isAdmin)
            guard let password = fields["password"], !password.isNull else { return fields }
            guard let password = password.stringValue else { throw HTTPFailure.forbidden("Password must be a string.") }
            let hash = try await server.authenticator.passwords.hash(
                password, iterations: server.options.passwordIterations)
            var fields = fields
            for member in ["password", "password_sha"] { fields.removeValue(forKey: member) }
            for (key, value) in hash.members { fields[key] = value }
            return fields
        }

        /// - Throws: ``HTTPFailure`` with 404 when the document is the account of somebody else.
        package func checkReading(_ id: String) throws {
            guard isUsersDatabase, !id.hasPrefix("_local/") else { return }
            guard try security().isAdmin(user) || isOwn(id) else { throw HTTPFailure.notFound() }
        }

        private func isOwn(_ id: String) -> Bool { user.name.map { id == Accounts.idPrefix + $0 } ?? false }

        /// The rules of CouchDB's design document for accounts, in its words.
        private static func check(_ fields: BSONDocument, id: String, stored: BSONDocument?, isAdmin: Bool) throws {
            func require(_ condition: Bool, _ reason: String) throws {
                guard condition else { throw HTTPFailure.forbidden(reason) }
            }
            try require(fields["type"]?.stringValue == "user", "doc.type must be user")
            let name = fields["name"]?.stringValue ?? ""
            try require(!name.isEmpty, "doc.name is required")
            try require(fields["roles"] != nil, "doc.roles must exist")
            try require(fields["roles"]?.arrayValue != nil, "doc.roles must be an array")
            let values = fields["roles"]?.arrayValue.map { Array($0) } ?? []
            let roles = values.compactMap(\.stringValue)
            try require(roles.count == values.count, "doc.roles can only contain strings")
            try require(id == Accounts.idPrefix + name, "Doc ID must be of the form org.couchdb.user:name")
            if !isAdmin {
                let former = stored?["roles"]?.arrayValue?.compactMap(\.stringValue) ?? []
                try require(roles.bytewiseSet == former.bytewiseSet, "Only _admin may set roles")
            }
            try require(
                !roles.contains { $0.hasPrefix("_") }, "No system roles (starting with underscore) in users db.")
            try require(!name.hasPrefix("_"), "Username may not start with underscore.")
            try require(!name.utf8.contains(UInt8(ascii: ":")), "Character `:` is not allowed in usernames.")
        }
    }
#endif
