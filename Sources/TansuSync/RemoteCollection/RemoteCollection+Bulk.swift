#if TansuSync
    import Tansu
    import TansuBSON

    extension RemoteCollection {
        /// What became of each of several documents.
        public typealias SaveResults = [Result<SavedDocument, RemoteError>]

        /// About how many documents, and how many bytes, are sent at once.
        private static var batchCount: Int { 500 }
        private static var batchBytes: Int { 4 << 20 }

        /// Saves documents: inserts each, or replaces the one with the same `_id`, as for one document.
        ///
        /// They are saved in batches, and each for itself: there is no transaction.
        ///
        /// - Parameter elements: The documents.
        /// - Returns: For each document its `_id` and new revision, or why it was not saved, such as a `conflict`.
        /// - Throws: ``RemoteError`` when the server does not answer, or refuses all of it: then some may be saved; `EncodingError`;
        ///   `CancellationError`.
        public func save(_ elements: [Element]) async throws -> SaveResults {
            try await write(elements, isInsert: false)
        }

        /// Inserts documents whose `_id`s must not exist. There is no transaction.
        ///
        /// - Parameter elements: The documents.
        /// - Returns: For each document its `_id` and revision, or why it was not inserted, such as `exists`.
        /// - Throws: As ``save(_:)-([Element])``.
        public func insert(_ elements: [Element]) async throws -> SaveResults {
            try await write(elements, isInsert: true)
        }

        private func write(_ elements: [Element], isInsert: Bool) async throws -> SaveResults {
            var results: SaveResults = []
            var batch: [Outgoing] = []
            var bytes = 0
            // A later document with the same id replaces an earlier one.
            var ids: Set<BytewiseText> = []
            for element in elements {
                var document = try outgoing(element)
                if isInsert { document.fields["_rev"] = nil }
                if batch.count >= Self.batchCount || bytes >= Self.batchBytes
                    || !ids.insert(BytewiseText(document.id)).inserted
                {
                    results += try await send(batch, isInsert: isInsert)
                    (batch, bytes, ids) = ([], 0, [BytewiseText(document.id)])
                }
                bytes += document.fields.bytes.count
                batch.append(document)
            }
            return results + (try await send(batch, isInsert: isInsert))
        }

        /// Sends documents with different ids.
        private func send(_ batch: [Outgoing], isInsert: Bool) async throws -> SaveResults {
            var results = SaveResults(repeating: .failure(RemoteError(.invalidAnswer, "")), count: batch.count)
            // The revision of a document of a type with attachments: one by one.
            let isTyped = Element.self != BSONDocument.self
            let alone = batch.indices.filter { isTyped && batch[$0].revision != nil && !batch[$0].hasAttachments }
            var together = batch.indices.filter { !alone.contains($0) }
            var documents = batch
            for index in alone {
                do {
                    if let current = try await document(batch[index].id) {
                        documents[index].fields["_attachments"] = current["_attachments"]
                    }
                    together.append(index)
                } catch let error as RemoteError where error.isOfDocument { results[index] = .failure(error) }
            }
            try await post(documents, together, &results)
            if isInsert {
                for index in batch.indices {
                    if case .failure(let error) = results[index], error.code == .conflict {
                        results[index] = .failure(exists(batch[index].id))
                    }
                }
                return results
            }
            // What is there is replaced, as often as it takes.
            for index in batch.indices where batch[index].revision == nil {
                guard case .failure(let error) = results[index], error.code == .conflict else { continue }
                do { results[index] = .success(try await replace(batch[index])) } catch let error as RemoteError
                    where error.isOfDocument
                { results[index] = .failure(error) }
            }
            return results
        }

        /// Posts documents with `_bulk_docs`. When they are too large together, halves are posted.
        private func post(_ documents: [Outgoing], _ indices: [Int], _ results: inout SaveResults) async throws {
            guard !indices.isEmpty else { return }
            let list = BSONArray(indices.map { .document(documents[$0].fields) })
            let answer = try await connection.json("POST", "_bulk_docs", body: ["docs": .array(list)], accepted: [413])
            guard answer.status != 413 else {
                guard indices.count > 1 else {
                    results[indices[0]] = .failure(
                        RemoteError(
                            .tooLarge, "The document \"\(documents[indices[0]].id)\" is larger than \(url) takes"))
                    return
                }
                try await post(documents, Array(indices[..<(indices.count / 2)]), &results)
                try await post(documents, Array(indices[(indices.count / 2)...]), &results)
                return
            }
            guard case .array(let rows) = answer.value, rows.count == indices.count else {
                throw invalidAnswer("_bulk_docs answers no list of results")
            }
            for (index, row) in zip(indices, rows) {
                let document = documents[index]
                guard row["id"] == .string(document.id) else {
                    throw invalidAnswer("_bulk_docs answers another document than \"\(document.id)\"")
                }
                guard let word = row["error"]?.stringValue else {
                    results[index] = .success(
                        SavedDocument(id: id(document.id), revision: try revision(row["rev"]?.stringValue)))
                    continue
                }
                if word == "conflict" {
                    if answer.isRepeated, let saved = try await saved(document, instead: document.revision) {
                        results[index] = .success(saved)
                    } else {
                        results[index] = .failure(conflict(document.id))
                    }
                } else {
                    let reason = row["reason"]?.stringValue ?? "no reason is given"
                    results[index] = .failure(
                        RemoteError(
                            word == "forbidden" ? .forbidden : word == "unauthorized" ? .unauthorized : .refused,
                            "\(url) does not save the document \"\(document.id)\": \(word): \(reason)"))
                }
            }
        }
    }

    extension RemoteError {
        /// Whether it is about one document, so that others may be saved.
        var isOfDocument: Bool { [.conflict, .refused, .forbidden, .tooLarge].contains(code) }
    }
#endif
