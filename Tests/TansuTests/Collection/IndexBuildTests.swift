import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Index builds")
struct IndexBuildTests {
    private struct Enough: Error {}

    private func numbers(_ count: Int) throws -> (Database, Database.Collection<BSONDocument>) {
        let db = try Database(.memory)
        let numbers = try db.collection("numbers")
        try numbers.save((0..<count).map { ["_id": BSONValue($0), "n": BSONValue($0 % 1000)] })
        return (db, numbers)
    }

    @Test("A build reports how many documents are read, never decreasing")
    func progress() throws {
        let (_, numbers) = try numbers(3000)
        var states: [Database.Progress] = []
        try numbers.ensureIndex("n", on: ["n": .ascending]) { states.append($0) }
        #expect(states.count >= 3)
        #expect(states.map(\.done) == states.map(\.done).sorted())
        #expect(states.allSatisfy { $0.total == 3000 })
        #expect(states.last?.fraction ?? 0 > 0.5)
        #expect(try numbers.indexes().map(\.entries) == [3000])
    }

    @Test("The async variant reports too")
    func asyncProgress() async throws {
        let (_, numbers) = try numbers(3000)
        let (states, continuation) = AsyncStream.makeStream(of: Database.Progress.self)
        try await numbers.ensureIndex("n", on: ["n": .ascending]) { continuation.yield($0) }
        continuation.finish()
        var totals: Set<Int?> = []
        for await state in states { totals.insert(state.total) }
        #expect(totals == [3000])
        #expect(try await numbers.indexes().map(\.name) == ["n"])
    }

    @Test("What the progress closure throws ends the build, is rethrown, and leaves no index", arguments: [3, 3000])
    func stops(count: Int) async throws {
        let (db, numbers) = try numbers(count)
        #expect(throws: Enough.self) { try numbers.ensureIndex("n", on: ["n": .ascending]) { _ in throw Enough() } }
        await #expect(throws: Enough.self) {
            try await numbers.ensureIndex("n", on: ["n": .ascending]) { _ in throw Enough() }
        }
        #expect(try await numbers.indexes().isEmpty)
        try await numbers.ensureIndex("n", on: ["n": .ascending])
        #expect(try await numbers.indexes().map(\.entries) == [count])
        try await db.close()
    }

    @Test("A task that is cancelled while its index is built gets a CancellationError, and there is no index")
    func cancelled() async throws {
        let (db, numbers) = try numbers(3000)
        let begun = Signal()
        let goOn = DispatchSemaphore(value: 0)
        let task = Task {
            try await numbers.ensureIndex("n", on: ["n": .ascending]) { state in
                if state.done > 0 { return }
                Task { await begun.give() }
                goOn.wait()
            }
        }
        await begun.wait()
        task.cancel()
        goOn.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await numbers.indexes().isEmpty)
        try await db.close()
    }

    @Test("A cancellation that meets the build's end leaves a complete index or none")
    func races() async throws {
        let (db, numbers) = try numbers(600)
        for round in 0..<100 {
            let task = Task { try await numbers.ensureIndex("n", on: ["n": .ascending]) }
            for _ in 0..<(round * 2) { await Task.yield() }
            task.cancel()
            switch await task.result {
            case .success:
                #expect(try await numbers.indexes().map(\.entries) == [600])
                try await numbers.dropIndex("n")
            case .failure(let error):
                #expect(error is CancellationError)
                #expect(try await numbers.indexes().isEmpty)
            }
        }
        try await db.close()
    }

    @Test("What is written while an index is built is in it")
    func writesMeanwhile() throws {
        let (_, numbers) = try numbers(1000)
        try numbers.ensureIndex("n", on: ["n": .ascending]) { state in
            try numbers.save(["_id": BSONValue(5000 + state.done), "n": -1])
            try numbers.remove(id: 7)
        }
        let added = try numbers.count(["_id": ["$gte": 5000]])
        #expect(added > 0)
        #expect(try numbers.find(["n": -1], hints: ["$index": "n"]).all().count == added)
        #expect(try numbers.indexes().map(\.entries) == [999 + added])
    }

    @Test("In a transaction an index is built without progress reports")
    func transaction() throws {
        let (db, numbers) = try numbers(600)
        var calls = 0
        try db.write { tx in
            try tx.collection("numbers").ensureIndex("n", on: ["n": .ascending]) { _ in calls += 1 }
        }
        #expect(calls == 0)
        #expect(try numbers.indexes().map(\.entries) == [600])
    }
}
