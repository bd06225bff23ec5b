#if TansuSync
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Attachments of a replicated collection")
struct ReplicatedAttachmentsTests {
    private let database: Database
    private let people: Database.Collection<BSONDocument>

    init() throws {
        database = try Database(.memory)
        people = try database.collection("people")
        try people.save(["_id": "mike"])
    }

    private func files(_ replicated: ReplicatedCollection, _ id: String) throws -> [AttachmentFile] {
        try replicated.read { store in
            let record = try #require(try store.document(id))
            return try #require(try store.body(of: record, record.winner)).files
        }
    }

    @Test("Adding and removing are edits that have revisions, with sync switched on before or after")
    func revisions() throws {
        try people.attachments(of: "mike").add([1], name: "early")
        let replicated = try people.enableReplication()
        #expect(try files(replicated, "mike").map(\.name) == ["early"])
        let first = try #require(try people.revision(of: "mike"))
        try people.attachments(of: "mike").add([2, 2], name: "late")
        let second = try #require(try people.revision(of: "mike"))
        #expect(first.generation == 1 && second.generation == 2)
        #expect(try files(replicated, "mike").map(\.name) == ["early", "late"])
        // The generation of the revision that added each, as on the wire.
        #expect(try files(replicated, "mike").map(\.revpos) == [1, 2])
        try people.attachments(of: "mike").remove("early")
        #expect(try people.revision(of: "mike")?.generation == 3)
        #expect(try files(replicated, "mike").map(\.name) == ["late"])
        try people.attachments(of: "mike").add([3], name: "late")
        #expect(try files(replicated, "mike").map(\.revpos) == [4])
        #expect(try people.revision(of: "mike")?.generation == 4)
    }

    /// The edit of a client finds what the app has added since the last look.
    @Test("A stub of an attachment that was not followed yet gets the generation of its revision")
    func unfollowed() throws {
        let replicated = try people.enableReplication()
        try people.save(["_id": "anna"])
        let parent = try replicated.read { try #require(try $0.document("anna")).winner }
        try people.attachments(of: "anna").add([1], name: "a")
        let added = try RevisionDigest.revision(
            after: parent, body: [:],
            attachments: try people.attachments(of: "anna").list().map {
                RevisionDigest.Attachment(name: $0.name, contentType: $0.contentType, digest: $0.digest)
            })
        _ = try replicated.write { store in
            let stub = EditedAttachment.stub(name: "a", digest: nil, revpos: added.generation)
            return try store.save([DocumentEdit(id: "anna", parent: added, fields: ["v": 2], attachments: [stub])])[
                0
            ].get()
        }
        #expect(try files(replicated, "anna").map(\.revpos) == [2])
    }

    @Test("What a client's edit brings is seen by the app, and swept when no revision has it any more")
    func edits() throws {
        let replicated = try people.enableReplication()
        let writer = try BlobWriter(database, contentType: "text/plain")
        try writer.write(Array("hello".utf8))
        let file = try writer.finish(name: "a.txt")
        _ = try replicated.write { store in
            try store.save([DocumentEdit(id: "anna", fields: ["v": 1], attachments: [.file(file)])])[0].get()
        }
        writer.release()
        #expect(try database.removeUnusedAttachments() == 0)
        let anna = people.attachments(of: "anna")
        #expect(try anna.bytes(of: "a.txt") == Array("hello".utf8))
        let parent = try #require(try people.revision(of: "anna"))
        // The stub keeps it.
        let stub = EditedAttachment.stub(name: "a.txt", digest: nil, revpos: nil)
        _ = try replicated.write { store in
            try store.save([DocumentEdit(id: "anna", parent: parent, fields: ["v": 2], attachments: [stub])])[0]
                .get()
        }
        #expect(try anna.list().map(\.name) == ["a.txt"])
        #expect(try files(replicated, "anna")[0].revpos == 1)
        try people.remove(id: "anna")
        #expect(try people.revision(of: "anna")?.generation == 3 || people.revision(of: "anna") == nil)
        #expect(try database.collection(BlobLayout.chunks).count() == 1)
        try replicated.compact()
        #expect(try database.collection(BlobLayout.chunks).count() == 0)
    }

    private func file(_ text: String, _ name: String, revpos: Int = 0) throws -> AttachmentFile {
        let writer = try BlobWriter(database, contentType: "image/png")
        try writer.write(Array(text.utf8))
        return try writer.finish(name: name, revpos: revpos)
    }

    @Test(
        "Bytes that an edit brings have the generation of its revision, whatever the client says; stubs keep theirs"
    )
    func revpos() throws {
        let replicated = try people.enableReplication()
        func edit(_ parent: Revision?, _ attachments: [EditedAttachment]) throws -> Revision {
            try replicated.write { store in
                try store.save([DocumentEdit(id: "a", parent: parent, attachments: attachments)])[0].get()
            }
        }
        var revision = try edit(nil, [.file(try file("1", "x", revpos: 9)), .file(try file("1", "y", revpos: -1))])
        #expect(try files(replicated, "a").map(\.revpos) == [1, 1])
        for generation in 2...4 {
            revision = try edit(
                revision,
                [.file(try file("\(generation)", "x", revpos: 1)), .stub(name: "y", digest: nil, revpos: 1)])
            #expect(try files(replicated, "a").map(\.revpos) == [generation, 1])
        }
    }

    @Test("What another replica pushes keeps its revpos, also one above its generation")
    func pushedRevpos() throws {
        let replicated = try people.enableReplication()
        let (low, high, none) = (
            try file("1", "low", revpos: 1), try file("2", "high", revpos: 7), try file("3", "none")
        )
        func push(_ path: RevisionPath, _ attachments: [EditedAttachment]) throws -> [DocumentError?] {
            try replicated.write { try $0.push([PushedRevision(id: "a", path: path, attachments: attachments)]) }
        }
        #expect(
            try push(RevisionPath(start: 3, ids: ["c", "b", "a"]), [.file(low), .file(high), .file(none)]) == [nil])
        #expect(try files(replicated, "a").map(\.revpos) == [1, 7, 3])
        let stubs: [EditedAttachment] = [
            .stub(name: "low", digest: nil, revpos: 1), .stub(name: "high", digest: nil, revpos: 7),
            // CouchDB has none for it, which it says as 0.
            .stub(name: "none", digest: nil, revpos: 0),
        ]
        #expect(try push(RevisionPath(start: 4, ids: ["d", "c"]), stubs) == [nil])
        #expect(try files(replicated, "a").map(\.revpos) == [1, 7, 3])
        let wrong = try push(
            RevisionPath(start: 5, ids: ["e", "d"]), [.stub(name: "low", digest: nil, revpos: 2)])
        #expect(wrong == [.missingStub(name: "low")])
    }

    @Test(
        "A conflict's resolution has new bytes where those of the other side win, and the old ones where it merges")
    func resolvedRevpos() throws {
        for (resolution, revpos) in [(ConflictResolution.keepOther, 2), (.merge(["n": 1]), 1)] {
            let database = try Database(.memory)
            let replicated = try database.collection("d").enableReplication { _ in resolution }
            let writer = try BlobWriter(database, contentType: "image/png")
            try writer.write([1])
            let file = try writer.finish(name: "f", revpos: 1)
            for hash in ["a", "b"] {
                let pushed = PushedRevision(
                    id: "x", path: RevisionPath(try #require(Revision("1-\(hash)"))), attachments: [.file(file)])
                #expect(try replicated.write { try $0.push([pushed]) } == [nil])
            }
            #expect(try database.collection("d").conflicts(of: "x").isEmpty)
            #expect(try database.collection("d").revision(of: "x")?.generation == 2)
            #expect(try files(replicated, "x").map(\.revpos) == [revpos])
        }
    }

    @Test("A renamed replicated collection keeps its attachments")
    func renaming() throws {
        let replicated = try people.enableReplication()
        try people.attachments(of: "mike").add([1], name: "a")
        let revision = try #require(try people.revision(of: "mike"))
        try database.renameCollection("people", to: "persons")
        let persons = try database.collection("persons")
        #expect(try persons.attachments(of: "mike").bytes(of: "a") == [1])
        #expect(throws: SyncError.self) { try replicated.read { _ in } }
        #expect(try persons.revision(of: "mike") == revision)
        #expect(try persons.attachments(of: "mike").bytes(of: "a") == [1])
        try persons.attachments(of: "mike").add([2], name: "b")
        #expect(try persons.revision(of: "mike")?.generation == revision.generation + 1)
        #expect(try database.removeUnusedAttachments() == 0)
        try persons.remove(id: "mike")
        #expect(try persons.attachments(of: "mike").list().isEmpty)
    }
}
#endif
