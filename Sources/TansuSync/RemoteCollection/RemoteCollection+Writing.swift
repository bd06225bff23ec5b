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
        /// - Throws: ``RemoteError``, of code `conflict` when the document was changed or removed since its revision;
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
        /// - Throws: ``RemoteError``, of code `exists` when the `_id` exists; `EncodingError`; `CancellationError`.
        @discardableResult
        public func insert(_ element: Element) async throws -> SavedDocument {
            var document = try outgoing(element)
            document.fields["_rev"] = nil
            do { return try await put(document, instead: nil) } catch let error as RemoteError
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
        /// - Throws: ``RemoteError``, of code `conflict` when others change it all the time; the closure's error; `TansuError` with
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
                } catch let error as RemoteError where error.code == .conflict { continue }
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
                        throw RemoteError(.refused, "The _rev of the document \"\(id)\" is no text")
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
                } catch let error as RemoteError where error.code == .conflict { continue }
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

        func conflict(_ id: String) -> RemoteError {
            RemoteError(
                .conflict, "The document \"\(id)\" of \(url) was changed in between; read it again")
        }

        func exists(_ id: String) -> RemoteError {
            RemoteError(.exists, "The document \"\(id)\" of \(url) exists; choose another _id, or save to replace it")
        }
    }
#endif
