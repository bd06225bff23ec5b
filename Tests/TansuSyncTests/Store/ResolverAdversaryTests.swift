#if TansuSync
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

/// What docs/replication.md promises of resolvers, with resolvers that do what they must not.
@Suite("Store: resolvers that misbehave")
struct ResolverAdversaryTests {
    private struct Refusal: Error {}

    /// Two replicas that have edited one document, one of them with a resolver that has seen the conflict.
    private func conflict(_ resolver: @escaping ConflictResolver) async throws -> Database.Collection<BSONDocument> {
        let here = try Database(.memory).collection("d")
        let there = try Database(.memory).collection("d")
        try await here.save(["_id": "x", "n": 0])
        let kept = try await here.enableReplication(resolver: resolver)
        let first = try await here.replicate(with: there, .push).wait()
        #expect(first.documentsWritten == 1)
        try await here.save(["_id": "x", "n": 1])
        try await there.save(["_id": "x", "n": 2])
        try await there.save(["_id": "y", "n": 3])
        let progress = try await here.replicate(with: there, .pull).wait()
        // The others of the batch are there, whatever the resolver does.
        #expect(try await here.get("y")?["n"] == 3)
        #expect(progress.failedDocuments == 0)
        withExtendedLifetime(kept) {}
        return here
    }

    @available(macOS 14, *)
    @Test("A resolver that throws leaves the conflict", .timeLimit(.minutes(20)))
    func throwing() async throws {
        let people = try await conflict { _ in throw Refusal() }
        #expect(try await people.conflicts(of: "x").count == 1)
    }

    @available(macOS 14, *)
    @Test("What no collection can store leaves the conflict", .timeLimit(.minutes(20)))
    func refused() async throws {
        var deep: BSONValue = 1
        for _ in 0..<300 { deep = .array([deep]) }
        let large = BSONValue.string(String(repeating: "x", count: 17 << 20))
        for fields in [["_bad": 1], ["v": deep], ["v": large]] as [BSONDocument] {
            let people = try await conflict { _ in .merge(fields) }
            #expect(try await people.conflicts(of: "x").count == 1, "\(fields.keys)")
            #expect(try await people.get("x")?["n"] != nil)
        }
    }

    @available(macOS 14, *)
    @Test(
        "A resolver that writes the same collection gets an error, and nothing waits for it",
        .timeLimit(.minutes(20)))
    func writing() async throws {
        let errors = Locked<[any Error]>([])
        let box = Locked<Database.Collection<BSONDocument>?>(nil)
        let database = try Database(.memory)
        let here = try database.collection("d")
        box.withLock { $0 = here }
        let there = try Database(.memory).collection("d")
        try await here.save(["_id": "x", "n": 0])
        let kept = try await here.enableReplication { conflict in
            do { try box.withLock { $0 }?.save(["_id": "z"]) } catch { errors.withLock { $0.append(error) } }
            return .keepWinner
        }
        _ = try await here.replicate(with: there, .push).wait()
        try await here.save(["_id": "x", "n": 1])
        try await there.save(["_id": "x", "n": 2])
        _ = try await here.replicate(with: there, .pull).wait()
        #expect(try await here.conflicts(of: "x").isEmpty)
        // Either it was part of the transaction, or it was refused.
        let saved = try await here.get("z") != nil
        #expect(saved == errors.withLock { $0.isEmpty })
        withExtendedLifetime(kept) {}
    }
}
#endif
