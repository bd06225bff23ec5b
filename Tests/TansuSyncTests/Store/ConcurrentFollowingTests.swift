#if TansuSync
    import Foundation
    import Tansu
    import TansuBSON
    import Testing

    @testable import TansuSync

    /// Several threads that look at revisions at the same time, directly after local saves.
    @Suite("Store: readers while another one gives local changes their revisions")
    struct ConcurrentFollowingTests {
        @Test("Every reader sees every local change that was made before it began")
        func readers() throws {
            // Of files: readers see a commit when it is on the disk, which takes a while.
            let database = try Database(.temporary)
            let people = try database.collection("people")
            let collection = try ReplicatedCollection.open("people", in: database, create: true)
            let missed = Locked<[String]>([])
            for round in 0..<300 {
                let id = "p\(round % 100)"
                try people.save(["_id": .string(id), "round": .int32(Int32(round))])
                DispatchQueue.concurrentPerform(iterations: 4) { reader in
                    let seen: Int?
                    do {
                        let look: (RevisionStore) throws -> BSONValue? = { store in
                            try store.document(id).flatMap { try store.wholeDocument($0) }?["round"]
                        }
                        let now = reader % 2 == 0 ? nil : try collection.readAtOnce(look)
                        seen = try (now ?? collection.read(look))?.intValue
                    } catch {
                        seen = nil
                    }
                    if seen != round { missed.withLock { $0.append("\(round): \(seen ?? -1)") } }
                }
            }
            #expect(missed.withLock { $0 } == [])
        }
    }
#endif
