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

extension CodedIDRevisionTests {
    struct Thing<Key: Codable & Hashable & Sendable>: Codable, Sendable, Identifiable, Equatable {
        var id: Key
        var text: String
    }

    @available(macOS 14, *)
    @Test("Ids of every type that is stored as text are found by every call about revisions and attachments")
    func everyType() async throws {
        let texts = BSONCodingStrategies(date: .iso8601, data: .base64, uuid: .string, decimal: .string)
        for coding in [texts, BSONCodingStrategies(date: .iso8601, uuid: .string, decimal: .string)] {
            try await surface([UUID(), UUID()], coding)
            try await surface([Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 0.25)], coding)
            try await surface([1.5, 2.5] as [Decimal], coding)
            try await surface(["a", "b"].compactMap { URL(string: "https://example.com/\($0)") }, coding)
            try await surface(["a", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"], coding)
        }
        try await surface([Data([1]), Data([2, 255])], texts)
    }

    @available(macOS 14, *)
    private func surface<Key: Codable & Hashable & Sendable>(
        _ ids: [Key], _ coding: BSONCodingStrategies, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let sides = try (0..<2).map { _ in
            try Database(.memory).collection("things", of: Thing<Key>.self, coding: coding)
        }
        func expect(_ holds: Bool, _ call: String) {
            #expect(holds, "\(call) of \(Key.self)", sourceLocation: sourceLocation)
        }
        let (one, other) = (sides[0], sides[1])
        for side in sides { try await side.enableReplication() }
        try await one.save(ids.map { Thing(id: $0, text: "one") })
        try await other.save(Thing(id: ids[0], text: "two"))
        _ = try await one.replicate(with: other, .both).wait()
        for side in sides {
            expect(try await side.revision(of: ids[0])?.generation == 1, "revision")
            expect(try side.generation(ofTyped: ids[1]) == 1, "the synchronous revision")
            expect(try await side.conflicts(of: ids[0]).count == 1, "conflicts")
            expect(try await side.conflicts(of: ids[1]).isEmpty, "no conflicts")
        }
        try await one.resolveConflicts(of: ids[0])
        expect(try await one.conflicts(of: ids[0]).isEmpty, "resolveConflicts")
        try await one.attachments(of: ids[0]).add([1], name: "a")
        _ = try await one.replicate(with: other, .both).wait()
        expect(try await other.attachments(of: ids[0]).list().map(\.name) == ["a"], "attachments")
        expect(try await other.conflicts(of: ids[0]).isEmpty, "resolved conflicts")
        expect(try await other.revision(of: ids[0]) == one.revision(of: ids[0]), "both revisions")
        expect(try await other.remove(id: ids[1]), "remove")
        expect(try await other.revision(of: ids[1]) == nil, "revision of a removed document")
    }
}

extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
    fileprivate func generation(ofTyped id: Element.ID) throws -> Int? { try revision(of: id)?.generation }
}

extension Database.Collection {
    fileprivate func generation(of id: some DocumentID) throws -> Int? { try revision(of: id)?.generation }
}
#endif
