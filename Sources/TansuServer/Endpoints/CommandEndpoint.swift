#if TansuServer
import HTTPTypes
import HummingbirdCore
import Tansu
import TansuBSON

/// `/_command`: a JSON command that reads, for server admins, with the response of the engine. CouchDB has no such request: it is for
/// what its API cannot ask, such as pipelines, plans and what takes the space. The inspector of a database may write by it as well.
enum CommandEndpoint {
    static let route = Route("/_command", allow: "POST", access: .serverAdmin, [.post: .init(run)])

    private static let reading: Set<BytewiseText> = [
        "find", "get", "count", "distinct", "aggregate", "explain", "indexes", "collections", "collectionInfo",
        "referrers", "analyze", "highlight", "complete", "suggest", "stats", "storage",
    ]
    private static let writing: Set<BytewiseText> = [
        "save", "insert", "update", "findAndModify", "remove", "createIndex", "dropIndex", "createCollection",
        "dropCollection", "renameCollection", "checkpoint", "compact",
    ]
    /// What has hints, and so a limit of time.
    private static let limited: Set<BytewiseText> = ["find", "count", "distinct", "aggregate", "explain"]

    /// A command takes so long at most.
    private static let timeMost = 30_000
    /// An answer ends with the document that exceeds one of these.
    private static let (documentsMost, bytesMost) = (1_000, 8 << 20)

    private static func run(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let bytes = try await request.collectedBody()
        var command: BSONDocument
        do { command = try BSONDocument(extendedJSON: bytes.readableBytesView) } catch {
            throw HTTPFailure.badRequest("The command is no extended JSON object: \(error)")
        }
        let name = BytewiseText(command["op"]?.stringValue ?? "")
        guard reading.contains(name) || (request.server.inspection?.allowsWriting == true && writing.contains(name))
        else { throw HTTPFailure.forbidden(refusal(of: name, request)) }
        for member in ["batch", "transaction"] where command[member] != nil {
            throw HTTPFailure.badRequest("`\(member)` is not possible here: a command begins and ends with its request")
        }
        let mayWrite = request.server.inspection?.allowsWriting == true
        if !mayWrite, let stages = command["pipeline"]?.arrayValue,
            stages.contains(where: { $0.documentValue.map { $0["$out"] != nil || $0["$merge"] != nil } ?? false })
        {
            throw HTTPFailure.forbidden("Pipelines that write are not possible here")
        }
        if limited.contains(name) {
            var hints = command["hints"]?.documentValue ?? [:]
            let wanted = hints["$maxTimeMS"]?.intValue ?? timeMost
            hints["$maxTimeMS"] = BSONValue(wanted > 0 ? min(wanted, timeMost) : timeMost)
            command["hints"] = .document(hints)
        }
        let isList = name == "find" || (name == "aggregate" && command["pipeline"] != nil)
        return .json(text: try await isList ? documents(command, request) : response(to: command, request))
    }

    private static func refusal(of name: BytewiseText, _ request: ServerRequest) -> String {
        guard writing.contains(name) else { return "The command \"\(name.text)\" is not possible here" }
        return request.server.inspection == nil
            ? "Only commands that read are possible here" : "The inspector was started to read only"
    }

    private static func response(to command: BSONDocument, _ request: ServerRequest) async throws -> String {
        let text = command.extendedJSON(.canonical)
        let database = request.database
        if let name = command["op"]?.stringValue, writing.contains(BytewiseText(name)) {
            return try await database.executeJSON(text)
        }
        return try await database.runReading { _ in try database.executeJSON(text) }
    }

    /// The response to a command that finds documents, of which it has the first: `complete` says whether these are all.
    private static func documents(_ command: BSONDocument, _ request: ServerRequest) async throws -> String {
        var command = command
        var found: [String] = []
        var size = 0
        var batch = 4
        let form: ExtendedJSONFormat = command["canonical"] == .bool(true) ? .canonical : .relaxed
        command["canonical"] = true
        command["batch"] = BSONValue(batch)
        while true {
            let text = try await response(to: command, request)
            let response = try BSONDocument(extendedJSON: text)
            guard response["ok"] == .bool(true) else { return text }
            let documents = response.documentList("documents")
            for document in documents {
                found.append(document.extendedJSON(form))
                size += found[found.count - 1].utf8.count
            }
            let cursor = response["cursor"] ?? .null
            let isFull = found.count >= documentsMost || size >= bytesMost
            if cursor.isNull || isFull {
                if !cursor.isNull { _ = try await Self.response(to: ["op": "closeCursor", "cursor": cursor], request) }
                let list = found.joined(separator: ", ")
                return "{\"ok\": true, \"documents\": [\(list)], \"complete\": \(cursor.isNull)}"
            }
            // About a megabyte, as far as the documents so far tell.
            batch = max(1, min(documentsMost - found.count, batch * 4, (1 << 20) / max(1, size / found.count)))
            command = ["op": "next", "cursor": cursor, "batch": BSONValue(batch), "canonical": true]
        }
    }
}
#endif
