#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// The answer to a request for several revisions of a document.
struct OpenRevisions: Sendable {
    /// A revision to show, or one that is not there.
    enum Item: Sendable {
        case revision(Revision)
        case missing(String)
    }

    private let request: ServerRequest
    private let id: String
    private let wanted: DocumentQuery.OpenRevisions
    private let query: DocumentQuery

    init(
        _ request: ServerRequest, _ id: String, _ wanted: DocumentQuery.OpenRevisions, _ query: DocumentQuery
    ) {
        self.request = request
        self.id = id
        self.wanted = wanted
        self.query = query
    }

    func answer() async throws -> Response {
        let collection = try request.collection()
        let items = try await collection.read { [id, wanted, query] store in
            Self.items(wanted, of: try store.document(id), latest: query.takesLatest)
        }
        if case .leaves = wanted, items.isEmpty { throw HTTPFailure.notFound() }
        return request.accepts("multipart/mixed") ? mixed(items, collection) : json(items, collection)
    }

    /// The revisions in CouchDB's order, which is that of the tree.
    static func items(
        _ wanted: DocumentQuery.OpenRevisions, of record: DocumentRecord?, latest: Bool
    ) -> [Item] {
        switch wanted {
        case .leaves:
            return (record?.tree.leaves ?? []).map(\.revision).sorted().map { .revision($0) }
        case .named(let revisions):
            var found: Set<Revision> = []
            var missing: [Item] = []
            for each in revisions {
                guard let revision = each.revision, let tree = record?.tree, tree.contains(revision) else {
                    missing.append(.missing(each.text))
                    continue
                }
                if latest {
                    found.formUnion(tree.latest(of: revision).map(\.revision))
                } else if tree.status(of: revision)?.isStored == true {
                    found.insert(revision)
                } else {
                    missing.append(.missing(each.text))
                }
            }
            return found.sorted().map { .revision($0) } + missing
        }
    }

    private func json(_ items: [Item], _ collection: ReplicatedCollection) -> Response {
        .streamed { [id, query] stream in
            try await stream.write("[")
            for (index, item) in items.enumerated() {
                if index > 0 { try await stream.write(",") }
                if let answer = try await Self.read(item, of: id, query.parts, .json, collection) {
                    try await stream.write("{\"ok\":")
                    try await AnswerText(answer).write(to: &stream, of: collection)
                    try await stream.write("}")
                } else {
                    try await stream.write(item.missingJSON)
                }
            }
            try await stream.write("]\n")
        }
    }

    /// Attachments are sent even where the request does not ask for them.
    private func mixed(_ items: [Item], _ collection: ReplicatedCollection) -> Response {
        let outer = MultipartWriter()
        var parts = query.parts
        parts.includesAttachments = true
        let headers: HTTPFields = [.contentType: outer.contentType("mixed")]
        return .streamed(headers: headers) { [id, parts, outer] stream in
            var outer = outer
            for item in items {
                guard let answer = try await Self.read(item, of: id, parts, .multipart, collection) else {
                    try await stream.write(
                        outer.begin([("Content-Type", "application/json; error=\"true\"")]))
                    try await stream.write(item.missingJSON)
                    continue
                }
                let related = RelatedAnswer(answer, collection)
                if related.isPlain {
                    try await stream.write(outer.beginJSON())
                    try await related.writePlain(to: &stream)
                } else {
                    let inner = MultipartWriter()
                    try await stream.write(outer.begin([("Content-Type", inner.contentType("related"))]))
                    try await related.write(to: &stream, inner)
                }
            }
            try await stream.write(outer.end())
        }
    }

    /// A revision; nil when it is not stored (any more).
    static func read(
        _ item: Item, of id: String, _ parts: RevisionParts, _ form: RevisionAnswer.Form,
        _ collection: ReplicatedCollection
    ) async throws -> RevisionAnswer? {
        guard case .revision(let revision) = item else { return nil }
        return try await collection.read { store in
            // Replicas read by this.
            try store.transaction.checkDocuments()
            guard let record = try store.document(id) else { return nil }
            return try RevisionAnswer(record, revision, parts, form, in: store, isWinner: false)
        }
    }
}

extension OpenRevisions.Item {
    /// The name of the revision.
    var name: String {
        switch self {
        case .revision(let revision): revision.description
        case .missing(let text): text
        }
    }

    fileprivate var missingJSON: String {
        BSONDocument([("missing", .string(name))]).extendedJSON(.relaxed)
    }
}
#endif
