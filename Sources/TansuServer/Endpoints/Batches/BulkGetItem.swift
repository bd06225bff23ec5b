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

        /// The id of the document; nil when the question is wrong.
        var wantedID: String? { try? wanted.get().id }

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

        /// What is answered for it: the revisions in the order of CouchDB, and what is missing or wrong.
        ///
        /// - Parameter record: The document that ``wantedID`` names; nil when there never was one.
        func results(
            of record: DocumentRecord?, _ query: DocumentQuery, _ form: RevisionAnswer.Form, in store: RevisionStore
        ) throws -> [Swift.Result<RevisionAnswer, Failure>] {
            let wanted: Wanted
            switch self.wanted {
            case .success(let success): wanted = success
            case .failure(let failure): return [.failure(failure)]
            }
            let choice: DocumentQuery.OpenRevisions = wanted.revision.map { .named([$0]) } ?? .leaves
            let items = OpenRevisions.items(choice, of: record, latest: query.takesLatest)
            var parts = query.parts
            parts.attachmentsSince = wanted.attachmentsSince
            return try (items.isEmpty ? [.missing("undefined")] : items).map { item in
                if case .revision(let revision) = item, let record,
                    let answer = try RevisionAnswer(record, revision, parts, form, in: store, isWinner: false)
                {
                    return .success(answer)
                }
                return .failure(
                    Failure(
                        id: .string(wanted.id), revision: .string(item.name), error: "not_found", reason: "missing"))
            }
        }
    }
#endif
