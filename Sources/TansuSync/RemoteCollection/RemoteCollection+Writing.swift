#if TansuSync
import Tansu
import TansuBSON

/// A document that was saved.
public struct SavedDocument: Sendable, Hashable {
    /// Its `_id`.
    public let id: BSONValue
    /// Its new revision.
    public let revision: Revision
}

extension RemoteCollection {
    /// Saves a document: inserts it, or replaces the one with the same `_id`.
    ///
    /// With a revision, as `_rev` of a document or of a type with such a property, it replaces that revision only. Without one it
    /// replaces what is there, as often as others change it in between, up to ``RemoteOptions/conflictAttempts`` times. The
    /// attachments stay, unless the document says which ones it has in `_attachments`, or is a `BSONDocument` with a revision.
    ///
    /// - Parameter element: The document. Without an `_id` it gets a new ObjectId.
    /// - Returns: The document's `_id` and its new revision.
    /// - Throws: ``SyncError``, of code `conflict` when the document was changed or removed since its revision;
    ///   `EncodingError`; `CancellationError`.
    @discardableResult
    public func save(_ element: Element) async throws -> SavedDocument {
        let document = try outgoing(element)
        guard let revision = document.revision else { return try await replace(document) }
        guard !document.hasAttachments, Element.self != BSONDocument.self else {
            return try await put(document, instead: revision)
        }
        // The type does not say that it has no attachments.
        var kept = document
        if let current = try await self.document(document.id) {
            guard current["_rev"] == .string(revision) else { throw conflict(document.id) }
            kept.fields["_attachments"] = current["_attachments"]
        }
        return try await put(kept, instead: revision)
    }

    /// Inserts a document whose `_id` must not exist.
    ///
    /// - Parameter element: The document. Without an `_id` it gets a new ObjectId.
    /// - Returns: The document's `_id` and its revision.
    /// - Throws: ``SyncError``, of code `exists` when the `_id` exists; `EncodingError`; `CancellationError`.
    @discardableResult
    public func insert(_ element: Element) async throws -> SavedDocument {
        var document = try outgoing(element)
        document.fields["_rev"] = nil
        do { return try await put(document, instead: nil) } catch let error as SyncError
            where error.code == .conflict
        { throw exists(document.id) }
    }

    /// Changes one document by a closure: reads it, and saves what the closure made of it, once more when others changed it in
    /// between, up to ``RemoteOptions/conflictAttempts`` times.
    ///
    /// Only what the closure changed is written: fields of the document that the type does not decode stay.
    ///
    /// - Parameters:
    ///   - id: Its `_id`, which must stay the same.
    ///   - body: What to change. It may run several times; its error is rethrown, and nothing is saved.
    /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is no such document.
    /// - Throws: ``SyncError``, of code `conflict` when others change it all the time; the closure's error; `TansuError` with
    ///   `.invalidID` when the closure changed the `_id`; `DecodingError`; `EncodingError`; `CancellationError`.
    @_disfavoredOverload
    @discardableResult
    public func update(
        id: some DocumentID, _ body: (inout Element) throws -> Void
    ) async throws -> Element? {
        let id = try onServer(id)
        for _ in 0..<options.conflictAttempts {
            guard let stored = try await document(id) else { return nil }
            var element = try element(stored)
            let before = try local.codec.document(of: element)
            try body(&element)
            let after = try local.codec.document(of: element)
            var changed = stored.applying(changesFrom: before, to: after)
            guard changed["_id"] == stored["_id"] else {
                throw TansuError(
                    .invalidID,
                    "The closure changed the _id; keep it, or save a new document and remove the old one",
                    context: "_id")
            }
            if changed == stored { return element }
            changed["_rev"] = stored["_rev"]
            do {
                let saved = try await put(Outgoing(changed), instead: stored["_rev"]?.stringValue)
                // A type that has its revision is to have the new one.
                guard before["_rev"] != nil else { return element }
                changed["_rev"] = .string(saved.revision.description)
                return try self.element(changed)
            } catch let error as SyncError where error.code == .conflict { continue }
        }
        throw conflict(id)
    }

    // MARK: Requests

    /// A document that is sent.
    struct Outgoing: Sendable {
        let id: String
        /// Its members, `_id` and `_rev` among them.
        var fields: BSONDocument

        init(_ document: BSONDocument) throws {
            fields = document
            id = try RemoteIDs.onServer(document["_id"] ?? .null)
            fields["_id"] = .string(id)
            if let revision = document["_rev"], revision.stringValue == nil {
                guard revision.isNull else {
                    throw SyncError(.refused, "The _rev of the document \"\(id)\" is no text")
                }
                fields["_rev"] = nil
            }
        }

        var revision: String? { fields["_rev"]?.stringValue }
        var hasAttachments: Bool { fields.contains(key: "_attachments") }
    }

    func outgoing(_ element: Element) throws -> Outgoing {
        var document = try local.codec.document(of: element)
        if document["_id"] == nil { document = BSONDocument(joining: ["_id": .objectID(ObjectID())], document) }
        return try Outgoing(document)
    }

    /// Puts a document instead of whatever is there.
    func replace(_ document: Outgoing) async throws -> SavedDocument {
        for attempt in 0...options.conflictAttempts {
            do {
                // Most documents are new.
                guard attempt > 0, let current = try await self.document(document.id) else {
                    return try await put(document, instead: nil)
                }
                var next = document
                if !document.hasAttachments { next.fields["_attachments"] = current["_attachments"] }
                next.fields["_rev"] = current["_rev"]
                return try await put(next, instead: current["_rev"]?.stringValue)
            } catch let error as SyncError where error.code == .conflict { continue }
        }
        throw conflict(document.id)
    }

    private func put(_ document: Outgoing, instead revision: String?) async throws -> SavedDocument {
        let answer = try await connection.json(
            "PUT", RemoteURL.path(ofDocument: document.id), body: document.fields, accepted: [409])
        if answer.status == 409 {
            guard answer.isRepeated, let saved = try await saved(document, instead: revision) else {
                throw conflict(document.id)
            }
            return saved
        }
        return SavedDocument(
            id: id(document.id), revision: try self.revision(answer["rev"]?.stringValue))
    }

    /// The revision of a document that an earlier attempt saved, whose answer was lost.
    func saved(_ document: Outgoing, instead revision: String?) async throws -> SavedDocument? {
        guard let current = try await self.document(document.id),
            let now = current["_rev"]?.stringValue.flatMap({ Revision($0) })
        else { return nil }
        let before = revision.flatMap { Revision($0)?.generation }
        guard before.map({ now.generation == $0 + 1 }) ?? true else { return nil }
        // Numbers may have another width.
        let sent = RemoteConnection.text(of: WireMembers(document.fields).fields)
        guard RemoteConnection.text(of: WireMembers(current).fields) == sent else { return nil }
        return SavedDocument(id: id(document.id), revision: now)
    }

    func id(_ text: String) -> BSONValue { RemoteIDs.here(text, areObjectIDs: hasObjectIDs) }

    func conflict(_ id: String) -> SyncError {
        SyncError(
            .conflict, "The document \"\(id)\" of \(url) was changed in between; read it again")
    }

    func exists(_ id: String) -> SyncError {
        SyncError(.exists, "The document \"\(id)\" of \(url) exists; choose another _id, or save to replace it")
    }
}

// MARK: - Removing

extension RemoteCollection {
    /// Removes a document, whatever its revision is.
    ///
    /// - Parameter id: Its `_id`.
    /// - Returns: Whether it existed.
    /// - Throws: ``SyncError``, of code `conflict` when others change it all the time; `CancellationError`.
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
    /// - Throws: ``SyncError``, of code `conflict` when the document was changed or removed since; `CancellationError`.
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
                throw SyncError(
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

// MARK: - Bulk

extension RemoteCollection {
    /// What became of each of several documents.
    public typealias SaveResults = [Result<SavedDocument, SyncError>]

    /// About how many documents, and how many bytes, are sent at once.
    private static var batchCount: Int { 500 }
    private static var batchBytes: Int { 4 << 20 }

    /// Saves documents: inserts each, or replaces the one with the same `_id`, as for one document.
    ///
    /// They are saved in batches, and each for itself: there is no transaction.
    ///
    /// - Parameter elements: The documents.
    /// - Returns: For each document its `_id` and new revision, or why it was not saved, such as a `conflict`.
    /// - Throws: ``SyncError`` when the server does not answer, or refuses all of it: then some may be saved; `EncodingError`;
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
        var results = SaveResults(repeating: .failure(SyncError(.invalidAnswer, "")), count: batch.count)
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
            } catch let error as SyncError where error.isOfDocument { results[index] = .failure(error) }
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
            do { results[index] = .success(try await replace(batch[index])) } catch let error as SyncError
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
                    SyncError(
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
                    SyncError(
                        word == "forbidden" ? .forbidden : word == "unauthorized" ? .unauthorized : .refused,
                        "\(url) does not save the document \"\(document.id)\": \(word): \(reason)"))
            }
        }
    }
}
#endif
