#if TansuServer
import HTTPTypes
import HummingbirdCore
import Tansu
import TansuBSON
import TansuSync

/// `/{db}/_words`: searches by the index of words of a collection, which CouchDB has not. GET describes the index, PUT creates it, POST
/// asks it: `{"search": …}`, `{"complete": "wor"}` or `{"suggest": "wrod"}`.
enum WordsEndpoint {
    static let route = Route(
        "/:db/_words", allow: "GET,POST,PUT",
        [.get: .init(describe), .post: .init(ask), .put: .init(.databaseAdmin, create)])

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
        try request.requireJSONContentType()
        let body = try await request.jsonObject()
        guard case .document(let keys)? = body["keys"], keys.allSatisfy({ $0.value == "text" }), !keys.isEmpty else {
            throw HTTPFailure.badRequest("`keys` must be paths with \"text\", or {\"**\": \"text\"}")
        }
        var description: BSONDocument = ["name": .string(indexName), "keys": .document(keys)]
        for option in ["weights", "language", "languageField", "positions"] { description[option] = body[option] }
        let info = Database.IndexInfo(description)
        let collection = try request.nativeCollection()
        try await answering {
            try await request.database.runReading { _ in try collection.ensureIndex(like: info) }
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
        let index = try await request.wordIndex()
        let query = try request.nativeCollection().search(search).skip(skip).limit(limit + 1).ranked()
        let clock = ContinuousClock()
        let start = clock.now
        let found = try await query.all()
        let time = milliseconds(clock.now - start)
        // Analysing the texts of many documents takes its time.
        let hits = try await request.database.runReading { _ in
            try found.prefix(limit).map { hit -> BSONValue in
                let snippets = try Snippets(of: hit.value, index: index, search: search).json
                let id = hit.value["_id"] ?? .null
                return [
                    "id": .string(RevisionStore.text(of: id) ?? id.wireJSON), "score": .double(hit.score),
                    "snippets": snippets,
                ]
            }
        }
        return .json([
            "hits": .array(BSONArray(hits)), "more": .bool(found.count > limit), "time_ms": time,
        ])
    }

    // MARK: - Helpers

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
        _ = try collection()
        return try database.collection(databaseName)
    }

    /// The index of words of the database that the path names.
    fileprivate func wordIndex() async throws -> Database.IndexInfo? {
        try await nativeCollection().indexes().first { $0.text != nil }
    }
}

/// The parts of a document's texts that show why a search found it.
private struct Snippets {
    /// Of so many snippets, from so many bytes of texts.
    private static let (most, bytesMost) = (3, 1 << 18)

    private(set) var json: BSONValue = .array([])

    init(of document: BSONDocument, index: Database.IndexInfo?, search: TextSearch) throws {
        guard let index, let options = index.text else { return }
        var rest = Self.bytesMost
        var snippets: [BSONValue] = []
        for key in index.keys {
            let path = key.path.utf8.elementsEqual("**".utf8) ? nil : key.path
            for text in Self.texts(document, at: path) {
                rest -= text.utf8.count
                guard rest >= 0, snippets.count < Self.most else { break }
                let found = try Database.highlights(
                    of: text, for: search, language: options.language, path: path, snippets: 1)
                guard !found.ranges.isEmpty, let snippet = found.snippets.first else { continue }
                let parts = snippet.parts(of: text).map { part -> BSONValue in
                    ["text": .string(String(part.text)), "found": .bool(part.isFound)]
                }
                snippets.append(["path": path.map { .string($0) } ?? .null, "parts": .array(BSONArray(parts))])
            }
        }
        json = .array(BSONArray(snippets))
    }

    /// The strings at a path, or everywhere.
    private static func texts(_ document: BSONDocument, at path: String?) -> [String] {
        var texts: [String] = []
        func visit(_ value: BSONValue, _ parts: ArraySlice<String>?) {
            switch value {
            case .string(let text) where parts?.isEmpty ?? true: texts.append(text)
            case .array(let array): for element in array { visit(element, parts) }
            case .document(let document):
                guard let parts else {
                    for (_, value) in document { visit(value, nil) }
                    return
                }
                if let first = parts.first, let value = document[first] { visit(value, parts.dropFirst()) }
            default: break
            }
        }
        visit(.document(document), path.map { $0.parts(separatedBy: ".")[...] })
        return texts
    }
}
#endif
