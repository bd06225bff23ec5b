#if TansuSync
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

/// What is known of local changes, against a model of a database in which savers, readers and writers take turns in any order.
@Suite("Store: what is known of local changes")
struct LocalChangesTests {
    @Test("A reader trusts no snapshot that has a change without a revision", arguments: 0..<8)
    func interleavings(seed: UInt64) {
        var random = SeededGenerator(seed: seed &+ 20_261_124)
        var trusted = 0
        for _ in 0..<1_000 {
            var model = Model()
            for _ in 0..<80 { model.step(&random) }
            trusted += model.trusted
            #expect(model.fault == nil)
            if model.fault != nil { return }
        }
        // Readers that trust nothing would pass as well.
        #expect(trusted > 1_000)
    }

    @Test("What was settled is remembered up to a bound; before it, every document counts")
    func bound() {
        var changes = LocalChanges()
        let start = changes.mark
        for number in 0..<200 { changes.note(.int64(Int64(number)), commit: number) }
        changes.settle(changes.take())
        #expect(changes.isEmpty)
        #expect(changes.uncertain.isEmpty)
        #expect(changes.uncertain(since: start)?.count == 200)
        let between = changes.mark
        for number in 200..<300 { changes.note(.int64(Int64(number)), commit: number) }
        changes.settle(changes.take())
        #expect(changes.uncertain(since: start) == nil)
        #expect(changes.uncertain(since: between)?.count == 100)
        let large = changes.mark
        for number in 0..<1_000 { changes.note(.int64(Int64(number)), commit: 1_000) }
        changes.settle(commit: 1_000)
        #expect(changes.uncertain(since: large) == nil)
        #expect(changes.uncertain(since: changes.mark)?.isEmpty == true)
    }

    @Test("Failed transactions put back what they took, with the newest commit of each document")
    func failures() {
        var changes = LocalChanges()
        changes.note("a", commit: 1)
        changes.note("b", commit: 2)
        let taken = changes.take()
        changes.note("b", commit: 3)
        #expect(changes.pending == ["b": 3])
        #expect(changes.uncertain == ["a": 1, "b": 3])
        changes.putBack(taken)
        #expect(changes.pending == ["a": 1, "b": 3])
        // Another thread compared them before the last change.
        changes.settle(["a": 1, "b": 2])
        #expect(changes.pending == ["b": 3])
    }
}

/// A database of three documents, whose commits readers see later than writers do.
private struct Model {
    /// Which documents have a change without a revision, after each commit.
    private var states: [Set<Int>] = [[]]
    /// The document that each commit changed: events of the change stream.
    private var events: [Int: [Int]] = [:]
    private var visible = 0
    private var polled = 0
    private var changes = LocalChanges()
    private var readers: [Reader] = []
    private var writer: Writer?
    private var waiting: [(commit: Int, taken: LocalChanges.Taken)] = []
    private var comparing: (uncertain: [BSONValue: Int], snapshot: Int?)?
    private(set) var trusted = 0
    private(set) var fault: String?

    private struct Reader {
        let mark: Int
        var snapshot: Int?
    }

    private struct Writer {
        let taken: LocalChanges.Taken
    }

    private var head: Int { states.count - 1 }

    private mutating func commit(_ state: Set<Int>, changed: [Int]) {
        states.append(state)
        events[head] = changed
    }

    private mutating func poll() {
        while polled < visible {
            polled += 1
            for document in events[polled] ?? [] { changes.note(.int64(Int64(document)), commit: polled) }
        }
    }

    private static func number(_ id: BSONValue) -> Int { id.intValue ?? -1 }

    mutating func step(_ random: inout SeededGenerator) {
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1: save(&random)
        case 2: visible = Int.random(in: visible...head, using: &random)
        case 3: readers.append(Reader(mark: changes.mark))
        case 4, 5, 6: moveReader(&random)
        case 7, 8: moveWriter(&random)
        case 9: endWriter(&random)
        case 10, 11, 12: compare()
        default: push(&random)
        }
    }

    private mutating func save(_ random: inout SeededGenerator) {
        guard writer == nil else { return }
        let document = Int.random(in: 0..<3, using: &random)
        commit(states[head].union([document]), changed: [document])
    }

    private mutating func moveReader(_ random: inout SeededGenerator) {
        guard let index = readers.indices.randomElement(using: &random) else { return }
        guard let snapshot = readers[index].snapshot else {
            readers[index].snapshot = visible
            return
        }
        let reader = readers.remove(at: index)
        poll()
        guard let uncertain = changes.uncertain(since: reader.mark) else { return }
        let unrevised = states[snapshot]
        if uncertain.keys.contains(where: { unrevised.contains(Self.number($0)) }) { return }
        trusted += 1
        if !unrevised.isEmpty { fault = "Trusted snapshot \(snapshot) with \(unrevised)" }
    }

    /// Begins a transaction that follows what is pending, or commits it.
    private mutating func moveWriter(_ random: inout SeededGenerator) {
        guard let open = writer else {
            poll()
            writer = Writer(taken: changes.take())
            return
        }
        writer = nil
        if Int.random(in: 0..<4, using: &random) == 0 {
            changes.putBack(open.taken)
        } else {
            commit(states[head].subtracting(open.taken.ids.map(Self.number)), changed: [])
            waiting.append((head, open.taken))
        }
    }

    /// Ends the wait of a transaction for the disk.
    private mutating func endWriter(_ random: inout SeededGenerator) {
        guard let index = waiting.indices.randomElement(using: &random) else { return }
        let (commit, taken) = waiting.remove(at: index)
        visible = max(visible, commit)
        changes.settle(taken)
    }

    /// Compares what is uncertain with a snapshot, in two steps.
    private mutating func compare() {
        guard let begun = comparing else {
            poll()
            comparing = (changes.uncertain, nil)
            return
        }
        guard let snapshot = begun.snapshot else {
            comparing?.snapshot = visible
            return
        }
        comparing = nil
        if !begun.uncertain.keys.contains(where: { states[snapshot].contains(Self.number($0)) }) {
            changes.settle(begun.uncertain)
        }
    }

    /// A commit of the layer itself, which gives a document a revision whether or not its change was seen before.
    private mutating func push(_ random: inout SeededGenerator) {
        guard writer == nil else { return }
        let documents =
            Int.random(in: 0..<4, using: &random) == 0 ? [0, 1, 2] : [Int.random(in: 0..<3, using: &random)]
        commit(states[head].subtracting(documents), changed: documents)
        if documents.count == 3 {
            // Known as an own one, sooner or later than its events are read.
            visible = head
            if Bool.random(using: &random) { poll() }
            if Bool.random(using: &random) {
                poll()
                changes.settle(commit: head)
            }
        }
    }
}
#endif
