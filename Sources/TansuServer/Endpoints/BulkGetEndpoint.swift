#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `/{db}/_bulk_get`
enum BulkGetEndpoint {
    static let route = Route("/:db/_bulk_get", allow: "POST", [.post: .init(post)])

    private static let refusedParameters = ["open_revs", "new_edits", "w", "rev", "atts_since"]

    private static func post(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let body = try await request.jsonObject()
        for (name, _) in request.query.items where refusedParameters.contains(name) {
            throw HTTPFailure.badRequest("\"\(name)\" query parameter is not acceptable")
        }
        guard let list = body["docs"] else { throw HTTPFailure.badRequest("Missing JSON list of 'docs'.") }
        guard case .array(let array) = list else { throw HTTPFailure.badRequest("`docs` must be an array.") }
        let query = try DocumentQuery(request.query)
        let items = array.map { BulkGetItem($0) }
        let collection = try request.collection()
        let isMixed = request.accepts("multipart/mixed")
        guard !request.accepts("application/json"), isMixed || request.accepts("multipart/related") else {
            return json(items, query, collection)
        }
        return parts(items, query, isMixed ? "mixed" : "related", collection)
    }

    private static func json(
        _ items: [BulkGetItem], _ query: DocumentQuery, _ collection: ReplicatedCollection
    ) -> Response {
        .streamed { stream in
            try await stream.write("{\"results\":[")
            var pages = BulkGetPages(items, query, .json, collection)
            var isFirst = true
            while let page = try await pages.next() {
                for (item, results) in page {
                    var writer = WireJSONWriter()
                    if !isFirst { writer.raw(",") }
                    isFirst = false
                    writer.raw("{\"id\":")
                    writer.value(item.id)
                    writer.raw(",\"docs\":[")
                    try await stream.write(writer.finish())
                    for (index, result) in results.enumerated() {
                        if index > 0 { try await stream.write(",") }
                        switch result {
                        case .success(let answer):
                            try await stream.write("{\"ok\":")
                            try await AnswerText(answer).write(to: &stream, of: collection)
                            try await stream.write("}")
                        case .failure(let failure):
                            try await stream.write("{\"error\":\(failure.json)}")
                        }
                    }
                    try await stream.write("]}")
                }
            }
            try await stream.write("]}\n")
        }
    }

    private static func parts(
        _ items: [BulkGetItem], _ query: DocumentQuery, _ subtype: String, _ collection: ReplicatedCollection
    ) -> Response {
        let outer = MultipartWriter(boundary: "--\(NewDocumentID.make())")
        var query = query
        query.parts.includesAttachments = true
        let wanted = query
        return .streamed(headers: [.contentType: outer.contentType(subtype)]) { stream in
            var outer = outer
            var pages = BulkGetPages(items, wanted, .multipart, collection)
            while let page = try await pages.next() {
                for result in page.flatMap(\.results) {
                    switch result {
                    case .success(let answer):
                        try await write(answer, to: &stream, &outer, collection)
                    case .failure(let failure):
                        try await stream.write(
                            outer.begin([("Content-Type", "application/json; error=\"true\"")]))
                        try await stream.write(failure.json)
                    }
                }
            }
            guard !items.isEmpty else { return }
            try await stream.write(outer.end())
            try await stream.write("\r\n")
        }
    }

    private static func write(
        _ answer: RevisionAnswer, to stream: inout AnswerStream, _ outer: inout MultipartWriter,
        _ collection: ReplicatedCollection
    ) async throws {
        let related = RelatedAnswer(answer, collection)
        guard !related.isPlain else {
            try await stream.write(outer.beginJSON())
            return try await related.writePlain(to: &stream)
        }
        let inner = MultipartWriter(boundary: "--\(NewDocumentID.make())")
        let head = [
            ("X-Doc-Id", answer.text.id), ("X-Rev-Id", answer.text.revision),
            ("Content-Type", "multipart/related; boundary=\(inner.boundary)"),
        ]
        try await stream.write(outer.begin(head))
        try await related.write(to: &stream, inner)
    }
}

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

/// Reads what a `_bulk_get` request asks for, many documents in one transaction, so that the answer is made while little of it
/// is in memory.
struct BulkGetPages {
    /// The greatest number of documents of a page.
    private static let limit = 64
    /// The number of bytes of documents from which on a page is full.
    private static let byteLimit = 256 << 10

    typealias Page = [(item: BulkGetItem, results: [Swift.Result<RevisionAnswer, BulkGetItem.Failure>])]

    private let items: [BulkGetItem]
    private let query: DocumentQuery
    private let form: RevisionAnswer.Form
    private let collection: ReplicatedCollection
    private var position = 0

    init(
        _ items: [BulkGetItem], _ query: DocumentQuery, _ form: RevisionAnswer.Form,
        _ collection: ReplicatedCollection
    ) {
        self.items = items
        self.query = query
        self.form = form
        self.collection = collection
    }

    /// The next documents with what is answered for each; nil when there are no more.
    mutating func next() async throws -> Page? {
        guard position < items.count else { return nil }
        let wanted = items[position..<min(position + Self.limit, items.count)]
        let page = try await collection.read { [query, form] store in
            let records = try store.documents(wanted.compactMap(\.wantedID))
            var page: Page = []
            var size = 0
            for item in wanted {
                guard size < Self.byteLimit else { break }
                let record = item.wantedID.flatMap { records[BytewiseText($0)] }
                let results = try item.results(of: record, query, form, in: store)
                for case .success(let answer) in results { size += answer.text.fields.bytes.count }
                page.append((item, results))
            }
            return page
        }
        position += page.count
        return page
    }
}
#endif
