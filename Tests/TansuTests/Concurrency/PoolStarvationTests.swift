import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

/// Calls each kind of short read, as an app does on an actor.
private actor Reader {
    func read(_ people: Database.Collection<BSONDocument>) async throws {
        for _ in 0..<20 {
            #expect(try await people.get(1)?["_id"] == 1)
            #expect(try await people.get(ids: [1, 2]).count == 2)
            #expect(try await people.find(["_id": 2]).first() != nil)
            #expect(try await people.find(["_id": 3]).count() == 1)
        }
    }
}

@Suite("Short calls beside a hundred slow ones", .timeLimit(.minutes(20)))
struct PoolStarvationTests {
    @Test("Short reads and writes go on beside slow queries")
    func slowQueries() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people")
        let text = String(repeating: "ab", count: 50)
        try await people.save((0..<20_000).map { ["_id": BSONValue($0), "t": .string(text)] })
        let slow: BSONDocument = ["t": ["$regex": "a.b.*c$"]]
        let tasks = (0..<100).map { number in
            Task {
                while true {
                    try Task.checkCancellation()
                    switch number % 4 {
                    case 0: _ = try await people.find(slow).all()
                    case 1: _ = try await people.find(slow).count()
                    case 2: _ = try await people.find(slow).first()
                    default: _ = try await db.read { try $0.collection("people").find(slow).count() }
                    }
                }
            }
        }
        let reader = Reader()
        try await reader.read(people)
        try await people.save(["_id": -1])
        try await db.write { _ = try $0.collection("people").remove(id: -1) }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        try await db.close()
    }

    @Test("Calls of every kind during close end with a result, .closed or .busy", arguments: 0..<5)
    func closing(round: Int) async throws {
        let (db, people) = try fourPeople()
        let tasks = (0..<60).map { number in
            Task {
                for _ in 0..<200 {
                    switch number % 6 {
                    case 0: _ = try await people.get(1)
                    case 1: _ = try await people.get(ids: [1, 2])
                    case 2: _ = try await people.find().all()
                    case 3: _ = try await people.find().first()
                    case 4: try await people.save(["_id": 5, "n": BSONValue(number)])
                    default: try await db.write { tx in _ = try await tx.collection("people").find().count() }
                    }
                }
            }
        }
        for _ in 0..<(round * 50) { await Task.yield() }
        while true {
            do {
                try await db.close()
                break
            } catch let error as TansuError where error.code == .busy {}
        }
        for task in tasks {
            do { try await task.value } catch {
                #expect((error as? TansuError)?.code == .closed, "\(error)")
            }
        }
        await #expect(throws: TansuError.self) { try await people.get(1) }
    }
}
