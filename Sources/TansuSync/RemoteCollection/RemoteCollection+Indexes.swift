#if TansuSync
import Tansu
import TansuBSON

/// An index of a database on a server.
public struct RemoteIndex: Sendable, Hashable {
    /// The design document that has it; nil for the index of all documents by their ids.
    public let designDocument: String?
    /// Its name.
    public let name: String
    /// Its kind: `json`, `special` for the index by ids, or another of the server's.
    public let type: String
    /// Its paths, the most significant first.
    public let keys: [Database.IndexKey]
    /// The selector that indexed documents match; nil when all are indexed.
    public let partialFilter: BSONDocument?

    init?(_ value: BSONValue) {
        guard let name = value["name"]?.stringValue, let type = value["type"]?.stringValue,
            let definition = value["def"], case .array(let fields)? = definition["fields"]
        else { return nil }
        self.name = name
        self.type = type
        designDocument = value["ddoc"]?.stringValue
        keys = fields.compactMap { field in
            if case .string(let path) = field { return Database.IndexKey(path) }
            guard let member = field.documentValue?.first else { return nil }
            return Database.IndexKey(member.key, member.value == "desc" ? .descending : .ascending)
        }
        let filter = definition["partial_filter_selector"]?.documentValue
        partialFilter = filter?.isEmpty == true ? nil : filter
    }
}

extension RemoteCollection {
    /// Creates an index over all existing and future documents, unless it exists. Sorts need one, and conditions are faster.
    ///
    /// - Parameters:
    ///   - name: Its name; given by the server when `nil`.
    ///   - paths: The dotted paths that it sorts documents by, the most significant first, all in one direction.
    ///   - designDocument: The design document that is to have it; a new one when nil.
    ///   - partialFilter: A selector of Mango: other documents are not indexed.
    /// - Throws: ``SyncError``; `CancellationError`.
    public func ensureIndex(
        _ name: String? = nil, on paths: KeyValuePairs<String, SortDirection>, designDocument: String? = nil,
        partialFilter: BSONDocument? = nil
    ) async throws {
        try await ensureIndex(
            name, on: paths.map { Database.IndexKey($0.key, $0.value) }, designDocument: designDocument,
            partialFilter: partialFilter)
    }

    /// Creates an index with paths that are known at run time only, unless it exists.
    ///
    /// - Parameters:
    ///   - name: Its name; given by the server when `nil`.
    ///   - keys: The dotted paths that it sorts documents by, the most significant first, all in one direction.
    ///   - designDocument: The design document that is to have it; a new one when nil.
    ///   - partialFilter: A selector of Mango: other documents are not indexed.
    /// - Throws: ``SyncError``; `CancellationError`.
    public func ensureIndex(
        _ name: String? = nil, on keys: [Database.IndexKey], designDocument: String? = nil,
        partialFilter: BSONDocument? = nil
    ) async throws {
        let fields = try keys.map { key -> BSONValue in
            guard let path = QueryTranslation.keys(key.path), Selection.canName(path) else {
                throw SyncError(.unsupported, "A server has no index on \"\(key.path)\"")
            }
            return .document([Selection.path(path): key.direction == .ascending ? "asc" : "desc"])
        }
        var index: BSONDocument = ["fields": .array(BSONArray(fields))]
        if let partialFilter { index["partial_filter_selector"] = .document(partialFilter) }
        var body: BSONDocument = ["index": .document(index), "type": "json"]
        if let name { body["name"] = .string(name) }
        if let designDocument { body["ddoc"] = .string(designDocument) }
        _ = try await connection.json("POST", "_index", body: body)
    }

    /// Creates an index over properties, unless it exists.
    ///
    /// - Parameters:
    ///   - name: Its name; given by the server when `nil`.
    ///   - keyPaths: The properties that it sorts documents by, the most significant first.
    ///   - direction: The direction of all of them.
    /// - Throws: ``SyncError``; `TansuError` with `.invalidQuery`: the stored name of a property is not known;
    ///   `CancellationError`.
    public func ensureIndex<each Value>(
        _ name: String? = nil, on keyPaths: repeat KeyPath<Element, each Value>,
        direction: SortDirection = .ascending
    ) async throws {
        var keys: [Database.IndexKey] = []
        for keyPath in repeat each keyPaths {
            keys.append(Database.IndexKey(try local.storedPath(of: keyPath), direction))
        }
        try await ensureIndex(name, on: keys)
    }

    /// The indexes for queries, the one by ids among them.
    ///
    /// - Throws: ``SyncError``; `CancellationError`.
    public func indexes() async throws -> [RemoteIndex] {
        let answer = try await connection.json("GET", "_index")
        guard case .array(let list)? = answer["indexes"] else {
            throw invalidAnswer("_index answers no list of indexes")
        }
        return list.compactMap { RemoteIndex($0) }
    }

    /// Drops an index.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - designDocument: The design document that has it; looked for when nil.
    /// - Throws: ``SyncError``, of code `notFound` when there is none; `CancellationError`.
    public func dropIndex(_ name: String, designDocument: String? = nil) async throws {
        var owner = designDocument
        if owner == nil { owner = try await indexes().first { $0.name == name }?.designDocument }
        guard var owner else {
            throw SyncError(.notFound, "There is no index \"\(name)\" in \(url); list them with indexes()")
        }
        if !owner.hasPrefix(DocumentName.designPrefix) { owner = DocumentName.designPrefix + owner }
        let path = "_index/\(RemoteURL.path(ofDocument: owner))/json/\(RemoteURL.encoded(name))"
        _ = try await connection.json("DELETE", path)
    }
}
#endif
