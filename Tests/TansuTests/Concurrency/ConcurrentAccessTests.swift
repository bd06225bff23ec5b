import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Concurrent access")
struct ConcurrentAccessTests {
    @Test("Readers see whole commits only while writers write")
    func readersAndWriters() async throws {
        let db = try patientDatabase()
        // Every commit moves an amount from one account to the other: the sum is the same at every moment.
        try await db.collection("accounts").save([["_id": 1, "sum": 100], ["_id": 2, "sum": 100]])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<40 {
                        try await db.write { tx in
                            let accounts = try tx.collection("accounts")
                            for (id, change) in [(1, -1), (2, 1)] {
                                let sum = try accounts.get(id)?["sum"]?.intValue ?? 0
                                try accounts.save(["_id": BSONValue(id), "sum": BSONValue(sum + change)])
                            }
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<100 {
                        let sums = try await db.collection("accounts").find().all().compactMap { $0["sum"]?.intValue }
                        #expect(sums.count == 2 && sums.reduce(0, +) == 200)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await db.collection("accounts").get(1)?["sum"]?.intValue == -20)
    }

    @Test("Documents saved from many threads at once are all there, each with an id of its own")
    func manyThreads() throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("p"), options: .init(durability: .process))
        let people = try db.collection("people")
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for i in 0..<50 {
                do {
                    try people.save(["thread": BSONValue(thread), "i": BSONValue(i)])
                } catch {
                    Issue.record(error)
                }
            }
        }
        #expect(try people.count() == 400)
        #expect(try people.count(["thread": 5]) == 50)
        #expect(Set(try people.find().all().map { $0["_id"] }).count == 400)
    }

    @Test("Tasks share one transaction, one waiting for another")
    func sharedTransaction() async throws {
        let db = try patientDatabase()
        try await db.write { tx in
            let a = try tx.collection("a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for i in 0..<20 {
                    group.addTask { _ = try await a.save(["_id": BSONValue(i)]) }
                    group.addTask { for try await _ in a.find() {} }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await db.collection("a").count() == 20)
    }

    @Test("Closing while others call waits for them, rejects the rest and never crashes")
    func closing() async throws {
        for _ in 0..<20 {
            let (db, people) = try fourPeople()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for i in 0..<6 {
                    group.addTask {
                        do {
                            for _ in 0..<20 {
                                _ = try await people.get(1)
                                _ = try await people.find().all()
                                if i == 0 { try await people.save(["x": 1]) }
                            }
                        } catch let error as TansuError {
                            #expect(error.code == .closed)
                        }
                    }
                }
                group.addTask {
                    var isClosed = false
                    while !isClosed {
                        do {
                            try await db.close()
                            isClosed = true
                        } catch let error as TansuError {
                            #expect(error.code == .busy)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(throws: TansuError.self) { try people.count() }
        }
    }
}
