import Foundation
import Tansu
import Testing

/// What the loops of the guide saw, told to the test.
private actor Screen {
    private(set) var names: [String] = []
    private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    func set(_ people: [Person]) { changed(people.map(\.name)) }
    func remove(at index: Int) { changed(names.enumerated().filter { $0.offset != index }.map(\.element)) }
    func insert(_ person: Person, at index: Int) {
        names.insert(person.name, at: index)
        changed(names)
    }
    func reload(_ person: Person, at index: Int) {
        names[index] = person.name
        changed(names)
    }

    /// Returns when so many names are shown.
    func shows(_ count: Int) async {
        guard names.count != count else { return }
        await withCheckedContinuation { waiting = (count, $0) }
    }

    private func changed(_ new: [String]) {
        names = new
        guard let (count, continuation) = waiting, count == names.count else { return }
        waiting = nil
        continuation.resume()
    }
}

@Suite("The examples of the guide to observation")
struct ObservationGuideTests {
    @Test("Every Swift example stands in this file, which compiles and runs it")
    func examplesAreHere() throws {
        let file = URL(fileURLWithPath: #filePath)
        let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("docs/observation.md"), encoding: .utf8)
        let here = words(try String(contentsOf: file, encoding: .utf8))
        let examples = text.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(examples.count == 3)
        for example in examples { #expect(here.contains(words(example)), "\(example)") }
    }

    private func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Closes the database, which ends the loop with `.closed`.
    private func end(_ db: Database, _ loop: Task<Void, any Error>) async throws {
        try await db.close()
        let error = await #expect(throws: TansuError.self) { try await loop.value }
        #expect(error?.code == .closed)
    }

    @Test("Changes")
    func changes() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        try await people.save(.mike)
        let loop = Task {
            for try await change in people.changes() {
                print(change.kind, change.id ?? "", change.after?.name ?? "")
            }
        }
        try await end(db, loop)
    }

    @Test("An observed query")
    func observed() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        let screen = Screen()
        let loop = Task {
            func show(_ people: [Person]) async { await screen.set(people) }
            for try await adults in people.find(["age": ["$gte": 18]]).sorted(by: "name").observe() {
                await show(adults)
            }
        }
        try await people.save([.mike, .rosa])
        await screen.shows(1)
        #expect(await screen.names == ["rosa"])
        try await end(db, loop)
    }

    @Test("The steps between lists")
    func steps() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        let screen = Screen()
        let loop = Task {
            func remove(at index: Int) async { await screen.remove(at: index) }
            func insert(_ person: Person, at index: Int) async { await screen.insert(person, at: index) }
            func move(_ from: Int, _ to: Int) { Issue.record("nothing is moved here: \(from) to \(to)") }
            func reload(_ person: Person, at index: Int) async { await screen.reload(person, at: index) }
            for try await update in people.find().sorted(by: "name").observeChanges() {
                for change in update.changes {
                    switch change {
                    case .removed(let index): await remove(at: index)  // of the old list
                    case .inserted(let index): await insert(update.elements[index], at: index)
                    case .moved(let from, let to): move(from, to)  // from the old, to the new list
                    case .updated(let index): await reload(update.elements[index], at: index)
                    }
                }
            }
        }
        try await people.save([.rosa, .mike])
        await screen.shows(2)
        try await people.save(.omar)
        await screen.shows(3)
        #expect(await screen.names == ["mike", "omar", "rosa"])
        try await people.remove(id: Person.omar.id)
        await screen.shows(2)
        #expect(await screen.names == ["mike", "rosa"])
        try await end(db, loop)
    }
}
