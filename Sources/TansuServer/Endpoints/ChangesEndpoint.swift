#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `/{db}/_changes`
enum ChangesEndpoint {
    static let route = Route("/:db/_changes", allow: "GET,POST,HEAD", [.get: .init(get), .post: .init(post)])

    private static func get(_ request: ServerRequest) async throws -> Response {
        try await answer(request, body: nil)
    }

    private static func post(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let bytes = try await request.bytes()
        var body: BSONDocument = [:]
        if !bytes.isEmpty {
            do {
                guard case .document(let document) = try BSONValue(plainJSON: bytes) else {
                    throw HTTPFailure.badRequest("Request body must be a JSON object")
                }
                body = document
            } catch is BSONError {
                throw HTTPFailure.invalidJSON
            }
        }
        return try await answer(request, body: body)
    }

    private static func answer(_ request: ServerRequest, body: BSONDocument?) async throws -> Response {
        let query = try ChangesQuery(request.query, lastEventID: request[.lastEventID])
        let collection = try request.collection()
        // Changes have an order, which a collection without revisions lacks.
        try await request.database.runWriting { _ in try collection.enable() }
        let filter = try await ChangesFilter.make(query.filter, request, body: body, collection)
        let info = try await collection.read { $0.info() }
        let text = SequenceText(instance: info.instance)
        let start: Int64
        switch query.start {
        case .beginning: start = 0
        case .current: start = info.updateSequence
        case .after(let since): start = try text.sequence(since)
        }
        let changes = ChangesFeed(
            query: query, filter: filter, text: text, collection: collection, updateSequence: info.updateSequence,
            start: query.isDescending ? .max : start)
        guard query.feed == .normal else { return try changes.live(request) }
        let tag = EntityTag.of(info.instance, "\(info.updateSequence)")
        if request.hasCurrent(tag) { return Response(status: .notModified, headers: [.eTag: tag]) }
        return changes.normal(tag)
    }
}

/// What a request for changes asks for.
struct ChangesQuery: Sendable {
    enum Feed: Sendable {
        case normal
        case longpoll
        case continuous
        case eventSource
    }

    /// Where a feed begins.
    enum Start: Sendable {
        case beginning
        case current
        case after(String)
    }

    var feed = Feed.normal
    var isDescending = false
    var start = Start.beginning
    var limit = Int.max
    /// Whether all leaves are listed, not only the winner.
    var listsLeaves = false
    /// nil: none.
    var heartbeat: Duration?
    var timeout = Self.longestWait
    var includesDocuments = false
    var filter = ""
    var parts = RevisionParts()
    var sequenceInterval = 1

    /// The longest time without an answer, and the usual one.
    static let longestWait = Duration.seconds(60)

    init(_ query: QueryParameters, lastEventID: String?) throws {
        for (name, value) in query.items { try read(name.asciiLowercased, value) }
        // A browser that reconnects knows better where it was.
        if feed == .eventSource, let lastEventID { start = try Self.start(lastEventID) }
    }

    private mutating func read(_ name: String, _ value: String) throws {
        switch (name, value) {
        case ("feed", _): feed = try Self.feed(value)
        case ("descending", "true"): isDescending = true
        case ("since", _), ("last-event-id", _): start = try Self.start(value)
        case ("limit", _): limit = try Self.limit(value)
        case ("style", "all_docs"): listsLeaves = true
        case ("style", "main_only"): listsLeaves = false
        case ("style", _): throw HTTPFailure.badRequest("`style` must be `main_only` or `all_docs`.")
        case ("heartbeat", "true"): heartbeat = Self.longestWait
        case ("heartbeat", _): heartbeat = try Self.heartbeat(value)
        case ("timeout", _):
            guard let number = Int(value), number >= 0 else {
                throw HTTPFailure.badRequest("The timeout value should be an integer (in milliseconds).")
            }
            timeout = min(Self.longestWait, .milliseconds(number))
        case ("include_docs", "true"): includesDocuments = true
        case ("conflicts", "true"): parts.includesConflicts = true
        case ("attachments", "true"): parts.includesAttachments = true
        case ("att_encoding_info", "true"): parts.includesEncoding = true
        case ("filter", _): filter = value
        case ("seq_interval", _):
            guard let number = Int(value), number > 0 else { throw HTTPFailure.badRequest("invalid_seq_interval") }
            sequenceInterval = number
        default: break
        }
    }

    private static func feed(_ text: String) throws -> Feed {
        switch text {
        case "normal": return .normal
        case "longpoll": return .longpoll
        case "continuous", "live": return .continuous
        case "eventsource": return .eventSource
        default:
            throw HTTPFailure.badRequest(
                "Supported `feed` types: normal, continuous, live, longpoll, eventsource")
        }
    }

    private static func start(_ text: String) throws -> Start {
        switch text {
        case "now": return .current
        case "0": return .beginning
        default: return .after(text)
        }
    }

    /// A negative limit is none.
    private static func limit(_ text: String) throws -> Int {
        guard let number = Int(text) else { throw HTTPFailure.badRequest("`limit` must be an integer.") }
        return number < 0 ? .max : number
    }

    private static func heartbeat(_ text: String) throws -> Duration {
        guard let number = Int(text) else {
            throw HTTPFailure.badRequest(
                "Invalid heartbeat value. Expecting a positive integer value (in milliseconds).")
        }
        guard number > 0 else {
            throw HTTPFailure.badRequest("The heartbeat value should be a positive integer (in milliseconds).")
        }
        return min(longestWait, .milliseconds(number))
    }
}

/// Which documents a feed shows, and which of their revisions.
enum ChangesFilter: Sendable {
    case all
    case ids(Set<BytewiseText>)
    case designs
    case selector(Mango.Selector, fields: [Mango.FieldPath]?)

    /// - Parameter body: The JSON object of a POST request; nil of GET.
    static func make(
        _ name: String, _ request: ServerRequest, body: BSONDocument?, _ collection: ReplicatedCollection
    ) async throws -> ChangesFilter {
        switch name {
        case "": return .all
        case "_doc_ids": return .ids(try ids(request, body))
        case "_design": return .designs
        case "_selector": return try selector(body)
        case "_view":
            guard let view = request.query["view"], !view.isEmpty else {
                throw HTTPFailure.badRequest("`view` filter parameter is not provided.")
            }
            let parts = view.parts(separatedBy: "/", omittingEmpty: true)
            guard parts.count == 2 else {
                throw HTTPFailure.badRequest("`view` must be of the form `designname/viewname`")
            }
            try await requireFunction(parts[1], in: "views", of: parts[0], collection)
        case _ where name.hasPrefix("_"): throw HTTPFailure.badRequest("unknown builtin filter name")
        default:
            let parts = name.parts(separatedBy: "/", omittingEmpty: true)
            guard parts.count == 2 else {
                throw HTTPFailure.badRequest("`filter` must be of the form `designname/filtername`")
            }
            try await requireFunction(parts[1], in: "filters", of: parts[0], collection)
        }
        throw HTTPFailure.notImplemented(
            "JavaScript filters are not run; filter with filter=_selector, _doc_ids or _design")
    }

    /// - Throws: ``HTTPFailure`` when the design document does not have the function.
    private static func requireFunction(
        _ name: String, in member: String, of design: String, _ collection: ReplicatedCollection
    ) async throws {
        let fields = try await DesignDocument.fields(of: design, collection)
        guard let functions = fields[member]?.documentValue else {
            throw HTTPFailure.notFound("missing json key: \(member)")
        }
        guard functions[name] != nil else { throw HTTPFailure.notFound("missing json key: \(name)") }
    }

    private static func ids(_ request: ServerRequest, _ body: BSONDocument?) throws -> Set<BytewiseText> {
        let value: BSONValue?
        if let body {
            value = body["doc_ids"]
        } else {
            do {
                value = try request.query["doc_ids"].map { try BSONValue(plainJSON: $0) }
            } catch {
                throw HTTPFailure.invalidJSON
            }
        }
        guard case .array(let array)? = value else { throw HTTPFailure.invalidIDs }
        return try Set(
            array.map { element in
                guard case .string(let id) = element else { throw HTTPFailure.invalidIDs }
                return BytewiseText(id)
            })
    }

    private static func selector(_ body: BSONDocument?) throws -> ChangesFilter {
        guard let body else { throw HTTPFailure.badRequest("Selector must be specified in POST payload") }
        guard case .document(let condition)? = body["selector"] else {
            throw HTTPFailure.badRequest("Selector error: expected a JSON object")
        }
        do throws(Mango.QueryError) {
            let selector = try Mango.Selector(condition)
            var fields: [Mango.FieldPath]?
            switch body["fields"] {
            case nil, .null: break
            case .array(let array):
                var paths: [Mango.FieldPath] = []
                for element in array { paths.append(try Mango.FieldPath(element.stringValue ?? "")) }
                fields = paths.isEmpty ? nil : paths
            default:
                return .selector(selector, fields: nil)
            }
            return .selector(selector, fields: fields)
        } catch {
            throw HTTPFailure.badRequest(error.reason)
        }
    }
}

extension HTTPFailure {
    fileprivate static var invalidIDs: HTTPFailure {
        .badRequest("`doc_ids` filter parameter is not a list of doc ids.")
    }
}
#endif
