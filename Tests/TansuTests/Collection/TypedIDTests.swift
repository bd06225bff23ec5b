import Foundation
import Tansu
import Testing

@Suite("Ids of the types that values have")
struct TypedIDTests {
    struct OrderID: Codable, Hashable, Sendable, QueryValue { var raw: String }
    struct Place: Codable, Hashable, Sendable, DocumentID { var row: Int; var column: Int }
    struct Item<ID: Codable & Hashable & Sendable>: Codable, Sendable, Identifiable, Equatable {
        var id: ID
        var name: String
    }
    struct Plain: Codable, Sendable, Equatable { var id: Int64; var name: String }

    private func items<ID: Codable & Hashable & Sendable>(
        _ ids: [ID]
    ) throws -> (Database.Collection<Item<ID>>, [Item<ID>]) {
        let all = try Database(.memory).collection("all", of: Item<ID>.self)
        let items = ids.map { Item(id: $0, name: "\($0)") }
        for item in items { try all.save(item) }
        return (all, items)
    }

    private func check<ID: Codable & Hashable & Sendable>(_ ids: [ID], other: ID) throws {
        let (all, items) = try items(ids)
        for item in items {
            #expect(try all.get(item.id) == item)
            #expect(try all.find(["_id": BSONEncoder().encodeValue(item.id)]).all() == [item])
        }
        #expect(try all.get(other) == nil)
        #expect(try all.get(ids: ids.reversed() + [other] + ids.prefix(1)) == items.reversed() + items.prefix(1))
        #expect(try all.get(ids: []) == [])
        #expect(try all.update(id: ids[0]) { $0.name = "changed" }?.name == "changed")
        #expect(try all.find(["name": "changed"]).all().map(\.id) == [ids[0]])
        #expect(try all.remove(id: ids[0]))
        #expect(try !all.remove(id: other))
        #expect(try all.count() == ids.count - 1)
    }

    private func checkAsync<ID: Codable & Hashable & Sendable>(_ ids: [ID], other: ID) async throws {
        let (all, items) = try items(ids)
        let found = try await all.get(ids: Set(ids))
        #expect(Set(found.map(\.id)) == Set(ids))
        let (first, none) = (try await all.get(ids[0]), try await all.get(other))
        #expect(first == items[0] && none == nil)
        let changed = try await all.update(id: ids[1]) { $0.name = "changed" }
        #expect(changed?.name == "changed")
        let (removed, missing) = (try await all.remove(id: ids[1]), try await all.remove(id: other))
        #expect(removed && !missing)
    }

    @Test("Ids of every Codable type are found by what they encode to")
    func everyType() throws {
        try check([1, 2, 3], other: 4)
        try check([1, 2, Int64.max], other: 0)
        try check([UInt32(1), 2, .max], other: 0)
        try check(["a", "b", ""], other: "c")
        try check([UUID(), UUID(), UUID()], other: UUID())
        try check([ObjectID(), ObjectID(), ObjectID()], other: ObjectID())
        try check([OrderID(raw: "a"), OrderID(raw: "b")], other: OrderID(raw: "c"))
        try check([Place(row: 1, column: 2), Place(row: 2, column: 1)], other: Place(row: 1, column: 1))
        try check([Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 2)], other: Date())
        try check([1.5, 2, -0.25], other: 3)
    }

    @Test("The same in asynchronous code")
    func everyTypeAsync() async throws {
        try await checkAsync([1, 2, 3], other: 4)
        try await checkAsync([1, 2, Int64.max], other: 0)
        try await checkAsync([UUID(), UUID(), UUID()], other: UUID())
        try await checkAsync([OrderID(raw: "a"), OrderID(raw: "b")], other: OrderID(raw: "c"))
    }

    @Test("Literals, values of the engine, and collections whose values are not identifiable")
    func otherForms() throws {
        let db = try Database(.memory)
        let items = try db.collection("items", of: Item<Int64>.self)
        let id = try items.save(Item(id: 5, name: "a"))
        #expect(try items.get(5)?.name == "a")
        #expect(try items.get(id)?.name == "a")
        #expect(try items.find { $0.id == 5 }.count() == 1)
        let plain = try db.collection("items", of: Plain.self)
        #expect(try plain.get(5)?.name == "a")
        #expect(try plain.get(Int64(5))?.name == "a")
        #expect(try plain.get(ids: [5, 6, 5]).map(\.name) == ["a", "a"])
        let documents = try db.collection("items")
        #expect(try documents.get(5)?["name"] == "a")
        #expect(try documents.get(ids: [Int64(5)]).count == 1)
        try documents.save(["_id": ["row": 1, "column": 2], "name": "b"])
        #expect(try documents.get(Place(row: 1, column: 2))?["name"] == "b")
        #expect(try documents.bulk([.removeID(Place(row: 1, column: 2))]).count == 1)
        #expect(try documents.count() == 1)
    }

    @Test("An id that cannot be stored is an error")
    func impossible() throws {
        // More digits than decimal128 has.
        struct Large: Codable, Hashable, Sendable, DocumentID { var number = Decimal.greatestFiniteMagnitude }
        let all = try Database(.memory).collection("all", of: Item<Large>.self)
        #expect(throws: TansuError.self) { try all.get(Large()) }
        #expect(throws: TansuError.self) { try all.get(ids: [Large()]) }
        #expect(throws: TansuError.self) { try all.decoded(as: BSONDocument.self).get(Large()) }
        let optional = try Database(.memory).collection("all", of: Item<Int?>.self)
        let error = #expect(throws: TansuError.self) { try optional.get(nil) }
        #expect(error?.code == .invalidID)
    }

    @Test("Several ids are read in one snapshot, also inside a transaction")
    func snapshots() throws {
        let db = try Database(.memory)
        try db.write { tx in
            let items = try tx.collection("items", of: Item<Int>.self)
            try items.insert((0..<10).map { Item(id: $0, name: "\($0)") })
            #expect(try items.get(ids: [7, 3]).map(\.id) == [7, 3])
        }
        try db.read { tx in
            let items = try tx.collection("items", of: Item<Int>.self)
            try db.collection("items").remove([:])
            #expect(try items.get(ids: 0..<10).count == 10)
        }
    }
}
