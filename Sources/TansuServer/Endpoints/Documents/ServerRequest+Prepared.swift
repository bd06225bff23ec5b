#if TansuServer
    import TansuBSON
    import TansuSync

    extension ServerRequest {
        /// A document as it is saved: of a user the password becomes what is derived from it.
        ///
        /// - Throws: ``HTTPFailure`` when it is a design document or an account that CouchDB refuses.
        func prepared(_ document: WireDocument, _ id: String) async throws(HTTPFailure) -> WireDocument {
            try check(document, id)
            guard isUsersDatabase else { return document }
            var document = document
            do {
                document.fields = try await storedFields(document.fields, id: id, isDeleted: document.isDeleted)
            } catch let failure as HTTPFailure {
                throw failure
            } catch {
                throw HTTPFailure(rendering: error, logger: logger)
            }
            return document
        }

        /// - Throws: ``HTTPFailure`` when the document is too large, or a design document that CouchDB refuses.
        func check(_ document: WireDocument, _ id: String) throws(HTTPFailure) {
            // The stored form of many small numbers is larger than their text, and only the text of the whole request is known.
            let size = min(document.fields.bytes.count, contentLength ?? .max)
            guard size <= limits.documentBytes else { throw HTTPFailure.tooLarge("document_too_large", id) }
            if id.hasPrefix(DocumentName.designPrefix), !document.isDeleted {
                try DesignDocument.validate(document.fields)
            }
        }
    }
#endif
