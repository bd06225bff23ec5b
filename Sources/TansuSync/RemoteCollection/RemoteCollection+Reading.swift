#if TansuSync
public import Foundation
import Tansu
import TansuBSON

extension RemoteCollection {
    /// The greatest number of ids in one request.
    private static var idsAtOnce: Int { 200 }

    /// The document with an id, or `nil` when there is none.
    ///
    /// - Parameter id: Its `_id`.
    /// - Throws: ``SyncError``; `DecodingError`; `CancellationError`.
    @_disfavoredOverload
    public func get(_ id: some DocumentID) async throws -> Element? {
        guard let document = try await document(onServer(id)) else { return nil }
        return try element(document)
    }

    /// The documents with some ids.
    ///
    /// - Parameter ids: Their `_id`s.
    /// - Returns: The documents in the order of the ids. Ids without a document are left out.
    /// - Throws: ``SyncError``; `DecodingError`; `CancellationError`.
    @_disfavoredOverload
    public func get(ids: some Sequence<some DocumentID>) async throws -> [Element] {
        try await elements(ids.map { try onServer($0) })
    }

    /// The revision of a document; nil when there is no such document.
    ///
    /// - Parameter id: Its `_id`.
    /// - Throws: ``SyncError``; `CancellationError`.
    @_disfavoredOverload
    public func revision(of id: some DocumentID) async throws -> Revision? {
        guard let text = try await revisionText(onServer(id)) else { return nil }
        return try revision(text)
    }

    func elements(_ ids: [String]) async throws -> [Element] {
        var elements: [Element] = []
        for start in stride(from: 0, to: ids.count, by: Self.idsAtOnce) {
            let part = Array(ids[start..<min(start + Self.idsAtOnce, ids.count)])
            for row in try await rows(part, includesDocuments: true) {
                if let document = row["doc"]?.documentValue { try elements.append(element(received(document))) }
            }
        }
        return elements
    }

    // MARK: Requests

    /// A document as this side has it, with its revision; nil when there is none.
    func document(_ id: String) async throws -> BSONDocument? {
        let answer = try await connection.json("GET", RemoteURL.path(ofDocument: id), accepted: [404])
        guard answer.status != 404 else { return nil }
        guard let document = answer.value.documentValue, document["_id"] == .string(id),
            document["_rev"]?.stringValue != nil
        else { throw invalidAnswer("It answers GET of \"\(id)\" with what is not this document") }
        return try received(document)
    }

    /// The revision of a document that is there.
    func revisionText(_ id: String) async throws -> String? {
        let value = try await rows([id], includesDocuments: false).first?["value"]
        return value?["deleted"] == true ? nil : value?["rev"]?.stringValue
    }

    /// The rows of `_all_docs` for some ids, in their order.
    private func rows(_ ids: [String], includesDocuments: Bool) async throws -> [BSONValue] {
        let text = RemoteConnection.text(of: ["keys": .array(BSONArray(ids.map { .string($0) }))])
        let rows = try await connection.calling { database in
            try await database.perform(
                "POST", "_all_docs", query: includesDocuments ? [("include_docs", "true")] : [], body: .json(text)
            ) { answer in
                var rows: [BSONValue] = []
                _ = try await HTTPPeer.elements("rows", of: answer) { element in
                    guard rows.count < ids.count else {
                        throw RemoteFailure.invalidAnswer("_all_docs answers more rows than it was asked for")
                    }
                    // A document is a member of its row.
                    guard let row = try? BSONValue(wireJSON: element, documentDepth: 2) else {
                        throw RemoteFailure.invalidAnswer("A row of _all_docs cannot be read")
                    }
                    rows.append(row)
                }
                return rows
            }
        }
        for (id, row) in zip(ids, rows) where row["key"] != .string(id) {
            throw invalidAnswer("_all_docs answers another row than that of \"\(id)\"")
        }
        guard rows.count == ids.count else { throw invalidAnswer("_all_docs answers fewer rows than ids") }
        return rows
    }

    func invalidAnswer(_ reason: String) -> SyncError {
        var failure = RemoteFailure.invalidAnswer(reason)
        failure.location = url
        return SyncError(remote: failure)
    }

    func revision(_ text: String?) throws -> Revision {
        guard let revision = text.flatMap({ Revision($0) }) else {
            throw invalidAnswer("It answers \"\(text ?? "")\" as the revision of a document")
        }
        return revision
    }
}

extension RemoteCollection where Element: Identifiable, Element.ID: Encodable & Sendable {
    /// The value with an id, or `nil` when there is none.
    ///
    /// - Parameter id: Its id, which is stored as `_id`.
    /// - Throws: ``SyncError``; `DecodingError`; `CancellationError`.
    public func get(_ id: Element.ID) async throws -> Element? {
        try await get(local.storedID(id))
    }

    /// The values with some ids.
    ///
    /// - Parameter ids: Their ids, which are stored as `_id`.
    /// - Returns: The values in the order of the ids. Ids without a document are left out.
    /// - Throws: ``SyncError``; `DecodingError`; `CancellationError`.
    public func get(ids: some Sequence<Element.ID>) async throws -> [Element] {
        try await elements(ids.map { try RemoteIDs.onServer(local.storedID($0)) })
    }

    /// The revision of a value; nil when there is none.
    ///
    /// - Parameter id: Its id, which is stored as `_id`.
    /// - Throws: ``SyncError``; `CancellationError`.
    public func revision(of id: Element.ID) async throws -> Revision? {
        try await revision(of: local.storedID(id))
    }

    /// Changes one value by a closure, as ``update(id:_:)-(DocumentID,_)`` does.
    ///
    /// - Parameters:
    ///   - id: Its id, which is stored as `_id` and must stay the same.
    ///   - body: What to change. It may run several times.
    /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is none.
    /// - Throws: As that one.
    @discardableResult
    public func update(id: Element.ID, _ body: (inout Element) throws -> Void) async throws -> Element? {
        try await update(id: local.storedID(id), body)
    }

    /// Removes a value.
    ///
    /// - Parameter id: Its id, which is stored as `_id`.
    /// - Returns: Whether it existed.
    /// - Throws: ``SyncError``; `CancellationError`.
    @discardableResult
    public func remove(id: Element.ID) async throws -> Bool {
        try await remove(id: local.storedID(id))
    }

    /// Removes a revision of a value, if it is the newest one.
    ///
    /// - Parameters:
    ///   - id: Its id, which is stored as `_id`.
    ///   - revision: The revision that the caller has.
    /// - Throws: ``SyncError``, of code `conflict` when the document was changed or removed since; `CancellationError`.
    public func remove(id: Element.ID, revision: Revision) async throws {
        try await remove(id: local.storedID(id), revision: revision)
    }
}

// MARK: - Finding

extension RemoteCollection {
    /// A query for the documents that match. It runs when its documents are requested.
    ///
    /// The server is asked for what Mango can say of it, and what it finds is tested by this side: so the result is that of
    /// a collection of this process.
    ///
    /// - Parameters:
    ///   - query: Which documents; all but design documents when empty.
    ///   - hints: `$orderby`, `$skip`, `$max` and `$fields`; the methods of the query set the same options.
    public func find(_ query: BSONDocument = [:], hints: BSONDocument = [:]) -> RemoteQuery<Element> {
        RemoteQuery(self, local.find(query, hints: hints))
    }

    /// A query for the documents that match, decoded as another type, for the fields that `$fields` includes.
    ///
    /// - Parameters:
    ///   - query: Which documents; all but design documents when empty.
    ///   - hints: Options, such as `["$fields": ["name": 1]]`.
    ///   - type: What documents are decoded as.
    public func find<Other: Codable & Sendable>(
        _ query: BSONDocument = [:], hints: BSONDocument = [:], as type: Other.Type
    ) -> RemoteQuery<Other> { find(query, hints: hints).decoded(as: type) }

    /// A query for the documents that match a condition on the properties of their type.
    ///
    /// - Parameter condition: The condition. It runs once, to build the query.
    /// - Throws: `TansuError` with `.invalidQuery`: the stored name of a property is not known, or a value cannot be stored.
    public func find(
        _ condition: (Database.Field<Element>) -> Database.Condition
    ) throws -> RemoteQuery<Element> { RemoteQuery(self, try local.find(condition)) }

    /// A query for the documents that match a predicate of Foundation.
    ///
    /// - Parameter predicate: The predicate.
    /// - Throws: `TansuError` with `.invalidQuery`: an unsupported expression; what `find` with a closure throws.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    public func find(_ predicate: Predicate<Element>) throws -> RemoteQuery<Element> {
        RemoteQuery(self, try local.find(predicate))
    }

    /// A query whose selector is sent as it is, and means what it means to CouchDB.
    ///
    /// - Parameter selector: A selector of Mango, such as `["age": ["$gt": 21]]`.
    public func find(mango selector: BSONDocument) -> RemoteQuery<Element> {
        var query = find()
        query.mango = selector
        return query
    }

    /// How many documents match. The server sends their ids, and the fields that the query is about.
    ///
    /// - Parameters:
    ///   - query: Which documents; all but design documents when empty.
    ///   - hints: Options; `$skip` and `$max` count too.
    /// - Throws: As ``RemoteQuery/all()``.
    public func count(_ query: BSONDocument = [:], hints: BSONDocument = [:]) async throws -> Int {
        try await find(query, hints: hints).count()
    }
}

// MARK: - RemoteIDs

/// Ids on this side, and as text on the server.
enum RemoteIDs {
    /// Whether a type declares its id as an ObjectId.
    static func areObjectIDs<Element: Decodable>(of type: Element.Type) -> Bool {
        if type == BSONDocument.self { return false }
        if let type = type as? any Identifiable.Type { return isObjectID(idOf: type) }
        // A type without that protocol says so when it refuses text.
        do { _ = try BSONDecoder().decode(type, from: ["_id": ""]) } catch {
            if case DecodingError.typeMismatch(let expected, let context)? = error as? DecodingError {
                return expected == ObjectID.self && context.codingPath.count == 1
            }
        }
        return false
    }

    private static func isObjectID<Value: Identifiable>(idOf type: Value.Type) -> Bool {
        Value.ID.self == ObjectID.self || Value.ID.self == ObjectID?.self
    }

    /// The text that an id is on the server.
    static func onServer(_ id: BSONValue) throws(SyncError) -> String {
        switch id {
        case .string(let text):
            do { try DocumentName.validate(id: text) } catch {
                throw SyncError(.unusableID, "The _id \"\(text)\" is invalid: \(error.reason)")
            }
            return text
        case .objectID(let id): return id.hexString
        default:
            throw SyncError(
                .unusableID, "The _id \(id) cannot be on a server; use text or an ObjectId")
        }
    }

    /// The id that a text of the server is on this side.
    static func here(_ text: String, areObjectIDs: Bool) -> BSONValue {
        if areObjectIDs, let id = ObjectID(text), id.hexString == text { return .objectID(id) }
        return .string(text)
    }
}

extension RemoteCollection {
    /// The text that an id of this side is on the server.
    func onServer(_ id: some DocumentID) throws(SyncError) -> String { try RemoteIDs.onServer(local.stored(id)) }

    /// A document of the server as this side has it.
    func received(_ document: BSONDocument) throws -> BSONDocument {
        guard case .string(let id)? = document["_id"] else {
            throw RemoteFailure.invalidAnswer("A document in its answer has no _id")
        }
        guard hasObjectIDs else { return document }
        var document = document
        document["_id"] = RemoteIDs.here(id, areObjectIDs: true)
        return document
    }

    /// The value of a document of the server.
    func element(_ document: BSONDocument) throws -> Element {
        try document.withUnsafeBytes { try local.codec.decode($0) }
    }
}
#endif
