#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `/{db}/{id}` and `/{db}/{id}/{attachment}`, design and local documents included.
enum DocumentEndpoint {
    static let allow = "DELETE,GET,HEAD,POST,PUT,COPY"

    static let route = Route(
        "/:db/*", allow: allow,
        [
            .get: .init(get), .put: .init(put), .delete: .init(delete), .copy: .init(copy), .post: .init(post),
        ])

    private static func get(_ request: ServerRequest) async throws -> Response {
        let target = try DocumentTarget(request.rest)
        try request.checkReading(target.id)
        if let name = target.attachment { return try await AttachmentEndpoint.get(request, target.id, name) }
        if target.isLocal { return try await LocalDocumentEndpoint.get(request, target.id) }
        let query = try DocumentQuery(request.query)
        if let revisions = query.openRevisions {
            return try await OpenRevisions(request, target.id, revisions, query).answer()
        }
        return try await DocumentReading(request, target.id, query).answer()
    }

    private static func put(_ request: ServerRequest) async throws -> Response {
        let target = try DocumentTarget(request.rest)
        if target.attachment != nil { try request.checkReading(target.id) }
        if let name = target.attachment { return try await AttachmentEndpoint.put(request, target.id, name) }
        try DocumentName.validate(id: target.id)
        if target.isLocal { return try await LocalDocumentEndpoint.put(request, target.id) }
        if target.isDesign { try request.requireDatabaseAdmin() }
        return try await DocumentWriting(request, target.id).put()
    }

    private static func delete(_ request: ServerRequest) async throws -> Response {
        let target = try DocumentTarget(request.rest)
        if target.attachment != nil { try request.checkReading(target.id) }
        if let name = target.attachment { return try await AttachmentEndpoint.delete(request, target.id, name) }
        if target.isLocal { return try await LocalDocumentEndpoint.delete(request, target.id) }
        if target.isDesign { try request.requireDatabaseAdmin() }
        return try await DocumentWriting(request, target.id).delete()
    }

    private static func copy(_ request: ServerRequest) async throws -> Response {
        let target = try DocumentTarget(request.rest)
        guard target.attachment == nil else { throw HTTPFailure.methodNotAllowed(AttachmentEndpoint.allow) }
        return try await DocumentCopying(request, target).copy()
    }

    /// CouchDB takes HTML forms here, which no client sends any more.
    private static func post(_ request: ServerRequest) async throws -> Response {
        let target = try DocumentTarget(request.rest)
        guard target.attachment == nil else { throw HTTPFailure.methodNotAllowed(AttachmentEndpoint.allow) }
        guard request[.referer] != nil else {
            throw HTTPFailure.badRequest("Referer header required.")
        }
        throw HTTPFailure.notImplemented("Documents are not saved from forms; send JSON with PUT")
    }
}

/// What a request for a document asks for.
struct DocumentQuery: Sendable {
    /// Which revisions are read instead of one.
    enum OpenRevisions: Sendable {
        case leaves
        case named([WireRevision])
    }

    var revision: WireRevision?
    var openRevisions: OpenRevisions?
    var parts = RevisionParts()
    var takesLatest = false
    var takesDeleted = false
    /// nil: the request does not say.
    var newEdits: Bool?

    init(_ query: QueryParameters) throws {
        for (name, value) in query.items {
            switch (name, value) {
            case ("rev", _): revision = try WireRevision(value)
            case ("open_revs", "all"): openRevisions = .leaves
            case ("open_revs", _): openRevisions = .named(try Self.revisions(value))
            case ("atts_since", _): parts.attachmentsSince = try Self.revisions(value)
            case ("new_edits", "false"): newEdits = false
            case ("new_edits", "true"): newEdits = true
            case (_, "true"): read(flag: name)
            default: break
            }
        }
        // Without revisions it is no question for several.
        if case .named(let revisions) = openRevisions, revisions.isEmpty { openRevisions = nil }
    }

    private mutating func read(flag name: String) {
        switch name {
        case "attachments": parts.includesAttachments = true
        case "meta":
            parts.includesHistory = true
            parts.includesConflicts = true
            parts.includesDeletedConflicts = true
        case "revs": parts.includesPath = true
        case "local_seq": parts.includesSequence = true
        case "revs_info": parts.includesHistory = true
        case "conflicts": parts.includesConflicts = true
        case "deleted_conflicts": parts.includesDeletedConflicts = true
        case "deleted": takesDeleted = true
        case "latest": takesLatest = true
        case "att_encoding_info": parts.includesEncoding = true
        default: break
        }
    }

    private static func revisions(_ text: String) throws -> [WireRevision] {
        do {
            return try WireRevision.list(BSONValue(plainJSON: text))
        } catch is BSONError {
            throw HTTPFailure.invalidJSON
        }
    }
}

/// What the parts of a path after the database name: a document or an attachment of it.
struct DocumentTarget: Sendable {
    let id: String
    /// nil: the document itself.
    let attachment: String?

    /// - Throws: ``HTTPFailure`` when a `_local` document has no name, or an attachment.
    init(_ parts: [String]) throws {
        let hasPrefix = parts[0] == "_design" || parts[0] == "_local"
        if parts[0] == "_local" || parts[0] == "_local/" {
            guard parts.count > 1 else { throw HTTPFailure.badRequest("Invalid _local document id.") }
            guard parts.count == 2 else {
                throw HTTPFailure.badRequest("_local documents do not accept attachments.")
            }
        }
        let count = hasPrefix ? min(2, parts.count) : 1
        id = parts.prefix(count).joined(separator: "/")
        attachment = parts.count > count ? parts.dropFirst(count).joined(separator: "/") : nil
    }

    var isLocal: Bool { id.hasPrefix(DocumentName.localPrefix) }
    var isDesign: Bool { id.hasPrefix(DocumentName.designPrefix) }
}

/// The answer to a request for one document.
struct DocumentReading: Sendable {
    private let request: ServerRequest
    private let id: String
    private let query: DocumentQuery

    init(_ request: ServerRequest, _ id: String, _ query: DocumentQuery) {
        self.request = request
        self.id = id
        self.query = query
    }

    func answer() async throws -> Response {
        let collection = try request.collection()
        let isMultipart = query.parts.mayIncludeAttachments && request.accepts("multipart/related")
        let read: @Sendable (RevisionStore) throws -> RevisionAnswer = { [id, query] store in
            try RevisionAnswer.find(id, query, isMultipart ? .multipart : .json, in: store)
        }
        // A thread of the database takes longer to begin than to read one document.
        let now = try collection.readAtOnce(read)
        let answer = if let now { now } else { try await collection.read(read) }
        var headers = HTTPFields()
        if !answer.hasMeta {
            let tag = EntityTag.of(revision: answer.text.revision)
            if request.hasCurrent(tag) { return Response(status: .notModified, headers: [.eTag: tag]) }
            headers[.eTag] = tag
        }
        guard isMultipart, !answer.text.attachments.isEmpty else {
            return AnswerText(answer).response(headers, collection)
        }
        return RelatedAnswer(answer, collection).response(headers)
    }
}

// MARK: - ServerRequest: prepared

extension ServerRequest {
    /// A document as it is saved: of a user the password becomes what is derived from it.
    ///
    /// - Throws: ``HTTPFailure`` when it is a design document or an account that CouchDB refuses.
    func prepared(_ document: WireDocument, _ id: String) async throws(HTTPFailure) -> WireDocument {
        try check(document, id)
        guard isUsersDatabase else { return document }
        var document = document
        do {
            document.fields = try await storedFields(document.fields, id: id, isDeleted: document.isDeleted)
        } catch let failure as HTTPFailure {
            throw failure
        } catch {
            throw HTTPFailure(rendering: error, logger: logger)
        }
        return document
    }

    /// - Throws: ``HTTPFailure`` when the document is too large, or a design document that CouchDB refuses.
    func check(_ document: WireDocument, _ id: String) throws(HTTPFailure) {
        guard document.fields.bytes.count <= ServerSettings.largestDocument, !exceedsLimit(document.fields) else {
            throw HTTPFailure.tooLarge("document_too_large", id)
        }
        if id.hasPrefix(DocumentName.designPrefix), !document.isDeleted {
            try DesignDocument.validate(document.fields)
        }
    }

    /// Whether the JSON text of a document has more bytes than one may have, however it was sent: alone or in a batch,
    /// in chunks, compressed, with spaces.
    private func exceedsLimit(_ fields: BSONDocument) -> Bool {
        // No value has more than twelve times the bytes of its stored form: a member `"":{"$undefined":true},` has two there.
        guard fields.bytes.count > limits.documentBytes / 12 else { return false }
        var text = WireJSONWriter()
        text.members(of: fields, followsMember: false)
        return text.count + 2 > limits.documentBytes
    }
}
#endif
