import Foundation
import Tansu
import Testing

/// C ends text at a NUL: what is not refused would be something else.
@Suite("A NUL character in names, keys and paths is refused, not cut")
struct NULTests {
    private let db: Database
    private let people: Database.Collection<BSONDocument>

    init() throws {
        db = try Database(.memory)
        people = try db.collection("people")
        try people.save(["_id": 1, "x": 1, "name": "mike"])
    }

    private func refuses(_ body: () throws -> Void, _ location: SourceLocation = #_sourceLocation) {
        #expect(throws: (any Error).self, sourceLocation: location) { try body() }
    }

    @Test("Keys of documents, on every depth")
    func keys() throws {
        var document: BSONDocument = ["_id": 2]
        document["x\0y"] = 5
        refuses { try people.save(document) }
        refuses { try people.insert(["_id": 2, "a": ["x\0y": 5]]) }
        refuses { try people.save(["_id": 2, "a": [["x\0y": 5]]]) }
        refuses { try people.save([document]) }
        struct Named: Codable, Sendable { var fields: [String: Int] }
        refuses { try db.collection("people", of: Named.self).save(Named(fields: ["x\0y": 5])) }
        refuses { try db.collection("people", of: BSONDocument.self).save(document) }
        struct Holder: Codable, Sendable { var inner: BSONDocument }
        refuses { try db.collection("people", of: Holder.self).save(Holder(inner: document)) }
        #expect(try people.count() == 1)
        #expect(try people.get(1) == ["_id": 1, "x": 1, "name": "mike"])
    }

    @Test("Keys of queries, updates and hints")
    func queries() throws {
        refuses { _ = try people.find(["x\0y": 1]).all() }
        refuses { _ = try people.find(["x": ["$gt\0x": 0]]).all() }
        refuses { _ = try people.find(["$or": [["x\0": 1]]]).count() }
        refuses { _ = try people.find(["name": ["$elemMatch": ["x\0y": 1]]]).explain() }
        refuses { _ = try people.find().sorted(by: "x\0y").all() }
        refuses { _ = try people.find([:], hints: ["$max\0": 1]).all() }
        refuses { _ = try people.find().fields(["x\0y": 1]).all() }
        refuses { _ = try people.find(["name": ["$regex": .regularExpression(BSONRegularExpression("m\0"))]]).all() }
        refuses { _ = try people.distinct("x\0y") }
        refuses { try people.update([:], ["$set": ["x\0y": 2]]) }
        refuses { try people.update([:], ["$unset": ["x\0y": ""]]) }
        refuses { try people.update([:], ["$set\0": ["x": 2]]) }
        refuses { try people.remove(["x\0y": 1]) }
        refuses { _ = try people.aggregate(group: ["fields": ["n\0": ["$count": true]]]) }
        refuses { _ = try people.aggregate(group: ["fields": ["n": ["$sum": "x\0y"]]]) }
        #expect(try people.get(1) == ["_id": 1, "x": 1, "name": "mike"])
    }

    @Test("Names of collections and indexes")
    func names() throws {
        refuses { _ = try db.collection("people\0x").count() }
        refuses { _ = try db.collection("people\0x", of: [String: Int].self).count() }
        refuses { try db.ensureCollection("people\0x") }
        refuses { try db.dropCollection("people\0x") }
        refuses { try db.renameCollection("people\0x", to: "others") }
        refuses { try db.renameCollection("people", to: "others\0x") }
        refuses { try people.ensureIndex("by_x\0y", on: ["x": .ascending]) }
        refuses { try people.ensureIndex(on: ["x\0y": .ascending]) }
        refuses { try people.ensureWildcardIndex(below: "x\0y") }
        refuses { try people.ensureWildcardIndex(only: ["x\0y"]) }
        refuses { try people.ensureWildcardIndex(except: ["x\0y"]) }
        refuses { try people.ensureIndex(on: ["x": .ascending], partialFilter: ["x\0y": 1]) }
        try people.ensureIndex("by_x", on: ["x": .ascending])
        refuses { try people.dropIndex("by_x\0y") }
        refuses { _ = try people.find([:], hints: ["$index": "by_x\0y"]).all() }
        refuses { try db.setSchema(["type": "object"], for: "people\0x") }
        #expect(try db.collectionNames() == ["people"])
        #expect(try people.indexes().map(\.name) == ["by_x"])
    }

    @Test("Paths of files")
    func paths() throws {
        refuses { _ = try Database(path: "/tmp/x\0y") }
        refuses { _ = try Database(.temporary(in: "/tmp\0y")) }
        refuses { _ = try db.backup(to: "/tmp/x\0y") }
        refuses { _ = try Database.restore(from: "/tmp/x\0y", to: "/tmp/z") }
        refuses { _ = try Database.repair(from: "/tmp/x\0y", to: "/tmp/z") }
        refuses { _ = try db.dump(to: "/tmp/x\0y") }
        refuses { _ = try db.load(from: "/dev/null\0y") }
    }
}
