#if TansuSync
import Tansu
import TansuBSON

/// The requests of a remote collection, with their errors as callers get them.
struct RemoteConnection: Sendable {
    let database: RemoteDatabase

    /// Calls a closure that makes requests.
    func calling<Result>(_ body: (RemoteDatabase) async throws -> Result) async throws -> Result {
        try Task.checkCancellation()
        do { return try await body(database) } catch let failure as RemoteFailure {
            throw SyncError(remote: failure)
        }
    }

    /// Reads what has come.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch var failure as RemoteFailure {
            failure.location = database.url.text
            throw SyncError(remote: failure)
        }
    }

    /// Sends a request with a JSON body, and reads the JSON that answers it.
    ///
    /// - Parameters:
    ///   - accepted: The statuses other than 2xx that are no errors.
    ///   - documentDepth: How deep in the answer a document is: 1 for a document itself.
    func json(
        _ method: String, _ path: String, query: [(String, String)] = [], body: BSONDocument? = nil,
        accepted: Set<Int> = [], documentDepth: Int = 1
    ) async throws -> RemoteAnswer {
        let bytes = body.map { Self.text(of: $0) }
        return try await calling { database in
            // An answer that is lost leaves open whether the server did what was asked.
            var attempts = 0
            return try await database.retrying {
                attempts += 1
                let answer = try await database.send(
                    method, path, query: query, body: bytes.map { .json($0) } ?? .none)
                let value: BSONValue
                if 200..<300 ~= answer.status {
                    let text = try await RemoteDatabase.decoded(answer).all(limit: RemoteDatabase.elementLimit)
                    value = text.isEmpty ? .null : try Self.value(text, documentDepth)
                } else {
                    let failure = try await RemoteDatabase.failure(answer)
                    guard accepted.contains(answer.status), !failure.isOfDatabase else { throw failure }
                    value = .document([
                        "error": .string(failure.word ?? ""), "reason": .string(failure.reason),
                    ])
                }
                return RemoteAnswer(
                    status: answer.status, value: value, isRepeated: attempts > 1)
            }
        }
    }

    /// JSON text of a document, with extended JSON for the types that JSON lacks.
    static func text(of document: BSONDocument) -> [UInt8] {
        var writer = WireJSONWriter(capacity: document.bytes.count + 64)
        writer.value(.document(document))
        return writer.finish()
    }

    private static func value(_ text: [UInt8], _ documentDepth: Int) throws -> BSONValue {
        do { return try BSONValue(wireJSON: text, documentDepth: documentDepth) } catch {
            throw RemoteFailure.invalidAnswer("Its answer is no JSON: \(error)")
        }
    }
}

/// What a server answers.
struct RemoteAnswer: Sendable {
    let status: Int
    let value: BSONValue
    /// Whether an earlier attempt, whose answer was lost, may have done what was asked.
    let isRepeated: Bool
    subscript(name: String) -> BSONValue? { value[name] }
}

/// What a server is asked for a query, and what is left for this side to do.
struct RemoteRequest: Sendable {
    /// The members of the body except the page.
    let body: BSONDocument
    /// Tests each document that comes; nil where all of them match.
    let matcher: EngineMatcher?
    /// Whether the matcher is not to see members whose names begin with `_`.
    private let hidesMembers: Bool
    /// Every document matches.
    let isUnconditional: Bool
    /// No document can match.
    let isEmpty: Bool
    let skip: Int
    /// nil for all.
    let limit: Int?
    /// The projection, by the query language.
    let fields: BSONDocument?

    /// - Parameter onlyIDs: Whether only ids and revisions are wanted of the documents that match.
    init<Element>(_ query: RemoteQuery<Element>, onlyIDs: Bool = false) throws {
        try query.local.checkOrder()
        let filter = query.local.filter
        var hints = query.local.hints
        skip = try Self.number(hints.removeValue(forKey: "$skip"), "$skip") ?? 0
        let limits = try ["$max", "$limit"].compactMap { name in
            try Self.number(hints.removeValue(forKey: name), name)
        }
        limit = limits.first.flatMap { $0 == 0 ? nil : $0 }
        fields = hints.removeValue(forKey: "$fields")?.documentValue
        let order = hints.removeValue(forKey: "$orderby")?.documentValue ?? [:]
        if let other = hints.first {
            throw SyncError(
                .unsupported,
                "The hint \"\(other.key)\" means nothing to a server; leave it out, or name an index with using(index:)"
            )
        }
        let (said, scan) = try Self.selection(of: filter, query)
        var selection = said
        matcher = filter.isEmpty ? nil : try EngineMatcher(filter)
        isUnconditional = filter.isEmpty && query.mango == nil
        if !query.allowsScan, query.mango == nil, case .all = selection, let scan {
            throw SyncError(
                .unsupported,
                "A server cannot be asked for \"\(scan.operation)\""
                    + (scan.location.isEmpty ? "" : " at \"\(scan.location)\"")
                    + ", so that all documents would be read; add a condition that it knows, say find(mango:), or allow "
                    + "it with scanning()")
        }
        if case .none = selection { isEmpty = true } else { isEmpty = false }
        if order.contains(key: "_id"), !selection.requires(["_id"]) {
            // Every document has one, which a server wants to be told.
            selection = .every([selection, .field(["_id"], .holds("$gt", .null))])
        }
        var body: BSONDocument = [:]
        let own = query.mango.map { BSONValue.document($0) }
        switch (own, selection) {
        case (nil, _): body["selector"] = .document(selection.document)
        case (let own?, .all): body["selector"] = own
        case (let own?, _): body["selector"] = ["$and": [own, .document(selection.document)]]
        }
        if !order.isEmpty {
            body["sort"] = .array(
                BSONArray(try Self.sort(order, selection, isChecked: query.mango == nil)))
        }
        if let index = query.index { body["use_index"] = .array(BSONArray(index.map { .string($0) })) }
        let paths = TopFields(filter)
        hidesMembers = paths.isWild
        if let names = paths.needed(for: onlyIDs ? [:] : fields) {
            body["fields"] = .array(
                BSONArray(
                    (["_id", "_rev"] + names.subtracting(["_id", "_rev"]).sorted()).map { .string($0.text) }))
        }
        if query.mango == nil {
            do { _ = try Mango.Query(body) } catch {
                throw SyncError(
                    .unsupported, "The query is too large for a server: \(error.reason); split it")
            }
        }
        self.body = body
    }

    private static func number(_ value: BSONValue?, _ name: String) throws -> Int? {
        guard let value else { return nil }
        guard let number = value.intValue, number >= 0 else {
            throw TansuError(
                .invalidQuery, "The hint \"\(name)\" is a whole number from 0 up", context: "hints.\(name)")
        }
        return number
    }

    private static func selection<Element>(
        of filter: BSONDocument, _ query: RemoteQuery<Element>
    ) throws -> (Selection, QueryTranslation.Unsaid?) {
        guard !filter.isEmpty else { return (.all, nil) }
        var translation = QueryTranslation(
            hasObjectIDs: query.collection.hasObjectIDs, isPlain: query.isPlain)
        let bounds = try translation.query(filter)
        if case .all = bounds.lower { return (bounds.upper, nil) }
        return (bounds.upper, translation.unsaid ?? QueryTranslation.Unsaid([], filter.keys[0]))
    }

    /// A sort of the server, which leaves out documents without a path: the query has to say that they have it.
    private static func sort(
        _ order: BSONDocument, _ selection: Selection, isChecked: Bool
    ) throws -> [BSONValue] {
        try order.map { path, direction in
            guard let keys = QueryTranslation.keys(path), Selection.canName(keys) else {
                throw SyncError(.unsupported, "A server cannot be asked to sort by \"\(path)\"")
            }
            guard !isChecked || keys == ["_id"] || selection.requires(keys) else {
                throw SyncError(
                    .unsupported,
                    "A server that sorts by \"\(path)\" leaves out documents without it; add a condition on it, such as "
                        + "[\"\(path)\": [\"$exists\": true]]")
            }
            let isDescending = (direction.doubleValue ?? 1) < 0
            return .document([Selection.path(keys): isDescending ? "desc" : "asc"])
        }
    }

    /// Whether a document that came matches the query.
    func matches(_ document: BSONDocument) throws -> Bool {
        guard let matcher else { return true }
        guard hidesMembers else { return try matcher.matches(document) }
        var shown = WireMembers(document).fields
        if let id = document["_id"] { shown = BSONDocument([("_id", id)] + shown.map { ($0.key, $0.value) }) }
        return try matcher.matches(shown)
    }

    /// Documents with the fields of the projection.
    func projected(_ documents: [BSONDocument]) async throws -> [BSONDocument] {
        guard let fields, !fields.isEmpty, !documents.isEmpty else { return documents }
        struct Done: Error {}
        let result = Locked<[BSONDocument]>([])
        do {
            try await LocalNames.database().write { transaction in
                let collection = try transaction.collection("projected")
                for document in documents {
                    let id = try collection.save(document)
                    let query = collection.find(["_id": ["$eq": id]], hints: ["$fields": .document(fields)])
                    guard let found = try query.first() else { continue }
                    result.withLock { $0.append(found) }
                    _ = try collection.remove(id: id)
                }
                throw Done()
            }
        } catch is Done {}
        return result.withLock { $0 }
    }
}

/// The names at the top of documents that a query looks at.
private struct TopFields {
    private(set) var names: Set<BytewiseText> = []
    /// Whether it looks at every field.
    private(set) var isWild = false

    init(_ filter: BSONDocument) { add(filter) }

    private mutating func add(_ filter: BSONDocument) {
        for (key, value) in filter {
            guard key.utf8.first == UInt8(ascii: "$") else {
                add(path: key)
                continue
            }
            switch value {
            case .document(let inner) where key == "$not": add(inner)
            case .array(let parts):
                for case .document(let part) in parts { add(part) }
            default: if key != "$comment" { isWild = true }
            }
        }
    }

    private mutating func add(path: String) {
        guard let keys = QueryTranslation.keys(path), Selection.canName([keys[0]]) else {
            isWild = true
            return
        }
        names.insert(BytewiseText(Selection.path([keys[0]])))
    }

    /// The fields that are needed for the query and a projection; nil for whole documents.
    func needed(for fields: BSONDocument?) -> Set<BytewiseText>? {
        guard !isWild, let fields else { return nil }
        var needed = self
        for (path, value) in fields {
            if path != "_id", value.doubleValue == 0 || value == .bool(false) { return nil }
            guard value.doubleValue != nil || value == .bool(true) || path == "_id" else { return nil }
            needed.add(path: path)
        }
        return needed.isWild ? nil : needed.names
    }
}
#endif
