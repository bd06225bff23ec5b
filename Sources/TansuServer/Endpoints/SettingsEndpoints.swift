#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `/{db}/_security`, `_revs_limit` and `_purged_infos_limit`
enum SettingsEndpoints {
    static let routes = [
        Route(
            "/:db/_security", allow: "PUT,GET",
            [.get: .init(security), .put: .init(.databaseAdmin, setSecurity)]),
        Route(
            "/:db/_revs_limit", allow: "PUT,GET",
            [.get: .init(limit), .put: .init(.databaseAdmin, setLimit)]),
        Route(
            "/:db/_purged_infos_limit", allow: "PUT,GET",
            [.get: .init(.serverAdmin, purgedLimit), .put: .init(.serverAdmin, setPurgedLimit)]),
    ]

    private static func security(_ request: ServerRequest) async throws -> Response {
        let stored = try await request.collection().read { $0.security }
        return .json(.document(stored.isEmpty ? SecurityObject.standard : stored))
    }

    private static func setSecurity(_ request: ServerRequest) async throws -> Response {
        if request.databaseName == "_users" {
            throw HTTPFailure.forbidden("You can't edit the security object of the user database.")
        }
        guard case .document(let security) = try await request.json() else {
            throw HTTPFailure.badRequest("The security object must be a JSON object")
        }
        for group in [security["admins"], SecurityObject.members(of: security)] { try validate(group) }
        // Not the same as none: nobody has to be a member.
        let stored: BSONDocument = security.isEmpty ? ["admins": [:], "members": [:]] : security
        try await request.collection().write { store in
            store.security = stored
        }
        return .ok()
    }

    private static func validate(_ group: BSONValue?) throws {
        guard let group else { return }
        guard case .document(let members) = group else {
            throw HTTPFailure.badRequest("Members of the security object must be JSON objects")
        }
        for name in ["names", "roles"] {
            guard let list = members[name] else { continue }
            guard case .array(let array) = list, array.allSatisfy({ $0.stringValue != nil }) else {
                throw HTTPFailure.badRequest("\(name) must be a JSON list of strings")
            }
        }
    }

    private static func limit(_ request: ServerRequest) async throws -> Response {
        .json(text: "\(try await request.collection().read { $0.revsLimit })")
    }

    private static func setLimit(_ request: ServerRequest) async throws -> Response {
        guard let limit = try await request.json().wireInteger, limit > 0 else {
            throw HTTPFailure.badRequest("`revs_limit` must be positive integer")
        }
        try await request.collection().write { store in
            store.revsLimit = limit
        }
        return .ok()
    }

    /// No history of purges is kept, so that its length is always the usual one.
    private static func purgedLimit(_ request: ServerRequest) async throws -> Response {
        .json(text: "1000")
    }

    private static func setPurgedLimit(_ request: ServerRequest) async throws -> Response {
        guard let limit = try await request.json().wireInteger, limit > 0 else {
            throw HTTPFailure.badRequest("`purged_infos_limit` must be positive integer")
        }
        return .ok()
    }
}

extension BSONValue {
    /// The value of an integer.
    var wireInteger: Int? {
        switch self {
        case .int32(let value): Int(value)
        case .int64(let value): Int(value)
        default: nil
        }
    }
}

/// `/{db}/_compact`, `_view_cleanup`, `_ensure_full_commit`, `_purge` and what only a cluster needs.
enum MaintenanceEndpoints {
    static let routes = [
        Route("/:db/_compact", allow: "POST", [.post: .init(.databaseAdmin, compact)]),
        Route("/:db/_compact/:design", allow: "POST", [.post: .init(.databaseAdmin, compactDesign)]),
        Route("/:db/_view_cleanup", allow: "POST", [.post: .init(.databaseAdmin, cleanUp)]),
        Route("/:db/_ensure_full_commit", allow: "POST", [.post: .init(ensureCommit)]),
        Route("/:db/_purge", allow: "POST", [.post: .init(.serverAdmin, purge)]),
        Route("/:db/_shards", allow: "GET", [.get: .init(shards)]),
        Route("/:db/_sync_shards", allow: "POST", [.post: .init(.serverAdmin, syncShards)]),
    ]

    private static func compact(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let collection = try request.collection()
        try await request.database.runWriting { _ in try collection.compact() }
        return .ok(.accepted)
    }

    /// There are no files of views.
    private static func compactDesign(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        _ = try await DesignDocument.fields(of: request.parameters["design"] ?? "", request.collection())
        return .ok(.accepted)
    }

    private static func cleanUp(_ request: ServerRequest) async throws -> Response {
        let collection = try request.collection()
        try await request.database.runWriting { _ in try collection.removeUnusedIndexes() }
        return .ok(.accepted)
    }

    private static func ensureCommit(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        try await request.database.sync()
        return .json(["ok": true, "instance_start_time": "0"], status: .created)
    }

    private static let maximumDocuments = 100
    private static let maximumRevisions = 1000

    private static func purge(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        var wanted: [(id: String, revisions: [Revision])] = []
        for (id, value) in try await request.jsonMembers() {
            wanted.append((id, try WireRevision.list(value).compactMap(\.revision)))
        }
        guard wanted.count <= maximumDocuments else {
            throw HTTPFailure.badRequest("Exceeded maximum number of documents.")
        }
        guard wanted.reduce(0, { $0 + $1.revisions.count }) <= maximumRevisions else {
            throw HTTPFailure.badRequest("Exceeded maximum number of revisions.")
        }
        let list = wanted
        let purged = try await request.collection().write { store in
            try list.map { ($0.id, try store.purge($0.id, $0.revisions)) }
        }
        var writer = WireJSONWriter()
        writer.raw("{\"purge_seq\":null,\"purged\":{")
        writer.list(purged) { writer, each in
            writer.string(each.0)
            writer.raw(":[")
            writer.list(each.1) { $0.string($1.description) }
            writer.raw("]")
        }
        writer.raw("}}")
        return .json(bytes: writer.finish(), status: .created)
    }

    private static func shards(_ request: ServerRequest) async throws -> Response {
        .json(["shards": ["00000000-ffffffff": ["couchdb@127.0.0.1"]]])
    }

    private static func syncShards(_ request: ServerRequest) async throws -> Response {
        try request.server.requireDatabase(request.databaseName)
        return .ok(.accepted)
    }
}
#endif
