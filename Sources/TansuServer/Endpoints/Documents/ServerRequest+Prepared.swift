#if TansuServer
    import TansuBSON
    import TansuSync

    extension ServerRequest {
        /// A document as it is saved: of a user the password becomes what is derived from it.
        ///
        /// - Throws: ``HTTPFailure`` when it is a design document that CouchDB refuses.
        func prepared(_ document: WireDocument, _ id: String) async throws(HTTPFailure) -> WireDocument {
            guard !document.isDeleted else { return document }
            if id.hasPrefix(DocumentName.designPrefix) { try DesignDocument.validate(document.fields) }
            guard databaseName == Accounts.collection, case .string(let password)? = document.fields["password"] else {
                return document
            }
            var document = document
            do {
                let hash = try await server.authenticator.passwords.hash(
                    password, iterations: server.options.passwordIterations)
                document.fields["password"] = nil
                for (name, value) in hash.members { document.fields[name] = value }
            } catch {
                throw HTTPFailure(.internalServerError, "internal_server_error", "The password could not be stored")
            }
            return document
        }
    }
#endif
