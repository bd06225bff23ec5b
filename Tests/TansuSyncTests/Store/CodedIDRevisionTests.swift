#if TansuSync
    import Foundation
    import Tansu
    import TansuBSON
    import TansuSync
    import Testing

    @Suite("Store: ids under a coding strategy")
    struct CodedIDRevisionTests {
        struct Note: Codable, Sendable, Identifiable, Equatable { var id = UUID(); var text: String }

        @available(macOS 14, *)
        @Test("UUIDs stored as text are found by every call about revisions and attachments")
        func uuids() async throws {
            let db = try Database(.memory)
            let notes = try db.collection("notes", of: Note.self, coding: BSONCodingStrategies(uuid: .string))
            try await notes.enableReplication()
            let note = Note(text: "a")
            try await notes.save(note)
            #expect(try await notes.revision(of: note.id)?.generation == 1)
            #expect(try notes.generation(of: note.id) == 1)
            #expect(try await notes.conflicts(of: note.id).isEmpty)
            try await notes.resolveConflicts(of: note.id)
            try await notes.attachments(of: note.id).add([1, 2, 3], name: "a")
            #expect(try await notes.attachments(of: note.id).list().map(\.name) == ["a"])
            #expect(try await notes.revision(of: note.id)?.generation == 2)
            let other = try Database(.memory).collection(
                "notes", of: Note.self, coding: BSONCodingStrategies(uuid: .string))
            #expect(try await notes.replicate(with: other).wait().failedDocuments == 0)
            #expect(try await other.get(note.id) == note)
            #expect(try await other.get(ids: [note.id]) == [note])
            #expect(try await other.revision(of: note.id)?.generation == 2)
        }
    }

    extension Database.Collection {
        fileprivate func generation(of id: some DocumentID) throws -> Int? { try revision(of: id)?.generation }
    }
#endif
