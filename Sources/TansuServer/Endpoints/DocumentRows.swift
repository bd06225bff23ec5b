#if TansuServer
import TansuBSON
import TansuSync

/// One list of documents, read in batches: memory does not grow with the list.
struct DocumentRows: Sendable {
    private let query: RowsQuery
    private let scope: DocumentScope
    private let collection: ReplicatedCollection
    private let range: DocumentRange
    private let total: Int
    private let offset: Int
    private let sequence: String

    /// Rows of one transaction, unless they are large.
    private static let batch = 256
    /// Bytes of rows after which a transaction ends.
    private static let fullSize = 1 << 20

    init(_ query: RowsQuery, _ scope: DocumentScope, _ collection: ReplicatedCollection) async throws {
        self.query = query
        self.scope = scope
        self.collection = collection
        let range = DocumentRange(query, scope)
        self.range = range
        (total, offset, sequence) = try await collection.read { store in
            let info = store.info()
            let total = scope == .all ? Int(info.documents) : try DocumentRange(RowsQuery(), scope).count(in: store)
            let before = try range.countBefore(in: store)
            let offset = query.skip < total - before ? before + query.skip : total
            return (total, offset, SequenceText(instance: info.instance)(info.updateSequence))
        }
    }

    func write(to stream: inout AnswerStream) async throws {
        var head = "{\"total_rows\":\(total),\"offset\":\(query.keys == nil ? "\(offset)" : "null")"
        if query.includesSequence { head += ",\"update_seq\":\"\(sequence)\"" }
        try await stream.write(head + ",\"rows\":[")
        if let keys = query.keys {
            try await write(keys, to: &stream)
        } else {
            try await writeRange(to: &stream)
        }
        try await stream.write("\r\n]}")
    }

    private func writeRange(to stream: inout AnswerStream) async throws {
        var next: DocumentRange? = range
        var skip = query.skip
        var left = query.limit ?? .max
        var isFirst = true
        while let current = next, left > 0 {
            let (wanted, skipped, query) = (min(left, Self.batch), skip, query)
            let (rows, rest) = try await collection.read { store in
                try Self.rows(current, wanted, skip: skipped, query, in: store)
            }
            for row in rows {
                stream.append(isFirst ? "\r\n" : ",\r\n")
                try await row.write(to: &stream, of: collection)
                isFirst = false
            }
            left -= rows.count
            next = rest
            skip = 0
        }
    }

    /// The first rows of a range, and the range after them if there may be more.
    private static func rows(
        _ range: DocumentRange, _ wanted: Int, skip: Int, _ query: RowsQuery, in store: RevisionStore
    ) throws -> ([AnswerText], DocumentRange?) {
        var rows: [AnswerText] = []
        var left = skip
        var size = 0
        var rest: DocumentRange?
        try range.forEach(in: store) { record in
            if left > 0 {
                left -= 1
                return true
            }
            let row = try row(record, query, in: store)
            rows.append(row)
            size += row.sizeInMemory
            guard rows.count == wanted || size >= fullSize else { return true }
            rest = range.after(record.id)
            return false
        }
        return (rows, rest)
    }

    private func write(_ keys: [BSONValue], to stream: inout AnswerStream) async throws {
        var keys = keys
        if scope == .designs {
            keys.removeAll { $0.stringValue?.hasPrefix(DocumentName.designPrefix) != true }
        }
        if query.isDescending { keys.reverse() }
        let wanted = keys.dropFirst(query.skip).prefix(query.limit ?? .max)
        for (index, key) in wanted.enumerated() {
            let query = query
            let row = try await collection.read { store in
                guard case .string(let id) = key, let record = try store.document(id) else {
                    return Self.missing(key)
                }
                return try Self.row(record, query, in: store)
            }
            try await stream.write(index == 0 ? "\r\n" : ",\r\n")
            try await row.write(to: &stream, of: collection)
        }
    }

    private static func missing(_ key: BSONValue) -> AnswerText {
        var writer = WireJSONWriter()
        writer.raw("{\"key\":")
        writer.value(key)
        writer.raw(",\"error\":\"not_found\"}")
        return AnswerText(writer, nil)
    }

    private static func row(
        _ record: DocumentRecord, _ query: RowsQuery, in store: RevisionStore
    ) throws -> AnswerText {
        var writer = WireJSONWriter(capacity: 128)
        writer.raw("{\"id\":")
        writer.string(record.id)
        writer.raw(",\"key\":")
        writer.string(record.id)
        writer.raw(",\"value\":{\"rev\":")
        writer.string(record.winner.description)
        writer.raw(record.isDeleted ? ",\"deleted\":true}" : "}")
        var answer: RevisionAnswer?
        if query.includesDocuments {
            try store.transaction.checkDocuments()
            writer.raw(",\"doc\":")
            var parts = RevisionParts()
            parts.includesConflicts = query.includesConflicts
            parts.includesAttachments = query.includesAttachments
            parts.includesEncoding = query.includesEncoding
            if !record.isDeleted {
                answer = try RevisionAnswer(record, record.winner, parts, .json, in: store, isWinner: true)
            }
            if let answer { answer.text.write(to: &writer) } else { writer.raw("null") }
        }
        writer.raw("}")
        return AnswerText(writer, answer)
    }
}
#endif
