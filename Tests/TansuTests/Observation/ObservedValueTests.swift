import TansuTestSupport
import Testing

@testable import Tansu

#if canImport(Observation)
import Observation

/// A view model as an app has one: computed from an observed value, and observable itself.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
@Observable
private final class PeopleModel {
    private let people: Database.ObservedValue<[Person]>

    init(_ people: Database.Collection<Person>) {
        self.people = Database.ObservedValue(people.find().sorted(by: "name").observe())
    }

    var names: [String] { (people.value ?? []).map(\.name) }
}

private struct Reference {
    weak var object: AnyObject?
}

/// A sequence that fails at once whenever it is asked, and counts how often that was.
private struct Failing: AsyncSequence, AsyncIteratorProtocol, Sendable {
    struct Failed: Error {}

    private let calls = Locked(0)

    var count: Int { calls.withLock { $0 } }

    func makeAsyncIterator() -> Failing { self }

    func next() async throws -> Int? {
        calls.withLock { $0 += 1 }
        throw Failed()
    }
}

@Suite("Observed values on the main actor", .timeLimit(.minutes(20)))
@MainActor
struct ObservedValueTests {
    @Test("Holds the newest value, and notifies those that read it")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func newest() async throws {
        let (db, people) = try fourPeople()
        let count = Database.ObservedValue(db.observe { try $0.collection("people").count() })
        #expect(count.value == nil && count.error == nil)
        await changed { count.value }
        #expect(count.value == 4)
        try await people.save(["_id": 9])
        if count.value == 4 { await changed { count.value } }
        #expect(count.value == 5)
        count.stop()
        try await people.save(["_id": 10])
        while db.engine.openFeeds > 0 { await Task.yield() }
        #expect(count.value == 5)
        try await db.close()
    }

    @Test("A model that is computed from one is observable")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func model() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        let model = PeopleModel(people)
        try await people.save([.rosa, .mike])
        while model.names != ["mike", "rosa"] { await changed { model.names } }
        try await people.save(.omar)
        while model.names.count < 3 { await changed { model.names } }
        #expect(model.names == ["mike", "omar", "rosa"])
    }

    @Test("An error of decoding ends with the next result, also when that equals the last")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func decodingErrors() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        try await people.save(.mike)
        let list = Database.ObservedValue(people.find().observe())
        while list.value == nil { await changed { list.value } }
        try await db.collection("people").save(["_id": "bad"])
        while list.error == nil { await changed { list.error } }
        #expect(list.error is DecodingError && list.value == [.mike])
        try await db.collection("people").remove(id: "bad")
        while list.error != nil { await changed { list.error } }
        #expect(list.value == [.mike])
    }

    @Test("Shows an error beside the last value, until there is a new one")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func errors() async throws {
        struct TooMany: Error {}
        let (db, people) = try fourPeople()
        let count = Database.ObservedValue(
            db.observe { snapshot in
                let count = try snapshot.collection("people").count()
                if count > 4 { throw TooMany() }
                return count
            })
        while count.value == nil { await changed { count.value } }
        try await people.save(["_id": 9])
        while count.error == nil { await changed { count.error } }
        #expect(count.error is TooMany && count.value == 4)
        try await people.remove(id: 9)
        while count.error != nil { await changed { count.error } }
        #expect(count.value == 4)
        try await db.close()
        while count.error == nil { await changed { count.error } }
        #expect((count.error as? TansuError)?.code == .closed)
    }

    @Test("What fails at once is asked less and less often, and does not keep the main actor")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func failing() async throws {
        let failing = Failing()
        let value = Database.ObservedValue(failing)
        while failing.count < 5 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(value.error is Failing.Failed)
        for _ in 0..<10_000 { await Task.yield() }
        #expect(failing.count < 1000)
        value.stop()
    }

    @Test("Ends when it is released")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func released() async throws {
        let (db, _) = try fourPeople()
        var count: Database.ObservedValue? = Database.ObservedValue(
            db.observe { try $0.collection("people").count() })
        while count?.value == nil { await Task.yield() }
        let reference = Reference(object: count)
        count = nil
        #expect(reference.object == nil)
        while db.engine.openFeeds > 0 { await Task.yield() }
        try await db.close()
    }

    @Test("Stopping keeps the newest value, and is no error")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func stopping() async throws {
        let (db, people) = try fourPeople()
        let count = Database.ObservedValue(db.observe { try $0.collection("people").count() })
        while count.value == nil { await Task.yield() }
        count.stop()
        while db.engine.openFeeds > 0 { await Task.yield() }
        try await people.save(["_id": 9])
        for _ in 0..<100 { await Task.yield() }
        #expect(count.value == 4)
        #expect(count.error == nil)
        let early = Database.ObservedValue(db.observe { try $0.collection("people").count() })
        early.stop()
        while db.engine.openFeeds > 0 { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        #expect(early.error == nil)
        try await db.close()
    }

    /// Waits until what `read` reads is about to change, and then until it has.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    private func changed<Value>(_ read: () -> Value) async {
        await withCheckedContinuation { continuation in
            withObservationTracking {
                _ = read()
            } onChange: {
                continuation.resume()
            }
        }
        await Task.yield()
    }
}
#endif
