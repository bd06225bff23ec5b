#if TansuServer
    import TansuBSON
    import TansuSync

    /// Some changes after a sequence, read in one transaction.
    struct ChangesPage: Sendable {
        struct Row: Sendable {
            var sequence: Int64
            var text: AnswerText
        }

        /// What passes the filter.
        var rows: [Row] = []
        /// The sequence of the last change that was looked at.
        var last: Int64
        /// Whether there is nothing more.
        var isEnd = true

        /// How many changes are looked at in one transaction.
        private static let batch = 512
        /// Bytes of rows after which a page ends.
        private static let fullSize = 1 << 20
    }

    extension ChangesPage {
        /// Reads changes.
        ///
        /// - Parameters:
        ///   - start: The sequence after which (descending: before which) it reads.
        ///   - end: The last sequence that counts.
        ///   - limit: The greatest number of rows.
        ///   - number: How many rows were sent before.
        init(
            after start: Int64, through end: Int64, limit: Int, number: Int, _ query: ChangesQuery,
            _ filter: ChangesFilter, _ text: SequenceText, in store: RevisionStore
        ) throws {
            last = start
            var examined = 0
            var size = 0
            let source = try ChangesSource(after: start, query, filter, batch: Self.batch + 1, in: store)
            defer { source.close() }
            while let record = try source.next() {
                if record.sequence > end {
                    if query.isDescending { continue }
                    return
                }
                if examined == Self.batch || rows.count == limit || size >= Self.fullSize {
                    isEnd = false
                    return
                }
                examined += 1
                last = record.sequence
                guard let row = try Self.row(record, number + rows.count, query, filter, text, in: store) else {
                    continue
                }
                size += row.sizeInMemory
                rows.append(Row(sequence: record.sequence, text: row))
            }
        }

        /// The JSON text of a change; nil when the filter does not pass it.
        private static func row(
            _ record: DocumentRecord, _ number: Int, _ query: ChangesQuery, _ filter: ChangesFilter,
            _ text: SequenceText, in store: RevisionStore
        ) throws -> AnswerText? {
            var leaves =
                query.listsLeaves ? record.tree.leaves.map(\.revision) : [record.winner]
            switch filter {
            case .all: break
            case .ids(let ids): guard ids.contains(BytewiseText(record.id)) else { return nil }
            case .designs: guard record.id.hasPrefix(DocumentName.designPrefix) else { return nil }
            case .selector(let selector, _):
                leaves = try leaves.filter { revision in
                    guard let document = try store.mangoDocument(record, revision) else { return false }
                    return try selector.matches(document)
                }
                if leaves.isEmpty { return nil }
            }
            var writer = WireJSONWriter(capacity: 160)
            writer.raw("{\"seq\":")
            if number % query.sequenceInterval == 0 {
                writer.string(text(record.sequence))
            } else {
                writer.raw("null")
            }
            writer.raw(",\"id\":")
            writer.string(record.id)
            writer.raw(",\"changes\":[")
            for (index, leaf) in leaves.enumerated() {
                writer.raw(index == 0 ? "{\"rev\":" : ",{\"rev\":")
                writer.string(leaf.description)
                writer.raw("}")
            }
            writer.raw(record.isDeleted ? "],\"deleted\":true" : "]")
            var answer: RevisionAnswer?
            if query.includesDocuments {
                try store.transaction.checkDocuments()
                writer.raw(",\"doc\":")
                answer = try write(record, query, filter, to: &writer, in: store)
            }
            writer.raw("}")
            return AnswerText(writer, answer)
        }

        private static func write(
            _ record: DocumentRecord, _ query: ChangesQuery, _ filter: ChangesFilter,
            to writer: inout WireJSONWriter, in store: RevisionStore
        ) throws -> RevisionAnswer? {
            if case .selector(_, let fields?) = filter {
                let document = try store.mangoDocument(record, record.winner)
                writer.value(document.map { .document($0.projected(to: fields)) } ?? .null)
                return nil
            }
            let answer = try RevisionAnswer(record, record.winner, query.parts, .json, in: store, isWinner: true)
            if let answer { answer.text.write(to: &writer) } else { writer.raw("null") }
            return answer
        }
    }
#endif
