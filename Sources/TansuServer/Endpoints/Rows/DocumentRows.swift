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

        /// Rows of one transaction.
        private static let batch = 256

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
                return (
                    total, min(total, before + query.skip), SequenceText(instance: info.instance)(info.updateSequence)
                )
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
                let (rows, last, count) = try await collection.read { store in
                    var rows: [[UInt8]] = []
                    var last: String?
                    var count = 0
                    for record in try current.records(in: store, limit: skipped + wanted) {
                        count += 1
                        last = record.id
                        if count > skipped { rows.append(try Self.row(record, query, in: store)) }
                    }
                    return (rows, last, count)
                }
                for row in rows {
                    try await stream.write(isFirst ? "\r\n" : ",\r\n")
                    try await stream.write(row)
                    isFirst = false
                }
                left -= rows.count
                next = count < skipped + wanted ? nil : last.map { current.after($0) }
                skip = 0
            }
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
                try await stream.write(row)
            }
        }

        private static func missing(_ key: BSONValue) -> [UInt8] {
            var writer = WireJSONWriter()
            writer.raw("{\"key\":")
            writer.value(key)
            writer.raw(",\"error\":\"not_found\"}")
            return writer.finish()
        }

        private static func row(
            _ record: DocumentRecord, _ query: RowsQuery, in store: RevisionStore
        ) throws -> [UInt8] {
            var writer = WireJSONWriter(capacity: 128)
            writer.raw("{\"id\":")
            writer.string(record.id)
            writer.raw(",\"key\":")
            writer.string(record.id)
            writer.raw(",\"value\":{\"rev\":")
            writer.string(record.winner.description)
            writer.raw(record.isDeleted ? ",\"deleted\":true}" : "}")
            if query.includesDocuments {
                writer.raw(",\"doc\":")
                var parts = RevisionParts()
                parts.includesConflicts = query.includesConflicts
                parts.includesAttachments = query.includesAttachments
                parts.includesEncoding = query.includesEncoding
                if !record.isDeleted,
                    let answer = try RevisionAnswer(record, record.winner, parts, .json, in: store, isWinner: true)
                {
                    answer.text.write(to: &writer)
                } else {
                    writer.raw("null")
                }
            }
            writer.raw("}")
            return writer.finish()
        }
    }
#endif
