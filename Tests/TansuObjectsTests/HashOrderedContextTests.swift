import Foundation
import TansuObjects
import Testing

@Suite("Sets and dictionaries in editing contexts and graphs")
struct HashOrderedContextTests {
    struct Note<Value: Codable & Sendable & Equatable>: Codable, Sendable, Identifiable, Equatable {
        var id: Int
        var text: String
        var value: Value
    }

    private func check<Value: Codable & Sendable & Equatable>(
        _ value: Value, _ other: BSONDocument, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        typealias N = Note<Value>
        let db = try await Database.open(.memory)
        try await db.use(Model { Entity("notes", of: N.self) })
        let notes = try db.collection(of: N.self)
        try await notes.save(N(id: 1, text: "a", value: value))
        let read = try #require(try await notes.get(1))
        #expect(try await db.save(graph: [read]) == 0, sourceLocation: sourceLocation)
        let context = EditingContext(db, conflicts: .mergeFields)
        var draft = try #require(try await context.get(N.self, id: 1))
        try await context.update(draft)
        #expect(await !context.hasChanges, sourceLocation: sourceLocation)
        draft.text = "b"
        try await context.update(draft)
        try await db.collection("notes").update(["_id": 1], other)
        #expect(try await context.save() == 1, sourceLocation: sourceLocation)
        let merged = try await notes.get(1)
        #expect(merged?.text == "b" && merged?.value != value, sourceLocation: sourceLocation)
        let found = try await db.collection("notes").find(["value": ["$eq": BSONEncoder().encodeValue(value)]]).count()
        #expect(found == 0, sourceLocation: sourceLocation)
    }

    @Test("A value as it was read is no change, and merges with changes of others")
    func merges() async throws {
        try await check(Set((0..<20).map { "t\($0)" }), ["$push": ["value": "new"]])
        try await check(Dictionary(uniqueKeysWithValues: (0..<20).map { ("k\($0)", $0) }), ["$set": ["value.new": 1]])
        try await check(
            Dictionary(uniqueKeysWithValues: (0..<20).map { (UUID(), $0) }),
            ["$push": ["value": ["$each": [BSONValue(UUID()), 7]]]])
        try await check((0..<20).map { "t\($0)" }, ["$push": ["value": "new"]])
    }

    @Test("An equal set or dictionary is found, whatever the order of its hashes")
    func found() throws {
        struct Meta: Codable, Sendable, Equatable, QueryValue { var tags: Set<String>; var counts: [String: Int] }
        struct Item: Codable, Sendable { var id: Int; var meta: Meta }
        let items = try Database(.memory).collection("items", of: Item.self)
        let pairs = (0..<40).map { ("k\($0)", $0) }
        let meta = Meta(tags: Set(pairs.map(\.0)), counts: Dictionary(uniqueKeysWithValues: pairs))
        try items.save(Item(id: 1, meta: meta))
        for capacity in [1, 100, 1000] {
            var tags = Set<String>(minimumCapacity: capacity)
            var counts = [String: Int](minimumCapacity: capacity)
            for (key, number) in pairs.shuffled() {
                tags.insert(key)
                counts[key] = number
            }
            #expect(try items.find { $0.meta == Meta(tags: tags, counts: counts) }.count() == 1)
        }
    }
}
