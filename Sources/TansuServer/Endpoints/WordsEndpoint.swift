#if TansuServer
import HTTPTypes
import HummingbirdCore
import Tansu
import TansuBSON
import TansuSync

/// `/{db}/_words`: searches by the index of words of a collection, which CouchDB has not. GET describes the index, PUT creates it, POST
/// asks it: `{"search": …}`, `{"complete": "wor"}` or `{"suggest": "wrod"}`.
enum WordsEndpoint {
    static let route = route(.member, .databaseAdmin)
    /// That of the inspector of a database.
    static let inspectionRoute = route(.serverAdmin, .serverAdmin)

    private static func route(_ access: Access, _ creation: Access) -> Route {
        Route(
            "/:db/_words", allow: "GET,POST,PUT", access: access,
            [.get: .init(describe), .post: .init(ask), .put: .init(creation, create)])
    }

    /// The name of the index that PUT creates.
    private static let indexName = "words"

    private static func describe(_ request: ServerRequest) async throws -> Response {
        guard let index = try await request.wordIndex() else { return .json(["index": .null]) }
        var weights: BSONDocument = [:]
        for key in index.keys { weights[key.path] = BSONValue(index.text?.weights[key.path] ?? 1) }
        return .json([
            "index": [
                "name": .string(index.name), "weights": .document(weights),
                "language": .string(index.text?.language ?? "none"), "entries": BSONValue(index.entries),
            ]
        ])
    }

    private static func create(_ request: ServerRequest) async throws -> Response {
        if request.server.inspection?.allowsWriting == false { throw HTTPFailure.readOnlyInspection }
        try request.requireJSONContentType()
        let body = try await request.jsonObject()
        guard case .document(let keys)? = body["keys"], keys.allSatisfy({ $0.value == "text" }), !keys.isEmpty else {
            throw HTTPFailure.badRequest("`keys` must be paths with \"text\", or {\"**\": \"text\"}")
        }
        var options: BSONDocument = [:]
        for option in ["weights", "language", "languageField", "positions"] { options[option] = body[option] }
        do { try CommandLimits.check(request.databaseName) } catch let refusal as CommandRefusal {
            throw HTTPFailure.forbidden(refusal.description)
        }
        let collection = try request.nativeCollection()
        try await answering { [options] in
            try await request.database.runReading { _ in
                try collection.ensureIndex(indexName, keys: keys, options: options) { _ in }
            }
        }
        return .json(["ok": true, "name": .string(indexName)])
    }

    private static func ask(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let body = try await request.jsonObject()
        return try await answering {
            if let text = body["complete"]?.stringValue { return try await complete(text, body, request) }
            if let text = body["suggest"]?.stringValue { return try await suggest(text, body, request) }
            switch body["search"] {
            case .string(let text): return try await search(TextSearch(text), body, request)
            case .document(let operand): return try await search(TextSearch(operand: operand), body, request)
            default:
                throw HTTPFailure.badRequest(
                    "`search` must be a string or an object, or `complete` or `suggest` a string")
            }
        }
    }

    // MARK: - Questions

    private static func complete(
        _ text: String, _ body: BSONDocument, _ request: ServerRequest
    ) async throws -> Response {
        let limit = try count("limit", in: body, or: 10, upTo: 50)
        let collection = try request.nativeCollection()
        let (found, time) = try await request.database.runReading { _ in
            try timed { try collection.completions(of: text, limit: limit) }
        }
        let completions = found.map { completion -> BSONValue in
            [
                "text": .string(completion.text), "word": .string(completion.word),
                "documents": BSONValue(completion.documents),
            ]
        }
        return .json(["completions": .array(BSONArray(completions)), "time_ms": time])
    }

    private static func suggest(
        _ text: String, _ body: BSONDocument, _ request: ServerRequest
    ) async throws -> Response {
        let limit = try count("limit", in: body, or: 5, upTo: 50)
        let collection = try request.nativeCollection()
        let (found, time) = try await request.database.runReading { _ in
            try timed { try collection.suggestions(for: text, limit: limit) }
        }
        return .json([
            "text": .string(found.text), "differs": .bool(found.hasSuggestions), "time_ms": time,
        ])
    }

    private static func search(
        _ search: TextSearch, _ body: BSONDocument, _ request: ServerRequest
    ) async throws -> Response {
        let limit = try count("limit", in: body, or: 25, upTo: 200)
        let skip = try count("skip", in: body, or: 0, upTo: 1_000_000)
        let hasKeys = body["keys"] == true
        let texts = FoundTexts(search, index: try await request.wordIndex())
        let query = try request.nativeCollection().search(search).skip(skip).limit(limit + 1).ranked()
        let clock = ContinuousClock()
        let start = clock.now
        let found = try await query.all()
        let time = milliseconds(clock.now - start)
        // Analysing the texts of many documents takes its time.
        let hits = try await request.database.runReading { _ in
            found.prefix(limit).map { hit -> BSONValue in
                let snippets = texts.places(in: hit.value, most: snippetsMost, bytes: textsMost).map(json)
                let id = hit.value["_id"] ?? .null
                var found: BSONDocument = [
                    "id": .string(RevisionStore.text(of: id) ?? id.wireJSON), "score": .double(hit.score),
                    "snippets": .array(BSONArray(snippets)),
                ]
                if hasKeys { found["key"] = .string(id.extendedJSON(.canonical)) }
                return .document(found)
            }
        }
        return .json([
            "hits": .array(BSONArray(hits)), "more": .bool(found.count > limit), "time_ms": time,
        ])
    }

    // MARK: - Helpers

    /// Of a document so many snippets, from so many bytes of its texts.
    private static let (snippetsMost, textsMost) = (3, 1 << 18)

    private static func json(_ place: FoundTexts.Place) -> BSONValue {
        let parts = place.snippet.parts(of: place.text).map { part -> BSONValue in
            ["text": .string(String(part.text)), "found": .bool(part.isFound)]
        }
        return ["path": .string(place.path), "parts": .array(BSONArray(parts))]
    }

    private static func count(_ name: String, in body: BSONDocument, or usual: Int, upTo most: Int) throws -> Int {
        guard let value = body[name] else { return usual }
        let least = name == "skip" ? 0 : 1
        guard let number = value.intValue, (least...most).contains(number) else {
            throw HTTPFailure.badRequest("`\(name)` must be a number from \(least) to \(most)")
        }
        return number
    }

    private static func timed<Result>(_ body: () throws -> Result) rethrows -> (Result, BSONValue) {
        let clock = ContinuousClock()
        let start = clock.now
        let result = try body()
        return (result, milliseconds(clock.now - start))
    }

    private static func milliseconds(_ time: Duration) -> BSONValue {
        .double((time / .microseconds(1)).rounded() / 1000)
    }

    /// What the engine says of a search or an index is for who asked.
    private static func answering<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as TansuError {
            switch error.code {
            case .invalidQuery, .invalidIndex, .exists, .unsupported, .tooLarge:
                throw HTTPFailure(.badRequest, "invalid_search", error.message)
            default: throw error
            }
        }
    }
}

extension ServerRequest {
    /// The documents of the database that the path names, without their revisions.
    fileprivate func nativeCollection() throws -> Database.Collection<BSONDocument> {
        // Looking a replicated collection up may write.
        if server.inspection == nil { _ = try collection() }
        return try database.collection(databaseName)
    }

    /// The index of words of the database that the path names.
    fileprivate func wordIndex() async throws -> Database.IndexInfo? {
        try await nativeCollection().indexes().first { $0.text != nil }
    }
}
#endif
