import Tansu
import TansuBSON

/// Runs JSON commands on a database that the command line has opened, within the limits of its other commands: what the
/// library keeps is not written, passwords are hashed, and replicated collections get documents that can be replicated.
struct JSONRunner: Sendable {
    let database: Database

    /// The response to a request, both in JSON. An error is a response.
    func response(to request: String) -> String {
        do {
            guard try mayBeOfOthers(request) else { return try database.executeJSON(request) }
            let parsed = try BSONDocument(extendedJSON: request)
            let allowed = try self.allowed(parsed)
            return try database.executeJSON(
                allowed.bytes == parsed.bytes ? request : allowed.extendedJSON(.canonical))
        } catch {
            return CommandError(error).json
        }
    }

    /// The response to a request.
    ///
    /// - Throws: `CommandError` for a response that is an error.
    @discardableResult
    func run(_ request: BSONDocument) throws -> BSONDocument {
        let text = try database.executeJSON(try allowed(request).extendedJSON(.canonical))
        let response = try BSONDocument(extendedJSON: text)
        guard let error = response["error"]?.documentValue else { return response }
        throw CommandError(ofResponse: error)
    }

    /// Whether a request has to be parsed to know that it is allowed. An escape may spell any name.
    private func mayBeOfOthers(_ request: String) throws -> Bool {
        let bytes = request.utf8
        return try ["tansu.", OwnedCollection.accounts, "\\u", "\"load\""].contains { bytes.contains($0.utf8) }
            || Session(database).collectionInfo(OpenDatabase.replicationStates) != nil
    }
}

extension CommandError {
    /// An error in the response to a JSON command.
    init(ofResponse error: BSONDocument) {
        let code = error["code"]?.stringValue ?? ""
        self.init(
            code: code, message: error["message"]?.stringValue ?? code, path: error["path"]?.stringValue ?? "")
        document = error["document"]?.intValue
    }
}

// MARK: - Limits

extension JSONRunner {
    /// The operations that change the database.
    static let writes = [
        "save", "insert", "update", "findAndModify", "remove", "createIndex", "declareIndex", "dropIndex",
        "createCollection", "setValidator", "dropCollection", "renameCollection",
    ]

    /// Whether a request changes the database.
    static func isWrite(_ request: BSONDocument) -> Bool {
        guard let operation = request["op"]?.stringValue else { return false }
        return writes.contains { $0 == operation } || !outputs(of: request).isEmpty
            || operation == "danglingReferences" && request["options"]?.documentValue?["repair"] == .bool(true)
    }

    /// The collections that a pipeline writes to.
    private static func outputs(of request: BSONDocument) -> [String] {
        request["pipeline"]?.arrayValue?.compactMap { $0.documentValue?.pipelineTarget } ?? []
    }

    /// The request as it is run: with hashes instead of passwords.
    ///
    /// - Throws: `CommandError` for one that the command line leaves to others.
    func allowed(_ request: BSONDocument) throws -> BSONDocument {
        var request = request
        if let commands = request["commands"]?.arrayValue {
            request["commands"] = .array(
                BSONArray(try commands.map { try $0.documentValue.map { .document(try allowed($0)) } ?? $0 }))
        }
        if request["op"] == "load" {
            throw CommandError(
                code: "INVALID_ARGUMENT", message: "The command \"load\" is not run here, as it may load accounts",
                path: "load", remedy: "use \"tansu load\"")
        }
        guard Self.isWrite(request) else { return request }
        let names = [request["collection"], request["to"]].compactMap { $0?.stringValue }
        if !Self.outputs(of: request).isEmpty {
            for name in Self.outputs(of: request) {
                try OwnedCollection.check(name)
                try OwnedCollection.check(output: name, of: database)
            }
            return request
        }
        for name in names { try OwnedCollection.check(name) }
        if let options = request["options"]?.documentValue, request["op"] == "createCollection" {
            try OwnedCollection.check(options: options, of: database)
        }
        guard let name = names.first else { return request }
        try checkContent(&request, of: name)
        return request
    }

    private func checkContent(_ request: inout BSONDocument, of name: String) throws {
        let isReplicated = try OwnedCollection.isReplicated(name, in: database)
        if let documents = request["documents"]?.arrayValue {
            let stored = try documents.map { value -> BSONValue in
                guard let document = value.documentValue else { return value }
                if isReplicated { try SyncLayer.check(document, in: name) }
                return .document(try OwnedCollection.stored(document, in: name))
            }
            if name == OwnedCollection.accounts { request["documents"] = .array(BSONArray(stored)) }
        }
        if let document = request["replace"]?.documentValue {
            if isReplicated { try SyncLayer.check(document, in: name) }
            request["replace"] = .document(try OwnedCollection.stored(document, in: name))
        }
        if let operations = request["update"]?.documentValue {
            try OwnedCollection.check(operations: operations, in: name, isReplicated: isReplicated)
        } else if let stages = request["update"] {
            try OwnedCollection.check(pipeline: stages, in: name)
        }
        if isReplicated, request["hints"]?.documentValue?.contains(key: "$upsert") == true {
            throw CommandError(
                code: "REPLICATED",
                message: "What an upsert inserts into the replicated collection \"\(name)\" is not checked here",
                path: name, remedy: "use \"tansu update --upsert\"", status: .invalidInput)
        }
        if request["op"] == "dropCollection", isReplicated {
            throw CommandError(
                code: "REPLICATED", message: "The collection \"\(name)\" is replicated", path: name,
                remedy: "drop it with \"tansu collections drop\", which drops its revisions as well",
                status: .invalidInput)
        }
    }
}
