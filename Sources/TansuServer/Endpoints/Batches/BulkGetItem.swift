#if TansuServer
    import TansuBSON
    import TansuSync

    /// A document that a `_bulk_get` request asks for.
    struct BulkGetItem: Sendable {
        /// Why there is no document, as CouchDB says it.
        struct Failure: Error, Sendable {
            var id: BSONValue
            var revision: BSONValue
            var error: String
            var reason: String

            /// The members of `error`.
            var json: String {
                let body: BSONDocument = [
                    "id": id, "rev": revision, "error": .string(error), "reason": .string(reason),
                ]
                return body.extendedJSON(.relaxed)
            }
        }

        /// What is asked for, or what is wrong with the question.
        private let wanted: Swift.Result<Wanted, Failure>

        private struct Wanted: Sendable {
            var id: String
            var revision: WireRevision?
            var attachmentsSince: [WireRevision]?
        }

        init(_ value: BSONValue) {
            do throws(Failure) {
                wanted = .success(try Self.wanted(value))
            } catch {
                wanted = .failure(error)
            }
        }

        /// The id as it was sent.
        var id: BSONValue {
            switch wanted {
            case .success(let wanted): .string(wanted.id)
            case .failure(let failure): failure.id
            }
        }

        private static func wanted(_ value: BSONValue) throws(Failure) -> Wanted {
            guard case .document(let item) = value, !item.isEmpty else {
                throw Failure(
                    id: .null, revision: .null, error: "bad_request", reason: "document must be a JSON object")
            }
            guard let id = item["id"] else {
                throw Failure(id: .null, revision: .null, error: "bad_request", reason: "document id missed")
            }
            guard case .string(let text) = id else {
                throw Failure(
                    id: id, revision: .null, error: "illegal_docid", reason: "Document id must be a string")
            }
            do throws(WireError) {
                try DocumentName.validate(id: text)
            } catch {
                throw Failure(id: id, revision: .null, error: error.code.rawValue, reason: error.reason)
            }
            var wanted = Wanted(id: text)
            if let revision = item["rev"] { wanted.revision = try Self.revision(revision, id) }
            switch item["atts_since"] {
            case nil: break
            case .array(let array):
                var revisions: [WireRevision] = []
                for element in array { revisions.append(try Self.revision(element, id)) }
                wanted.attachmentsSince = revisions
            case let other?:
                throw Failure(
                    id: id, revision: other, error: "bad_request", reason: "att_since value must be array of revs.")
            }
            return wanted
        }

        private static func revision(_ value: BSONValue, _ id: BSONValue) throws(Failure) -> WireRevision {
            if case .string(let text) = value, let revision = try? WireRevision(text) { return revision }
            throw Failure(id: id, revision: value, error: "bad_request", reason: "Invalid rev format")
        }

        /// What is answered for it: revisions in the order of CouchDB, or the one that is missing.
        func revisions(_ query: DocumentQuery, _ collection: ReplicatedCollection) async throws -> [OpenRevisions.Item]
        {
            guard case .success(let wanted) = wanted else { return [.missing("")] }
            let choice: DocumentQuery.OpenRevisions = wanted.revision.map { .named([$0]) } ?? .leaves
            let items = try await collection.read { store in
                OpenRevisions.items(choice, of: try store.document(wanted.id), latest: query.takesLatest)
            }
            return items.isEmpty ? [.missing("undefined")] : items
        }

        /// One of ``revisions(_:_:)``.
        func result(
            _ revision: OpenRevisions.Item, _ query: DocumentQuery, _ form: RevisionAnswer.Form,
            _ collection: ReplicatedCollection
        ) async throws -> Swift.Result<RevisionAnswer, Failure> {
            switch wanted {
            case .failure(let failure): return .failure(failure)
            case .success(let wanted):
                var parts = query.parts
                parts.attachmentsSince = wanted.attachmentsSince
                guard let answer = try await OpenRevisions.read(revision, of: wanted.id, parts, form, collection) else {
                    return .failure(
                        Failure(
                            id: .string(wanted.id), revision: .string(revision.name), error: "not_found",
                            reason: "missing"))
                }
                return .success(answer)
            }
        }
    }
#endif
