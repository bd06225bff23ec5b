import Foundation
import Tansu
import Testing

@Suite("Values without an id")
struct NilIDTests {
    struct Player: Codable, Sendable, Equatable { var id: Int64?; var name: String }
    struct Generated: Codable, Sendable, Equatable { var id: ObjectID?; var name: String }
    struct Own: Codable, Sendable { var _id: String?; var name: String }
    struct Plain: Codable, Sendable { var name: String }
    struct Whatever: Codable, Sendable { var id: BSONValue?; var name: String }

    final class Record: Codable, Sendable {
        let id: UUID?
        init(id: UUID?) { self.id = id }
    }

    private let db: Database
    private let players: Database.Collection<Player>

    init() throws {
        db = try Database(.memory)
        players = try db.collection("players", of: Player.self)
        try players.save(Player(id: 1, name: "a"))
    }

    private func refuses(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: TansuError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.code == .invalidID, sourceLocation: sourceLocation)
        #expect(error?.message.contains("set the id before it is saved") ?? false, sourceLocation: sourceLocation)
    }

    @Test("Whatever saves a nil id that is no ObjectID throws and writes nothing")
    func refused() throws {
        let nobody = Player(id: nil, name: "b")
        refuses { try players.save(nobody) }
        refuses { try players.insert(nobody) }
        refuses { try players.replace(nobody) }
        refuses { try players.save([Player(id: 2, name: "c"), nobody]) }
        refuses { try players.insert([nobody]) }
        refuses { try players.bulk([.save(Player(id: 2, name: "c")), .insert(nobody)], policy: .allOrNothing) }
        refuses { try players.upsert(where: { $0.name == "x" }, inserting: nobody) { $0.set(\.name, "y") } }
        refuses { _ = try db.write { try $0.collection("players", of: Player.self).save(nobody) } as BSONValue }
        refuses { try players.update([:]) { $0.id = nil } }
        refuses { try players.coding(.json).save(nobody) }
        refuses { try db.collection("own", of: Own.self).save(Own(_id: nil, name: "b")) }
        refuses { try db.collection("records", of: Record.self).save(Record(id: nil)) }
        let outcomes = try players.bulk([.insert(nobody), .save(Player(id: 3, name: "d"))])
        #expect((outcomes[0].error as? TansuError)?.code == .invalidID && outcomes[1].error == nil)
        #expect(try players.find().all().map(\.id) == [1, 3])
        #expect(try db.collection("own").count() == 0)
    }

    @Test("Asynchronous saves, likewise")
    func asynchronous() async throws {
        let nobody = Player(id: nil, name: "b")
        await #expect(throws: TansuError.self) { try await players.save(nobody) }
        await #expect(throws: TansuError.self) { try await players.insert([nobody]) }
        await #expect(throws: TansuError.self) { try await players.update([:]) { $0.id = nil } }
        #expect(try await players.count() == 1)
    }

    @Test("An id that may be an ObjectID gets one, and so does a value without an id")
    func generated() throws {
        let generated = try db.collection("generated", of: Generated.self)
        for _ in 0..<2 {
            let id = try generated.save(Generated(id: nil, name: "a"))
            #expect(try generated.get(id)?.id == id.objectIDValue)
        }
        let plain = try db.collection("plain", of: Plain.self)
        try plain.save([Plain(name: "a"), Plain(name: "b")])
        #expect(try plain.find().all().map(\.name) == ["a", "b"])
        let any = try db.collection("any", of: Whatever.self)
        try any.save(Whatever(id: nil, name: "a"))
        #expect(try any.find().first()?.id?.objectIDValue != nil)
        try db.collection("documents").save(["name": "a"])
    }

    /// A type that encodes nil as null.
    struct Explicit: Codable, Sendable {
        var id: ObjectID?
        var name: String

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(name, forKey: .name)
        }
    }

    @Test("A nil id that is encoded as null is a missing one")
    func encodedAsNull() throws {
        let explicit = try db.collection("explicit", of: Explicit.self)
        let ids = try explicit.save([Explicit(id: nil, name: "a"), Explicit(id: nil, name: "b")])
        #expect(ids.allSatisfy { $0.objectIDValue != nil } && ids[0] != ids[1])
        #expect(try explicit.get(ids[0])?.name == "a")
    }

    @Test("A null is the id of a document, which a Codable value reads as nil")
    func null() throws {
        let documents = try db.collection("explicit")
        #expect(try documents.insert(["_id": nil, "name": "n"]) == .null)
        #expect(throws: TansuError.self) { try documents.insert(["_id": nil]) }
        #expect(try documents.get(BSONValue.null) == ["_id": nil, "name": "n"])
        #expect(try documents.update(["_id": nil], ["$set": ["name": "m"]]).modified == 1)
        let explicit = try db.collection("explicit", of: Explicit.self)
        let read = try explicit.find().all()
        #expect(read.count == 1 && read[0].id == nil && read[0].name == "m")
        #expect(try documents.remove(id: BSONValue.null))
        #expect(try documents.count() == 0)
    }

    /// An id that cannot be encoded.
    struct Broken: DocumentID, Encodable {
        func encode(to encoder: any Encoder) throws {
            throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "broken"))
        }
    }

    @Test("An id that cannot be encoded, or is nil, does not name the document whose id is null")
    func otherIDs() throws {
        let documents = try db.collection("documents")
        try documents.save(["_id": nil])
        let error = #expect(throws: TansuError.self) { try documents.remove(id: Broken()) }
        #expect(error?.code == .invalidID)
        #expect(try documents.count() == 1)
    }

    @Test("A computed id is an error at the first use that says what to declare")
    func computed() throws {
        struct Book: Codable, Sendable, Identifiable { var isbn: String; var id: String { isbn } }
        struct Keyed: Codable, Sendable, Identifiable {
            enum CodingKeys: String, CodingKey { case isbn = "_id" }
            var isbn: String
            var id: String { isbn }
        }
        let books = try db.collection("books", of: Book.self)
        for body in [
            { try books.save(Book(isbn: "1")) }, { try books.insert([Book(isbn: "1")]) }, { _ = try books.get("1") },
            { _ = try books.get(ids: ["1"]) }, { try books.remove(id: "1") },
            { try books.update(id: "1") { $0.isbn = "2" } },
        ] as [() throws -> Void] {
            let error = #expect(throws: TansuError.self) { try body() }
            #expect(error?.code == .invalidID)
            #expect(error?.message.contains("is not stored") ?? false)
            #expect(error?.message.contains("\"_id\"") ?? false)
        }
        #expect(try db.collection("books").count() == 0)
        let keyed = try db.collection("keyed", of: Keyed.self)
        try keyed.save([Keyed(isbn: "1"), Keyed(isbn: "1")])
        #expect(try keyed.get("1")?.isbn == "1")
        #expect(try keyed.get("2") == nil)
    }

    @Test("An upsert that would give a document an ObjectId which the type cannot read inserts nothing")
    func upserts() throws {
        struct Visit: Codable, Sendable, Identifiable { var id: Int; var page = ""; var count = 0 }
        struct Coded: Codable, Sendable, Identifiable { var id: UUID; var page = ""; var count = 0 }
        struct Own: Codable, Sendable, Identifiable { var id: ObjectID?; var page: String; var count: Int }
        func refuses<Element>(_ visits: Database.Collection<Element>) throws {
            let increment: BSONDocument = ["$inc": ["count": 1]]
            for body in [
                { try visits.upsert(["page": "/"], increment) },
                { try visits.update(["page": "/", "$upsert": ["page": "/"]], increment) },
                { try visits.findAndUpdate(["page": "/"], increment, hints: ["$upsert": true]) },
                { try visits.findAndUpdate(["page": "/"], increment, hints: ["$upsert": true], returning: .after) },
            ] as [() throws -> Any?] {
                let error = #expect(throws: TansuError.self) { _ = try body() }
                #expect(error?.code == .invalidID)
            }
            let outcomes = try visits.bulk([.upsert(["page": "/"], increment)])
            guard case .failed = outcomes[0] else { return #expect(Bool(false), "\(outcomes)") }
            #expect(try visits.count() == 0)
        }
        try refuses(db.collection("visits", of: Visit.self))
        try refuses(db.collection("coded", of: Coded.self, coding: .json))
        let visits = try db.collection("visits", of: Visit.self)
        try visits.upsert(["page": "/", "_id": 3], ["$inc": ["count": 1]])
        try visits.upsert(["page": "/a"], ["$inc": ["count": 1], "$setOnInsert": ["_id": 4]])
        #expect(try visits.find().all().map(\.id) == [3, 4])
        let found = try visits.findAndUpdate(
            ["page": "/b", "_id": 5], ["$inc": ["count": 2]], hints: ["$upsert": true], returning: .after)
        #expect(found?.count == 2)
        #expect(try visits.findAndUpdate(["page": "/b"], ["$inc": ["count": 2]], hints: ["$upsert": true])?.count == 2)
        let own = try db.collection("own", of: Own.self)
        try own.upsert(["page": "/"], ["$inc": ["count": 1]])
        #expect(try own.find().first()?.count == 1)
    }
}
