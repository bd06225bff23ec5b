#if TansuSync
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Store: histories that are too large")
struct HugeHistoryTests {
    @Test("A revision with more ancestors than a tree can have stops no other of its batch")
    func push() throws {
        let people = try Database(.memory).collection("people")
        let replicated = try people.enableReplication()
        let ids = (0...RevisionTree.maximumCount).map { String($0, radix: 16) }
        let huge = try RevisionPath(start: ids.count, ids: ids)
        let errors = try replicated.write { store in
            try store.push([
                PushedRevision(
                    id: "a", path: RevisionPath(try Revision(generation: 1, hash: "a")), isDeleted: false,
                    fields: ["n": 1], attachments: []),
                PushedRevision(id: "b", path: huge, isDeleted: false, fields: ["n": 2], attachments: []),
                PushedRevision(
                    id: "c", path: RevisionPath(try Revision(generation: 1, hash: "a")), isDeleted: false,
                    fields: ["n": 3], attachments: []),
            ])
        }
        #expect(errors.map { $0 == nil } == [true, false, true])
        #expect(try people.get("a")?["n"] == 1)
        #expect(try people.get("b") == nil)
        #expect(try people.get("c")?["n"] == 3)
    }
}
#endif
