#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// The records that a page of changes is made of: those of an index, or those of a few documents.
final class ChangesSource {
    private var found: [DocumentRecord] = []
    private var cursor: RevisionStore.Records?

    init(
        after start: Int64, _ query: ChangesQuery, _ filter: ChangesFilter, batch: Int, in store: RevisionStore
    ) throws {
        if case .ids(let ids) = filter, filter.looksUp {
            let records = try store.documents(ids.map(\.text)).values
            if query.isDescending {
                found = records.filter { $0.sequence < start }.sorted { $0.sequence < $1.sequence }
            } else {
                found = records.filter { $0.sequence > start }.sorted { $0.sequence > $1.sequence }
            }
        } else if query.isDescending {
            cursor = try store.changes(before: start, limit: batch)
        } else {
            cursor = try store.changes(after: start, limit: batch)
        }
    }

    func next() throws -> DocumentRecord? {
        guard let cursor else { return found.popLast() }
        return try cursor.read()
    }

    func close() { cursor?.close() }
}

/// The changes of a database as an answer, which may stay open.
struct ChangesFeed: Sendable {
    let query: ChangesQuery
    let filter: ChangesFilter
    let text: SequenceText
    let collection: ReplicatedCollection
    /// That of the database when the request came.
    let updateSequence: Int64
    /// The sequence after which it begins; descending, before which.
    let start: Int64

    /// What was sent so far.
    private struct Progress {
        /// Where the next page begins.
        var position: Int64
        var count = 0
        /// Whether the limit ended it.
        var isLimited = false
        /// The sequence of the last row.
        var lastRow: Int64?
    }

    private func page(_ progress: Progress, through end: Int64) async throws -> ChangesPage {
        let limit = query.limit - progress.count
        let (position, count) = (progress.position, progress.count)
        return try await collection.read { [query, filter, text] store in
            try ChangesPage(
                after: position, through: end, limit: limit, number: count, query, filter, text, in: store)
        }
    }

    /// Sends everything up to a sequence.
    private func send(
        _ progress: inout Progress, through end: Int64,
        _ write: (ChangesPage.Row, _ isFirst: Bool) async throws -> Void
    ) async throws {
        while true {
            let page = try await page(progress, through: end)
            for row in page.rows {
                try await write(row, progress.count == 0)
                progress.count += 1
                progress.lastRow = row.sequence
            }
            progress.position = page.last
            if progress.count >= query.limit {
                progress.isLimited = true
                return
            }
            if page.isEnd {
                if !query.isDescending { progress.position = max(progress.position, end) }
                return
            }
        }
    }

    /// The sequence that the answer ends with, and how many changes come after it.
    private func end(_ progress: Progress, isFirstRound: Bool = true) async throws -> (
        sequence: String, pending: Int
    ) {
        let last: Int64
        if query.isDescending {
            last = progress.lastRow ?? 0
        } else if progress.isLimited {
            last = progress.lastRow ?? start
        } else {
            last = progress.position
        }
        let (start, filter, query) = (start, filter, query)
        let pending = try await collection.read { store in
            if query.isDescending {
                return progress.isLimited ? try store.changeCount(after: 0) - store.changeCount(after: last - 1) : 0
            }
            // Where CouchDB looks documents up, it has seen none of the others.
            if isFirstRound, filter.looksUp { return try store.changeCount(after: start) - progress.count }
            return try store.changeCount(after: last)
        }
        return (text(last), max(0, pending))
    }
}

extension ChangesFeed {
    /// All changes there are.
    func normal(_ tag: String) -> Response {
        .streamed(headers: HTTPFields.json.merging([.eTag: tag])) { stream in
            try await stream.write("{\"results\":[\n")
            var progress = Progress(position: start)
            try await send(&progress, through: updateSequence) { row, isFirst in
                if !isFirst { stream.append(",\n") }
                try await row.text.write(to: &stream, of: collection)
            }
            let end = try await end(progress)
            try await stream.write("\n],\n\"last_seq\":\"\(end.sequence)\",\"pending\":\(end.pending)}\n")
        }
    }

    /// Changes as they come.
    func live(_ request: ServerRequest) throws -> Response {
        let feed = try request.server.feeds.open(for: request.channel)
        switch query.feed {
        case .normal, .longpoll: return longpoll(feed)
        case .continuous: return lines(feed, isEventSource: false)
        case .eventSource: return lines(feed, isEventSource: true)
        }
    }

    /// Runs the closure; false when the database was deleted meanwhile, which ends a feed.
    private func whileThere(_ body: () async throws -> Void) async throws -> Bool {
        do { try await body() } catch let error as SyncError where error.code == .notReplicated {
            return false
        }
        return true
    }

    /// Waits for the next change; false when the feed ends.
    private func wait(
        _ feed: Feed, after sequence: Int64, heartbeat: () async throws -> Void
    ) async throws -> Bool {
        do {
            return try await feed.waits(heartbeatEvery: query.heartbeat, timeout: query.timeout) { [collection] in
                try await collection.waitForChange(after: sequence)
            } heartbeat: {
                try await heartbeat()
            }
        } catch let error as SyncError where error.code == .notReplicated {
            // The database was deleted.
            return false
        }
    }

    /// The update sequence now; nil when the database is gone.
    private func currentSequence() async throws -> Int64? {
        try? await collection.read { $0.info().updateSequence }
    }

    private func longpoll(_ feed: Feed) -> Response {
        .streamed { stream in
            try await stream.write("{\"results\":[\n")
            try await stream.flush()
            var progress = Progress(position: start)
            var isFirstRound = true
            while let sequence = try await currentSequence() {
                let isThere = try await whileThere {
                    try await send(&progress, through: sequence) { row, isFirst in
                        if !isFirst { stream.append(",\n") }
                        try await row.text.write(to: &stream, of: collection)
                    }
                }
                if !isThere || progress.count > 0 || progress.isLimited || query.isDescending { break }
                isFirstRound = false
                let goesOn = try await wait(feed, after: progress.position) {
                    try await stream.write("\n")
                    try await stream.flush()
                }
                if !goesOn { break }
            }
            let end = try? await end(progress, isFirstRound: isFirstRound)
            let last = end?.sequence ?? text(progress.position)
            try await stream.write("\n],\n\"last_seq\":\"\(last)\",\"pending\":\(end?.pending ?? 0)}\n")
        }
    }

    private func lines(_ feed: Feed, isEventSource: Bool) -> Response {
        var headers = HTTPFields.json
        if isEventSource { headers = [.contentType: "text/event-stream", .cacheControl: "no-cache"] }
        return .streamed(headers: headers) { stream in
            var progress = Progress(position: start)
            var isFirstRound = true
            while let sequence = try await currentSequence() {
                let isThere = try await whileThere {
                    try await send(&progress, through: sequence) { row, _ in
                        guard isEventSource else {
                            try await row.text.write(to: &stream, of: collection)
                            return try await stream.write("\n")
                        }
                        try await stream.write("data: ")
                        try await row.text.write(to: &stream, of: collection)
                        try await stream.write("\nid: \"\(text(row.sequence))\"\n\n")
                    }
                }
                if !isThere || progress.isLimited || query.isDescending { break }
                isFirstRound = false
                try await stream.flush()
                let goesOn = try await wait(feed, after: progress.position) {
                    try await stream.write(isEventSource ? "event: heartbeat\ndata: \n\n" : "\n")
                    try await stream.flush()
                }
                if !goesOn { break }
            }
            if isEventSource { return try await stream.write("\n") }
            let end = try? await end(progress, isFirstRound: isFirstRound)
            let last = end?.sequence ?? text(progress.position)
            try await stream.write("{\"last_seq\":\"\(last)\",\"pending\":\(end?.pending ?? 0)}\n")
        }
    }
}

extension ChangesFilter {
    /// Whether CouchDB answers it by looking up documents.
    var looksUp: Bool {
        switch self {
        case .ids(let ids): ids.count <= 100
        case .designs: true
        case .all, .selector: false
        }
    }
}

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
