#if TansuSync
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

/// Several threads that look at revisions at the same time, directly after local saves.
@Suite("Store: readers while another one gives local changes their revisions")
struct ConcurrentFollowingTests {
    @Test("Every reader sees every local change that was made before it began, with its revision")
    func readers() throws {
        // Of files: readers see a commit when it is on the disk, which takes a while.
        let database = try Database(.temporary)
        let people = try database.collection("people")
        let collection = try ReplicatedCollection.open("people", in: database, create: true)
        let faults = Locked<[String]>([])
        for round in 0..<300 {
            let id = "p\(round % 100)"
            try people.save(["_id": .string(id), "round": .int32(Int32(round))])
            DispatchQueue.concurrentPerform(iterations: 4) { reader in
                let fault = Self.fault(round, id, [id], collection, reader % 2 == 1 ? .atOnce : .snapshot)
                if let fault { faults.withLock { $0.append("\(round): \(fault)") } }
            }
        }
        #expect(faults.withLock { $0 } == [])
    }

    @Test("So it is while other threads save without a pause", arguments: [Database.Durability.full, .process])
    func writers(durability: Database.Durability) throws {
        var options = Database.Options()
        options.durability = durability
        let database = try Database(.temporary, options: options)
        let people = try database.collection("people")
        let collection = try ReplicatedCollection.open("people", in: database, create: true)
        let threads = 6
        let ids = (0..<threads).map { "p\($0)" }
        let faults = Locked<[String]>([])
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            // The first three do nothing but save, for about as long as the others.
            for round in 0..<(thread < 3 ? 400 : 60) {
                var fault: String?
                do {
                    if thread == 3 {
                        try Self.saveByLayer(round, ids[thread], collection)
                    } else {
                        try people.save(["_id": .string(ids[thread]), "round": .int32(Int32(round))])
                    }
                    if thread >= 3 {
                        fault = Self.fault(
                            round, ids[thread], ids, collection, [.snapshot, .writing, .atOnce][thread - 3])
                    }
                } catch { fault = "\(error)" }
                if let fault { faults.withLock { $0.append("thread \(thread), \(round): \(fault)") } }
            }
        }
        #expect(faults.withLock { $0 } == [])
    }

    private enum Way {
        case snapshot
        /// Without following anything, if there is nothing to follow.
        case atOnce
        /// In a write transaction, as a reader that other threads have overtaken several times.
        case writing
    }

    /// A save that has its revision, as those of a client have.
    private static func saveByLayer(_ round: Int, _ id: String, _ collection: ReplicatedCollection) throws {
        try collection.write { store in
            let parent = try store.document(id)?.winner
            let edit = DocumentEdit(id: id, parent: parent, fields: ["round": .int32(Int32(round))])
            _ = try store.save([edit])[0].get()
        }
    }

    /// What is wrong with what a reader sees.
    ///
    /// - Parameters:
    ///   - round: What the document `id` has.
    ///   - ids: The documents of which none may have a change without a revision.
    ///   - way: How it is read.
    private static func fault(
        _ round: Int, _ id: String, _ ids: [String], _ collection: ReplicatedCollection, _ way: Way
    ) -> String? {
        let look: (RevisionStore) throws -> String? = { store in
            if try !store.isFollowed() { return "changes without a revision" }
            let seen = try store.document(id).flatMap { try store.wholeDocument($0) }?["round"]?.intValue
            return seen == round ? nil : "\(id) has \(seen.map { "\($0)" } ?? "nothing")"
        }
        do {
            switch way {
            case .snapshot: return try collection.read(look)
            case .atOnce: return try collection.readAtOnce(look) ?? collection.read(look)
            case .writing: return try collection.write(look)
            }
        } catch {
            return "\(error)"
        }
    }
}
#endif
