#if TansuSync
    import Tansu
    import TansuBSON

    extension RemoteCollection {
        /// Removes a document, whatever its revision is.
        ///
        /// - Parameter id: Its `_id`.
        /// - Returns: Whether it existed.
        /// - Throws: ``RemoteError``, of code `conflict` when others change it all the time; `CancellationError`.
        @_disfavoredOverload
        @discardableResult
        public func remove(id: some DocumentID) async throws -> Bool {
            let id = try onServer(id)
            for _ in 0..<options.conflictAttempts {
                guard let revision = try await revisionText(id) else { return false }
                if try await delete(id, revision) { return true }
            }
            throw conflict(id)
        }

        /// Removes a revision of a document, if it is the newest one.
        ///
        /// - Parameters:
        ///   - id: Its `_id`.
        ///   - revision: The revision that the caller has.
        /// - Throws: ``RemoteError``, of code `conflict` when the document was changed or removed since; `CancellationError`.
        @_disfavoredOverload
        public func remove(id: some DocumentID, revision: Revision) async throws {
            let id = try onServer(id)
            guard try await delete(id, revision.description) else { throw conflict(id) }
        }

        /// Removes the documents that match, in batches. The empty query matches all but design documents.
        ///
        /// A document that others change in between is removed if it still matches. There is no transaction.
        ///
        /// - Parameters:
        ///   - query: Which documents.
        ///   - hints: Options, such as `$max`.
        /// - Returns: How many were removed.
        /// - Throws: As ``RemoteQuery/all()``; some may be removed then.
        @discardableResult
        public func remove(_ query: BSONDocument, hints: BSONDocument = [:]) async throws -> Int {
            try await remove(find(query, hints: hints))
        }

        /// Removes the documents of a query, in batches, as ``remove(_:hints:)`` does.
        ///
        /// - Parameter query: Which documents of this collection.
        /// - Returns: How many were removed.
        /// - Throws: As ``RemoteQuery/all()``; some may be removed then.
        @discardableResult
        public func remove(_ query: RemoteQuery<Element>) async throws -> Int {
            var results = try RemoteResults(query, onlyIDs: true)
            var removed = 0
            while let page = try await results.next() {
                let found = try page.map { document in
                    guard let id = document["_id"], let revision = document["_rev"]?.stringValue else {
                        throw invalidAnswer("_find answers a document without the _rev that was asked for")
                    }
                    return (id: try RemoteIDs.onServer(id), revision: revision)
                }
                let count = try await delete(found, results.request)
                removed += count
                results.removed(count)
            }
            return removed
        }

        // MARK: Requests

        /// Deletes a revision; false when it is not the newest one.
        private func delete(_ id: String, _ revision: String) async throws -> Bool {
            let answer = try await connection.json(
                "DELETE", RemoteURL.path(ofDocument: id), query: [("rev", revision)], accepted: [404, 409])
            guard [404, 409].contains(answer.status) else { return true }
            // The answer of the attempt that deleted it may be lost.
            return answer.isRepeated ? try await revisionText(id) == nil : false
        }

        /// Deletes documents that match a query.
        private func delete(
            _ found: [(id: String, revision: String)], _ request: RemoteRequest
        ) async throws -> Int {
            guard !found.isEmpty else { return 0 }
            let list = found.map { entry in
                BSONValue.document(["_id": .string(entry.id), "_rev": .string(entry.revision), "_deleted": true])
            }
            let answer = try await connection.json("POST", "_bulk_docs", body: ["docs": .array(BSONArray(list))])
            guard case .array(let rows) = answer.value, rows.count == found.count else {
                throw invalidAnswer("_bulk_docs answers no list of results")
            }
            var count = 0
            for (entry, row) in zip(found, rows) {
                guard let word = row["error"]?.stringValue else {
                    count += 1
                    continue
                }
                guard word == "conflict" else {
                    throw RemoteError(
                        word == "forbidden" ? .forbidden : .refused,
                        "\(url) does not remove the document \"\(entry.id)\": \(word): "
                            + (row["reason"]?.stringValue ?? "no reason is given"))
                }
                if try await removeIfMatching(entry.id, request, isRepeated: answer.isRepeated) { count += 1 }
            }
            return count
        }

        /// Removes a document that was changed since it was found.
        private func removeIfMatching(
            _ id: String, _ request: RemoteRequest, isRepeated: Bool
        ) async throws -> Bool {
            for _ in 0..<options.conflictAttempts {
                guard let document = try await document(id) else { return isRepeated }
                // A selector that is sent as it is cannot be tested here: the document stays.
                guard request.matcher != nil || request.isUnconditional, try request.matches(document),
                    let revision = document["_rev"]?.stringValue
                else { return false }
                if try await delete(id, revision) { return true }
            }
            throw conflict(id)
        }
    }
#endif
