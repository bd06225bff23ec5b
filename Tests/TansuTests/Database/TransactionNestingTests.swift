import Tansu
import TansuTestSupport
import Testing

/// The table "what may stand in what" of ConcurrencyAndTransactions.md.
@Suite("Nested transactions")
struct TransactionNestingTests {
    private func code(_ body: () throws -> Void) -> TansuError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? TansuError)?.code
        }
    }

    @Test("Inside a write: a write is busy, a read sees what was committed before, savepoints nest")
    func insideWrite() throws {
        let (db, people) = try fourPeople()
        try db.write { tx in
            let inside = try tx.collection("people")
            try inside.remove(id: 1)
            #expect(code { try db.write { _ in } } == .busy)
            #expect(code { try people.save(["_id": 9]) } == .busy)
            #expect(code { try people.update(id: 2) { $0["x"] = 1 } } == .busy)
            #expect(code { try people.bulk([.removeID(2)]) } == .busy)
            #expect(code { try db.setSchema([:], for: "people") } == .busy)
            let seen = try db.read { try $0.collection("people").count() }
            #expect(seen == 4)
            #expect(try people.count() == 4)
            try tx.savepoint {
                #expect(code { try people.save(["_id": 9]) } == .busy)
                try tx.savepoint { _ = try inside.save(["_id": 10]) }
            }
            #expect(try inside.count() == 4)
        }
        #expect(try people.count() == 4)
    }

    @Test("Inside a read: a write is allowed and not seen, through the transaction it is rejected")
    func insideRead() throws {
        let (db, people) = try fourPeople()
        try db.read { snapshot in
            try people.remove(id: 1)
            try db.write { try $0.collection("people").remove(id: 2) }
            let inside = try snapshot.collection("people")
            #expect(try inside.count() == 4)
            let nested = try db.read { try $0.collection("people").count() }
            #expect(nested == 2)
            #expect(code { try inside.save(["_id": 9]) } == .readOnly)
            #expect(code { try inside.update(id: 3) { $0["x"] = 1 } } == .readOnly)
            #expect(code { try inside.bulk([.removeID(3)]) } == .readOnly)
            #expect(code { try snapshot.savepoint {} } == .readOnly)
        }
        #expect(try people.count() == 2)
    }

    @Test("Inside a write that awaits: every other write is busy immediately, also from a task that it started")
    func insideAwaitingWrite() async throws {
        let (db, people) = try fourPeople()
        try await db.write { tx async throws in
            let inside = try tx.collection("people")
            try await inside.update(id: 1) { $0["x"] = 1 }
            let calls: [@Sendable () async throws -> Void] = [
                { try await people.save(["_id": 9]) },
                { try await people.update(id: 2) { $0["x"] = 1 } },
                { try await people.update([:]) { $0["x"] = 1 } },
                { try await people.bulk([.removeID(2)]) },
                { try await db.write { _ in } },
                { try await db.write { _ async throws in } },
                { try await Task { _ = try await people.save(["_id": 9]) }.value },
            ]
            for (number, call) in calls.enumerated() {
                let error = await #expect(throws: TansuError.self) { try await call() }
                #expect(error?.code == .busy, "call \(number)")
            }
            #expect(try await people.count(["x": 1]) == 0)
        }
        #expect(try await people.count(["x": 1]) == 1)
    }

    @Test("Inside the closure of an update: any other write is busy immediately, on whatever thread the closure runs")
    func insideClosure() async throws {
        let (db, people) = try fourPeople()
        try await people.update(id: 1) { person in
            let error = #expect(throws: TansuError.self) { try people.save(["_id": 9]) }
            #expect(error?.code == .busy)
            person["x"] = try BSONValue(people.count())
        }
        try await db.write { tx async throws in
            try await tx.collection("people").update(id: 2) { person in
                let error = #expect(throws: TansuError.self) { try db.write { _ in } }
                #expect(error?.code == .busy)
                person["x"] = try BSONValue(people.count())
            }
        }
        #expect(try await people.count(["x": 4]) == 2)
        #expect(try await people.count() == 4)
    }

    @Test("A detached task that the closure waits for times out rather than waiting forever")
    func detached() async throws {
        let db = try Database(.memory, options: .init(busyTimeout: .milliseconds(20)))
        let people = try db.collection("people")
        try await db.write { tx async throws in
            try await tx.collection("people").save(["_id": 1])
            let error = await #expect(throws: TansuError.self) {
                try await Task.detached { _ = try await people.save(["_id": 2]) }.value
            }
            #expect(error?.code == .busy)
        }
        #expect(try await people.count() == 1)
    }
}
