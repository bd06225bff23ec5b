#if TansuSync
    import Tansu
    import TansuBSON

    extension RemoteCollection {
        /// The greatest number of ids in one request.
        private static var idsAtOnce: Int { 200 }

        /// The document with an id, or `nil` when there is none.
        ///
        /// - Parameter id: Its `_id`.
        /// - Throws: ``RemoteError``; `DecodingError`; `CancellationError`.
        @_disfavoredOverload
        public func get(_ id: some DocumentID) async throws -> Element? {
            guard let document = try await document(onServer(id)) else { return nil }
            return try element(document)
        }

        /// The documents with some ids.
        ///
        /// - Parameter ids: Their `_id`s.
        /// - Returns: The documents in the order of the ids. Ids without a document are left out.
        /// - Throws: ``RemoteError``; `DecodingError`; `CancellationError`.
        @_disfavoredOverload
        public func get(ids: some Sequence<some DocumentID>) async throws -> [Element] {
            try await elements(ids.map { try onServer($0) })
        }

        /// The revision of a document; nil when there is no such document.
        ///
        /// - Parameter id: Its `_id`.
        /// - Throws: ``RemoteError``; `CancellationError`.
        @_disfavoredOverload
        public func revision(of id: some DocumentID) async throws -> Revision? {
            guard let text = try await revisionText(onServer(id)) else { return nil }
            return try revision(text)
        }

        func elements(_ ids: [String]) async throws -> [Element] {
            var elements: [Element] = []
            for start in stride(from: 0, to: ids.count, by: Self.idsAtOnce) {
                let part = Array(ids[start..<min(start + Self.idsAtOnce, ids.count)])
                for row in try await rows(part, includesDocuments: true) {
                    if let document = row["doc"]?.documentValue { try elements.append(element(received(document))) }
                }
            }
            return elements
        }

        // MARK: Requests

        /// A document as this side has it, with its revision; nil when there is none.
        func document(_ id: String) async throws -> BSONDocument? {
            let answer = try await connection.json("GET", RemoteURL.path(ofDocument: id), accepted: [404])
            guard answer.status != 404 else { return nil }
            guard let document = answer.value.documentValue, document["_id"] == .string(id),
                document["_rev"]?.stringValue != nil
            else { throw invalidAnswer("It answers GET of \"\(id)\" with what is not this document") }
            return try received(document)
        }

        /// The revision of a document that is there.
        func revisionText(_ id: String) async throws -> String? {
            let value = try await rows([id], includesDocuments: false).first?["value"]
            return value?["deleted"] == true ? nil : value?["rev"]?.stringValue
        }

        /// The rows of `_all_docs` for some ids, in their order.
        private func rows(_ ids: [String], includesDocuments: Bool) async throws -> [BSONValue] {
            let text = RemoteConnection.text(of: ["keys": .array(BSONArray(ids.map { .string($0) }))])
            let rows = try await connection.calling { database in
                try await database.perform(
                    "POST", "_all_docs", query: includesDocuments ? [("include_docs", "true")] : [], body: .json(text)
                ) { answer in
                    var rows: [BSONValue] = []
                    _ = try await HTTPPeer.elements("rows", of: answer) { element in
                        guard rows.count < ids.count else {
                            throw RemoteFailure.invalidAnswer("_all_docs answers more rows than it was asked for")
                        }
                        // A document is a member of its row.
                        guard let row = try? BSONValue(wireJSON: element, documentDepth: 2) else {
                            throw RemoteFailure.invalidAnswer("A row of _all_docs cannot be read")
                        }
                        rows.append(row)
                    }
                    return rows
                }
            }
            for (id, row) in zip(ids, rows) where row["key"] != .string(id) {
                throw invalidAnswer("_all_docs answers another row than that of \"\(id)\"")
            }
            guard rows.count == ids.count else { throw invalidAnswer("_all_docs answers fewer rows than ids") }
            return rows
        }

        func invalidAnswer(_ reason: String) -> RemoteError {
            var failure = RemoteFailure.invalidAnswer(reason)
            failure.location = url
            return RemoteError(failure)
        }

        func revision(_ text: String?) throws -> Revision {
            guard let revision = text.flatMap({ Revision($0) }) else {
                throw invalidAnswer("It answers \"\(text ?? "")\" as the revision of a document")
            }
            return revision
        }
    }

    extension RemoteCollection where Element: Identifiable, Element.ID: Encodable & Sendable {
        /// The value with an id, or `nil` when there is none.
        ///
        /// - Parameter id: Its id, which is stored as `_id`.
        /// - Throws: ``RemoteError``; `DecodingError`; `CancellationError`.
        public func get(_ id: Element.ID) async throws -> Element? {
            try await get(local.storedID(id))
        }

        /// The values with some ids.
        ///
        /// - Parameter ids: Their ids, which are stored as `_id`.
        /// - Returns: The values in the order of the ids. Ids without a document are left out.
        /// - Throws: ``RemoteError``; `DecodingError`; `CancellationError`.
        public func get(ids: some Sequence<Element.ID>) async throws -> [Element] {
            try await elements(ids.map { try RemoteIDs.onServer(local.storedID($0)) })
        }

        /// The revision of a value; nil when there is none.
        ///
        /// - Parameter id: Its id, which is stored as `_id`.
        /// - Throws: ``RemoteError``; `CancellationError`.
        public func revision(of id: Element.ID) async throws -> Revision? {
            try await revision(of: local.storedID(id))
        }

        /// Changes one value by a closure, as ``update(id:_:)-(DocumentID,_)`` does.
        ///
        /// - Parameters:
        ///   - id: Its id, which is stored as `_id` and must stay the same.
        ///   - body: What to change. It may run several times.
        /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is none.
        /// - Throws: As that one.
        @discardableResult
        public func update(id: Element.ID, _ body: (inout Element) throws -> Void) async throws -> Element? {
            try await update(id: local.storedID(id), body)
        }

        /// Removes a value.
        ///
        /// - Parameter id: Its id, which is stored as `_id`.
        /// - Returns: Whether it existed.
        /// - Throws: ``RemoteError``; `CancellationError`.
        @discardableResult
        public func remove(id: Element.ID) async throws -> Bool {
            try await remove(id: local.storedID(id))
        }

        /// Removes a revision of a value, if it is the newest one.
        ///
        /// - Parameters:
        ///   - id: Its id, which is stored as `_id`.
        ///   - revision: The revision that the caller has.
        /// - Throws: ``RemoteError``, of code `conflict` when the document was changed or removed since; `CancellationError`.
        public func remove(id: Element.ID, revision: Revision) async throws {
            try await remove(id: local.storedID(id), revision: revision)
        }
    }
#endif
