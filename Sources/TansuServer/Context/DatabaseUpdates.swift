#if TansuServer
import Tansu
import TansuBSON

/// Which databases were created, updated and deleted: what `_db_updates` lists.
///
/// It is read from the change stream of the whole database, when somebody asks. As in CouchDB a database is listed once with
/// each kind of change, where the newest one was. Nothing is stored: sequences are those of this object.
final class DatabaseUpdates: Sendable {
    enum Kind: String, Sendable {
        case created, updated, deleted
    }

    struct Row: Sendable {
        let name: String
        let kind: Kind
        let sequence: Int64
    }

    /// Rows after a sequence.
    struct Page: Sendable {
        var rows: [Row]
        /// The newest sequence.
        var last: Int64
    }

    private struct Key: Hashable {
        let name: BytewiseText
        let kind: Kind
    }

    /// What was read.
    private struct Log {
        /// The sequences of another one mean nothing here.
        let instance = randomHex(byteCount: 16)
        var sequences: [Key: Int64] = [:]
        var last: Int64 = 0

        mutating func note(_ name: String, _ kind: Kind) {
            guard !CommandLimits.isOwned(name) else { return }
            last += 1
            sequences[Key(name: BytewiseText(name), kind: kind)] = last
        }
    }

    private struct State {
        var reader: Database.ChangeReader
        /// Nil before somebody asks, and after a long time without.
        var log: Log?
        var lastUse = ContinuousClock.now
    }

    private let database: Database
    private let state: Locked<State>

    /// A position is known as long as somebody asks once in this time.
    private static let lifetime: Duration = .seconds(3_600)

    init(_ database: Database) throws {
        self.database = database
        state = Locked(State(reader: try Database.ChangeReader(database)))
    }

    /// The name of the sequences, and the newest one.
    func position() async throws -> (instance: String, last: Int64) {
        try await following { ($0.instance, $0.last) }
    }

    /// The first rows after a sequence; of all of them the last ones first if it is descending.
    func page(after sequence: Int64, limit: Int, isDescending: Bool) async throws -> Page {
        try await following { log in
            let rows = log.sequences.filter { $0.value > sequence }
                .map { Row(name: $0.key.name.text, kind: $0.key.kind, sequence: $0.value) }
                .sorted { ($0.sequence < $1.sequence) != isDescending }
            return Page(rows: Array(rows.prefix(limit)), last: log.last)
        }
    }

    /// Ends when the newest sequence is above a number.
    func waitForChange(after sequence: Int64) async throws {
        while true {
            let reader = state.withLock { $0.reader }
            let mark = try reader.mark()
            if try await position().last > sequence { return }
            await reader.wait(after: mark)
            try Task.checkCancellation()
        }
    }

    /// Reads on, or skips what nobody wants to know: compaction keeps what was not read.
    func tidy() {
        state.withLock { state in
            if state.log != nil, state.lastUse + Self.lifetime > .now, (try? Self.follow(&state)) != nil { return }
            state.log = nil
            try? state.reader.skip()
        }
    }

    private func following<Result: Sendable>(
        _ body: @escaping @Sendable (Log) throws -> Result
    ) async throws -> Result {
        try await database.runReading { [self] _ in
            try state.withLock { state in
                state.lastUse = .now
                do {
                    if state.log == nil { state.log = try begin() }
                    try Self.follow(&state)
                } catch {
                    // The stream is not complete any more: everything begins again.
                    state.reader = try Database.ChangeReader(database)
                    state.log = try begin()
                }
                return try body(state.log ?? begin())
            }
        }
    }

    /// The databases that there are.
    private func begin() throws -> Log {
        var log = Log()
        for info in try database.collections() {
            log.note(info.name, .created)
            if info.documents > 0 { log.note(info.name, .updated) }
        }
        return log
    }

    private static func follow(_ state: inout State) throws {
        while let change = try state.reader.next() {
            switch change.kind {
            case .insert, .update, .remove:
                // A revision that does not win changes nothing else.
                let name = change.collection.dropping(prefix: "tansu.revisions.") ?? change.collection
                state.log?.note(name, .updated)
            case .collectionCreated: state.log?.note(change.collection, .created)
            case .collectionDropped: state.log?.note(change.collection, .deleted)
            case .collectionRenamed(let name):
                state.log?.note(change.collection, .deleted)
                state.log?.note(name, .created)
            }
        }
    }
}
#endif
