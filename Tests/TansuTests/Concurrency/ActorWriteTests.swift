import Foundation
import Tansu
import TansuTestSupport
import Testing

// That these compile is what is tested first: closures of `write` use the state of the actor that they are written in.

private actor Counter {
    let db: Database
    private(set) var n = 0
    private(set) var log: [String] = []

    init(_ db: Database) {
        self.db = db
    }

    func increment() async throws {
        try await db.write { tx in
            self.assertIsolated()
            self.n += 1
            try tx.collection("counts").save(["_id": 1, "n": BSONValue(self.n)])
        }
    }

    func incrementOnly() async throws {
        try await db.write { _ in self.n += 1 }
    }

    func incrementAwaiting() async throws {
        try await db.write { tx in
            self.assertIsolated()
            self.n += 1
            try await tx.collection("counts").save(["_id": 1, "n": BSONValue(self.n)])
            self.assertIsolated()
        }
    }

    func fail() async throws {
        struct Refused: Error {}
        try await db.write { tx in
            try tx.collection("counts").save(["_id": 2])
            self.log.append("failed")
            throw Refused()
        }
    }

    func writeInside() async throws -> TansuError.Code? {
        try await db.write { _ in
            do {
                try self.db.collection("counts").save(["_id": 3])
                return nil
            } catch let error as TansuError {
                return error.code
            }
        }
    }

    /// What else happens on the actor while a write waits.
    func note(_ text: String) { log.append(text) }

    /// A result that is not Sendable.
    func results() async throws -> Int {
        final class Box { var value = 0 }
        let box = try await db.write { _ in
            let box = Box()
            box.value = self.n
            return box
        }
        return box.value
    }

    func elsewhere() async throws -> Bool {
        try await db.write(isolation: nil) { @Sendable _ in Thread.current.isMainThread }
    }
}

@MainActor
private final class ViewModel {
    let people: Database.Collection<Person>
    var saved = 0
    var names: [String] = []

    init(_ people: Database.Collection<Person>) {
        self.people = people
    }

    func save(_ person: Person, in db: Database) async throws {
        try await db.write { tx in
            MainActor.assertIsolated()
            try tx.collection("people", of: Person.self).save(person)
            self.saved += 1
        }
    }

    func load() async throws {
        names = try await people.find().sorted(by: \.name).all().map(\.name)
        if let mike = try await people.get(Person.mike.id) { names.append(mike.name) }
    }
}

@Suite("Writes in actors")
struct ActorWriteTests {
    @Test("The closure of a write changes the actor's state, on the actor")
    func actor() async throws {
        let db = try patientDatabase()
        let counter = Counter(db)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for i in 0..<60 {
                group.addTask {
                    if i.isMultiple(of: 3) {
                        try await counter.increment()
                    } else if i.isMultiple(of: 2) {
                        try await counter.incrementAwaiting()
                    } else {
                        try await counter.incrementOnly()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await counter.n == 60)
        try await counter.increment()
        #expect(try await db.collection("counts").find().all() == [["_id": 1, "n": 61]])
        #expect(try await counter.results() == 61)
        _ = try await counter.elsewhere()
        try await db.close()
    }

    @Test("An error rolls back the documents, not the actor's state; a write of its own inside is busy")
    func failing() async throws {
        let db = try patientDatabase()
        let counter = Counter(db)
        await #expect(throws: (any Error).self) { try await counter.fail() }
        #expect(await counter.log == ["failed"])
        #expect(try await counter.writeInside() == .busy)
        #expect(try await db.collection("counts").count() == 0)
        try await db.close()
    }

    @Test("The actor is free while its write waits for another writer, and a cancelled one ends at once")
    func waiting() async throws {
        let db = try patientDatabase()
        let counter = Counter(db)
        let held = Signal()
        let release = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? db.write { _ in
                Task { await held.give() }
                release.wait()
            }
        }
        await held.wait()
        let cancelled = Task { try await counter.increment() }
        let waiting = Task { try await counter.increment() }
        for _ in 0..<20 { await Task.yield() }
        await counter.note("free")
        #expect(await counter.log == ["free"])
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(await counter.n == 0)
        release.signal()
        try await waiting.value
        #expect(await counter.n == 1)
        try await db.close()
    }

    @Test("A class on the main actor saves and reads with its state")
    @MainActor
    func mainActor() async throws {
        let db = try patientDatabase()
        let model = ViewModel(try db.collection("people", of: Person.self))
        try await model.save(.mike, in: db)
        try await model.save(.rosa, in: db)
        try await model.load()
        #expect(model.saved == 2 && model.names == ["mike", "rosa", "mike"])
    }

    @Test("A closure that is written outside of actors runs on a thread of the database")
    func outside() async throws {
        let db = try patientDatabase()
        var thread: ObjectIdentifier?
        try await db.write { _ in thread = current() }
        #expect(thread != nil && thread != current())
        try await db.close()
    }

    private func current() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }
}
