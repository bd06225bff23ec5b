#if TansuSync
    import TansuBSON

    /// The body of a `_bulk_docs` request.
    package struct WireBatch: Sendable {
        /// The documents in the order in which they were sent.
        package let documents: [WireDocument]
        /// `new_edits`, if the client said it.
        package let newEdits: Bool?

        /// Reads the JSON text. The first document that CouchDB refuses fails the whole request.
        ///
        /// - Throws: ``WireError`` with CouchDB's words.
        package init(json utf8: some Collection<UInt8>) throws(WireError) {
            // The request is an object, which holds an array of documents.
            guard case .document(let request) = try WireDocument.value(json: utf8, documentDepth: 3) else {
                throw WireError(.badRequest, "Request body must be a JSON object")
            }
            guard let list = request["docs"] else {
                throw WireError(.badRequest, "POST body must include `docs` parameter.")
            }
            guard case .array(let array) = list else {
                throw WireError(.badRequest, "`docs` parameter must be an array.")
            }
            switch request["new_edits"] {
            case .bool(let flag): newEdits = flag
            case nil: newEdits = nil
            default: throw WireError(.badRequest, "`new_edits` parameter must be true or false.")
            }
            guard request["all_or_nothing"] != true else {
                throw WireError(.notImplemented, "all_or_nothing is not supported")
            }
            var documents: [WireDocument] = []
            for members in WireMembers.all(in: array) {
                guard let members else { throw WireDocument.notAnObject }
                documents.append(try WireDocument(members))
            }
            self.documents = documents
        }
    }
#endif
