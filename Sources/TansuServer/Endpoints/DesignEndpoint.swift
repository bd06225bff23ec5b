#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `/{db}/_design/{name}/_…`: design documents are stored, but their JavaScript is not run.
enum DesignEndpoint {
    private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .delete]

    static let routes =
        [Route("/:db/_design/:design/_info", allow: "GET", [.get: .init(info)])]
        + ["_view", "_show", "_list", "_update", "_rewrite"].flatMap { action in
            [
                Route("/:db/_design/:design/\(action)", allow: "GET,POST", handlers(action)),
                Route("/:db/_design/:design/\(action)/*", allow: "GET,POST", handlers(action)),
            ]
        }

    private static func handlers(_ action: String) -> [HTTPRequest.Method: Route.Endpoint] {
        Dictionary(
            uniqueKeysWithValues: methods.map { method in
                (method, Route.Endpoint { try await refuse(action, $0) })
            })
    }

    private static let functions = [
        "_view": "views", "_show": "shows", "_list": "lists", "_update": "updates", "_rewrite": "rewrites",
    ]

    private static func refuse(_ action: String, _ request: ServerRequest) async throws -> Response {
        let fields = try await DesignDocument.fields(of: request.parameters["design"] ?? "", request.collection())
        let member = functions[action] ?? ""
        guard let name = request.rest.first else { throw HTTPFailure.notFound("Invalid path.") }
        guard action == "_rewrite" || fields[member]?.documentValue?[name] != nil else {
            throw HTTPFailure.notFound(action == "_view" ? "missing_named_view" : "missing json key: \(name)")
        }
        throw HTTPFailure.notImplemented(
            action == "_view"
                ? "JavaScript views are not run; query with _find and an index of _index"
                : "JavaScript functions are not run; do it in the client")
    }

    private static func info(_ request: ServerRequest) async throws -> Response {
        let name = request.parameters["design"] ?? ""
        let collection = try request.collection()
        let fields = try await DesignDocument.fields(of: name, collection)
        let sequence = try await collection.read { $0.info().updateSequence }
        let signature = EntityTag.digest((fields["views"] ?? .null).extendedJSON())
        let view: BSONDocument = [
            "updates_pending": ["minimum": 0, "preferred": 0, "total": 0], "waiting_commit": false,
            "waiting_clients": 0, "updater_running": false, "update_seq": .int64(sequence),
            "sizes": ["file": 0, "external": 0, "active": 0], "signature": .string(signature), "purge_seq": 0,
            "language": fields["language"] ?? "javascript", "compact_running": false, "collator_versions": [],
        ]
        return .json(["name": .string(name), "view_index": .document(view)])
    }
}

/// Design documents: what they hold, and what may be saved as one.
enum DesignDocument {
    /// The fields of a design document.
    ///
    /// - Throws: ``HTTPFailure`` with 404.
    static func fields(of name: String, _ collection: ReplicatedCollection) async throws -> BSONDocument {
        try await collection.read { store in
            guard let record = try store.document(DocumentName.designPrefix + name) else {
                throw HTTPFailure.notFound()
            }
            if record.isDeleted { throw HTTPFailure.deleted }
            return try store.body(of: record, record.winner)?.fields ?? [:]
        }
    }

    private enum Kind: String {
        case object
        case string
        case boolean
        case array

        init?(_ value: BSONValue) {
            switch value {
            case .document: self = .object
            case .string: self = .string
            case .bool: self = .boolean
            case .array: self = .array
            default: return nil
            }
        }
    }

    private static let kinds: [(name: String, kinds: [Kind])] = [
        ("filters", [.object]), ("language", [.string]), ("lists", [.object]), ("options", [.object]),
        ("rewrites", [.string, .array]), ("shows", [.object]), ("updates", [.object]),
        ("validate_doc_update", [.string]), ("views", [.object]),
    ]

    /// Checks what CouchDB checks without running functions.
    ///
    /// - Throws: ``HTTPFailure`` when a field has another type than CouchDB's.
    static func validate(_ fields: BSONDocument) throws(HTTPFailure) {
        for (name, kinds) in kinds { try check(fields[name], name, kinds) }
        for name in ["filters", "lists", "shows", "updates"] {
            for (function, value) in fields[name]?.documentValue ?? [:] {
                try check(value, function, [.object, .string])
            }
        }
        for name in ["include_design", "local_seq", "partitioned"] {
            try check(fields["options"]?.documentValue?[name], name, [.boolean])
        }
        let map: [Kind] = fields["language"] == "query" ? [.object] : [.string]
        for (view, value) in fields["views"]?.documentValue ?? [:] {
            try check(value, view, [.object])
            if view == "lib" { continue }
            try check(value.documentValue?["map"], "map", map)
            try check(value.documentValue?["reduce"], "reduce", [.string])
        }
    }

    private static func check(_ value: BSONValue?, _ name: String, _ kinds: [Kind]) throws(HTTPFailure) {
        guard let value else { return }
        if let kind = Kind(value), kinds.contains(kind) { return }
        let expected = kinds.map(\.rawValue).joined(separator: " or ")
        throw HTTPFailure(
            .badRequest, "invalid_design_doc", "`\(name)` field must have \(expected) type")
    }
}
#endif
