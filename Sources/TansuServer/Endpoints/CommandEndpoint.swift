#if TansuServer
import HTTPTypes
import HummingbirdCore
import Tansu
import TansuBSON
import TansuSync

/// `/_command`: a JSON command that reads, for server admins, with the response of the engine. CouchDB has no such request: it is for
/// what its API cannot ask, such as pipelines, plans and what takes the space. The inspector of a database may write by it as well.
enum CommandEndpoint {
    static let routes = [
        Route("/_command", allow: "POST", access: .serverAdmin, [.post: .init(run)]), CommandChangesEndpoint.route,
    ]

    private static let reading: Set<BytewiseText> = [
        "find", "get", "count", "distinct", "aggregate", "explain", "indexes", "collections", "collectionInfo",
        "referrers", "analyze", "highlight", "complete", "suggest", "stats", "storage",
    ]
    private static let writing: Set<BytewiseText> = [
        "save", "insert", "update", "findAndModify", "remove", "createIndex", "dropIndex", "createCollection",
        "dropCollection", "renameCollection", "checkpoint", "compact",
    ]
    /// What has hints, and so a limit of time.
    private static let limited: Set<BytewiseText> = [
        "find", "count", "distinct", "aggregate", "explain", "update", "findAndModify", "remove",
    ]

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
        guard let operation = command["op"]?.stringValue else {
            throw HTTPFailure.badRequest("The command has no operation: `op` must be a text, such as \"find\"")
        }
        let name = BytewiseText(operation)
        let mayWrite = request.server.inspection?.allowsWriting == true
        guard reading.contains(name) || (mayWrite && writing.contains(name)) else {
            throw refusal(of: name, request)
        }
        for member in ["batch", "transaction"] where command[member] != nil {
            throw HTTPFailure.badRequest("`\(member)` is not possible here: a command begins and ends with its request")
        }
        if !mayWrite, let stages = command["pipeline"]?.arrayValue,
            stages.contains(where: { $0.documentValue?.isPipelineOutput == true })
        {
            throw HTTPFailure.forbidden("Pipelines that write are not possible here")
        }
        // Removing by an id has no hints.
        if limited.contains(name), name != "remove" || command["query"] != nil {
            command["hints"] = limitingTime(command["hints"] ?? [:])
        }
        let isList =
            name == "find" || (name == "aggregate" && command["pipeline"] != nil)
            || (name == "get" && command["ids"]?.arrayValue != nil)
        let database = request.database
        let body = { @Sendable [command] (flag: CancellationFlag) throws -> String in
            try allowed(command, database) { command in
                guard isList else { return try database.executeJSON(command.extendedJSON(.canonical)) }
                return try documents(command, database, flag)
            }
        }
        let isWrite = CommandLimits.isWrite(command)
        return .json(text: try await isWrite ? database.runWriting(body) : database.runReading(body))
    }

    /// The hints with a limit of time. What is no limit is left to the engine, which refuses it.
    private static func limitingTime(_ given: BSONValue) -> BSONValue {
        guard var hints = given.documentValue else { return given }
        let wanted = hints["$maxTimeMS"] ?? 0
        let time =
            switch wanted {
            case .decimal128(let number): Double(number.description)
            case .double(let number): number
            default: wanted.intValue.map(Double.init)
            }
        if let time, time == 0 || time > Double(timeMost) { hints["$maxTimeMS"] = BSONValue(timeMost) }
        return .document(hints)
    }

    /// What the inspector leaves to the library and to the server.
    private static let limits = CommandLimits(
        hashed: { try PasswordHash(password: $1).stored(in: $0) }, checkReplicable: ReplicatedCollection.validate)

    /// The response to a command that is within the limits. A refusal is one, as the errors of the engine are.
    private static func allowed(
        _ command: BSONDocument, _ database: Database, _ body: (BSONDocument) throws -> String
    ) throws -> String {
        do { return try body(try limits.allowed(command, on: database)) } catch let refusal as CommandRefusal {
            return response(refusal.code.rawValue, refusal.description, refusal.path)
        } catch let error as SyncError {
            return response("NOT_REPLICABLE", error.description, "")
        }
    }

    private static func response(_ code: String, _ message: String, _ path: String) -> String {
        let error: BSONDocument = ["code": .string(code), "message": .string(message), "path": .string(path)]
        let response: BSONDocument = ["ok": false, "error": .document(error)]
        return response.extendedJSON(.relaxed)
    }

    private static func refusal(of name: BytewiseText, _ request: ServerRequest) -> HTTPFailure {
        guard writing.contains(name) else { return .forbidden("The command \"\(name.text)\" is not possible here") }
        return request.server.inspection == nil
            ? .forbidden("Only commands that read are possible here") : .readOnlyInspection
    }

    /// Documents of a response as text, until there are enough.
    private struct DocumentTexts {
        let form: ExtendedJSONFormat
        var list: [String] = []
        var size = 0
        /// How many to ask for next: about a megabyte, as far as those so far tell.
        var batch = 1

        var isFull: Bool { list.count >= documentsMost || size >= bytesMost }

        mutating func append(_ values: BSONArray) {
            for value in values {
                list.append(value.documentValue?.extendedJSON(form) ?? "null")
                size += list[list.count - 1].utf8.count
            }
            batch = max(1, min(documentsMost - list.count, batch * 4, (1 << 20) * list.count / max(1, size)))
        }

        func response(isComplete: Bool) -> String {
            "{\"ok\": true, \"documents\": [\(list.joined(separator: ", "))], \"complete\": \(isComplete)}"
        }
    }

    /// The response to a command that finds documents, of which it has the first: `complete` says whether these are all.
    private static func documents(
        _ command: BSONDocument, _ database: Database, _ flag: CancellationFlag
    ) throws -> String {
        var found = DocumentTexts(form: command["canonical"] == .bool(true) ? .canonical : .relaxed)
        var command = command
        command["canonical"] = true
        let ids = command["ids"]?.arrayValue
        if ids == nil { command["batch"] = BSONValue(found.batch) }
        var cursor = BSONValue.null
        var isComplete = false
        defer {
            if !cursor.isNull {
                let end: BSONDocument = ["op": "closeCursor", "cursor": cursor]
                _ = try? database.executeJSON(end.extendedJSON(.canonical))
            }
        }
        repeat {
            try flag.check()
            if let ids { command["ids"] = .array(BSONArray(ids.dropFirst(found.list.count).prefix(found.batch))) }
            let text = try database.executeJSON(command.extendedJSON(.canonical))
            let response = try BSONDocument(extendedJSON: text)
            guard response["ok"] == .bool(true) else { return text }
            found.append(response["documents"]?.arrayValue ?? [])
            if let ids {
                isComplete = found.list.count == ids.count
            } else {
                cursor = response["cursor"] ?? .null
                command = ["op": "next", "cursor": cursor, "batch": BSONValue(found.batch), "canonical": true]
                isComplete = cursor.isNull
            }
        } while !isComplete && !found.isFull
        return found.response(isComplete: isComplete)
    }
}
#endif
