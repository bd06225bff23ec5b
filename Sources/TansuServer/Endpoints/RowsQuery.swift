#if TansuServer
import TansuBSON
import TansuSync

/// What a request for rows of documents asks for.
struct RowsQuery: Sendable {
    var startKey: BSONValue?
    var endKey: BSONValue?
    /// Where rows begin when the key is no text.
    var startID: String?
    var endID: String?
    var keys: [BSONValue]?
    var isDescending = false
    var includesEnd = true
    var limit: Int?
    var skip = 0
    var includesDocuments = false
    var includesConflicts = false
    var includesAttachments = false
    var includesEncoding = false
    var includesSequence = false
    private var isGrouping = false
    private var isReducing = false

    /// The queries of a request to `/queries`.
    static func list(of request: ServerRequest) async throws -> [RowsQuery] {
        let body = try await request.jsonObject()
        guard let list = body["queries"] else {
            throw HTTPFailure.badRequest("POST body must include `queries` parameter.")
        }
        guard case .array(let array) = list else {
            throw HTTPFailure.badRequest("`queries` member must be an array.")
        }
        return try array.map { element in
            guard case .document(let members) = element else {
                throw HTTPFailure.badRequest("`queries` member must be an array of objects.")
            }
            var query = RowsQuery()
            try query.take(request.query)
            try query.take(members)
            try query.validate()
            return query
        }
    }

    /// Reads the members of a JSON body.
    mutating func take(_ body: BSONDocument) throws {
        if let keys = body["keys"], keys.arrayValue == nil, keys != .null {
            throw HTTPFailure.badRequest("`keys` body member must be an array.")
        }
        for (name, value) in body { try take(name, value) }
    }

    /// Reads the parameters of a query, of which JSON values are text.
    mutating func take(_ query: QueryParameters) throws {
        for (name, value) in query.items { try take(name, text: value) }
    }

    private static let jsonNames = ["key", "keys", "startkey", "start_key", "endkey", "end_key"]

    private mutating func take(_ name: String, text: String) throws {
        guard Self.jsonNames.contains(name) else { return try take(name, .string(text)) }
        do {
            try take(name, BSONValue(plainJSON: text))
        } catch is BSONError {
            throw HTTPFailure.invalidJSON
        }
    }

    private mutating func take(_ name: String, _ value: BSONValue) throws {
        switch name {
        case "key": (startKey, endKey) = (value, value)
        case "keys":
            guard case .array(let array) = value else {
                throw HTTPFailure.badRequest("`keys` parameter must be an array.")
            }
            keys = Array(array)
        case "startkey", "start_key": startKey = value
        case "endkey", "end_key": endKey = value
        case "startkey_docid", "start_key_doc_id": startID = value.stringValue
        case "endkey_docid", "end_key_doc_id": endID = value.stringValue
        case "limit": limit = try Self.count(value)
        case "skip": skip = try Self.count(value)
        case "descending": isDescending = try Self.flag(value)
        case "inclusive_end": includesEnd = try Self.flag(value)
        case "include_docs": includesDocuments = try Self.flag(value)
        case "conflicts": includesConflicts = try Self.flag(value)
        case "attachments": includesAttachments = try Self.flag(value)
        case "att_encoding_info": includesEncoding = try Self.flag(value)
        case "update_seq": includesSequence = try Self.flag(value)
        case "group": isGrouping = try Self.flag(value)
        case "group_level": isGrouping = try Self.count(value) > 0
        case "reduce": isReducing = try Self.flag(value)
        case "sorted": _ = try Self.flag(value)
        case "stale": try Self.require(value, in: ["ok", "update_after"], or: "Invalid value for `stale`.")
        case "stable": try Self.require(value, in: ["true", "false"], or: "Invalid value for `stable`.")
        case "update": try Self.require(value, in: ["true", "false", "lazy"], or: "Invalid value for `update`.")
        case "partition":
            throw HTTPFailure.queryParseError("`partition` parameter is not supported in this database.")
        default: break
        }
    }

    /// - Throws: ``HTTPFailure`` when something is asked for that excludes something else, or that only views have.
    func validate() throws {
        if let keys, !keys.isEmpty, startKey != nil || endKey != nil {
            // `keys=["a"]&key="a"` says one thing twice, which CouchDB takes.
            guard let startKey, let endKey, keys == [startKey], keys == [endKey] else {
                throw HTTPFailure.queryParseError("`keys` is incompatible with `key`, `start_key` and `end_key`")
            }
        }
        if isReducing { throw HTTPFailure.queryParseError("Reduce is invalid for map-only views.") }
        if isGrouping { throw HTTPFailure.queryParseError("Invalid use of grouping on a map view.") }
    }

    private static func flag(_ value: BSONValue) throws -> Bool {
        switch value {
        case .bool(let flag): return flag
        case .string(let text) where text.asciiLowercased == "true": return true
        case .string(let text) where text.asciiLowercased == "false": return false
        default: throw HTTPFailure.queryParseError("Invalid boolean parameter: \(value.wireJSON)")
        }
    }

    private static func count(_ value: BSONValue) throws -> Int {
        let number: Int?
        switch value {
        case .string(let text): number = Int(text)
        default: number = value.intValue
        }
        let text = value.wireJSON
        guard let number else { throw HTTPFailure.queryParseError("Invalid value for integer: \(text)") }
        guard number >= 0 else { throw HTTPFailure.queryParseError("Invalid value for positive integer: \(text)") }
        return number
    }

    private static func require(_ value: BSONValue, in allowed: [String], or reason: String) throws {
        let text = value.stringValue ?? value.boolValue.map { "\($0)" } ?? ""
        guard allowed.contains(text) else { throw HTTPFailure.queryParseError(reason) }
    }
}

/// A range of ids in the order of a listing.
struct DocumentRange: Sendable {
    var lower: String?
    var includesLower = true
    var upper: String?
    var includesUpper = true
    var isDescending: Bool

    /// The range of a query. As in CouchDB each key that is no text comes before every id.
    init(_ query: RowsQuery, _ scope: DocumentScope) {
        isDescending = query.isDescending
        let start = query.startKey ?? query.startID.map { .string($0) }
        let end = query.endKey ?? query.endID.map { .string($0) }
        if isDescending { includesLower = query.includesEnd } else { includesUpper = query.includesEnd }
        lower = (isDescending ? end : start)?.stringValue
        if let bound = isDescending ? start : end {
            upper = bound.stringValue ?? ""
            if bound.stringValue == nil { includesUpper = false }
        }
        guard scope == .designs else { return }
        narrow(from: DocumentName.designPrefix, to: Self.afterDesigns)
    }

    /// The least text that is greater than all ids of design documents.
    private static let afterDesigns = "_design0"

    private mutating func narrow(from first: String, to last: String) {
        if lower.map({ Self.precedes($0, first) }) ?? true { (lower, includesLower) = (first, true) }
        if upper.map({ Self.precedes(last, $0) }) ?? true { (upper, includesUpper) = (last, false) }
    }

    private static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    /// Whether it is a bound that does not belong to the range.
    func excludes(_ id: String) -> Bool { (!includesLower && id == lower) || (!includesUpper && id == upper) }

    func contains(_ id: String) -> Bool {
        if let lower {
            if Self.precedes(id, lower) || (!includesLower && id.utf8.elementsEqual(lower.utf8)) { return false }
        }
        if let upper {
            if Self.precedes(upper, id) || (!includesUpper && id.utf8.elementsEqual(upper.utf8)) { return false }
        }
        return true
    }

    /// What is left of the range after an id.
    func after(_ id: String) -> DocumentRange {
        var rest = self
        if isDescending {
            (rest.upper, rest.includesUpper) = (id, false)
        } else {
            (rest.lower, rest.includesLower) = (id, false)
        }
        return rest
    }
}

// MARK: - DocumentRange: reading

extension DocumentRange {
    /// The documents of the range in its order.
    func forEach(in store: RevisionStore, _ body: (DocumentRecord) throws -> Bool) throws {
        guard !isEmpty(in: store) else { return }
        let cursor = try store.documents(from: lower, to: upper, isDescending: isDescending)
        defer { cursor.close() }
        while let record = try cursor.read() {
            if !excludes(record.id), try !body(record) { return }
        }
    }

    /// How many documents are in the range.
    func count(in store: RevisionStore) throws -> Int {
        let cursor = try store.documents(from: lower, to: upper)
        defer { cursor.close() }
        var count = 0
        while let record = try cursor.read() {
            if !excludes(record.id) { count += 1 }
        }
        return count
    }

    /// How many documents come before the range.
    func countBefore(in store: RevisionStore) throws -> Int {
        guard let start = isDescending ? upper : lower else { return 0 }
        return try store.documentCount(before: start, isDescending: isDescending)
    }

    private func isEmpty(in store: RevisionStore) -> Bool {
        if upper == "", !includesUpper { return true }
        // Ids that are no text have another order than their names.
        guard !store.isUnrecorded, let lower, let upper else { return false }
        return upper.utf8.lexicographicallyPrecedes(lower.utf8)
    }
}
#endif
