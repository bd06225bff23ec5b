import Tansu
import TansuObjects
import TansuTestSupport
import Testing

private func key(_ collection: String, _ id: BSONValue) -> ObjectKey { ObjectKey(collection: collection, id: id) }

@Suite("Bags beside lists")
struct BagPropertyTests {
    @Test("Random changes of bags, documents and collections are as in plain lists", arguments: 0..<10)
    func property(round: Int) throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed() &+ UInt64(round))
        let folder = try TemporaryFolder()
        var db = try Database(path: folder.path("db"), options: Database.Options(durability: .process))
        let names = ["one", "two", "three.with.dots"]
        let bagNames = ["", "a", "A", "é", "e\u{301}"].dropFirst()
        var documents: Set<ObjectKey> = []
        var bags: [[UInt8]: [ObjectKey]] = [:]
        for step in 0..<150 {
            let what = "round \(round) step \(step) of seed \(SeededGenerator.seed())"
            let name = bagNames[Int.random(in: bagNames.indices, using: &generator)]
            let other = bagNames[Int.random(in: bagNames.indices, using: &generator)]
            let (slot, otherSlot) = (Array(name.utf8), Array(other.utf8))
            let list = bags[slot] ?? []
            let collection = names[Int.random(in: names.indices, using: &generator)]
            let some = Array(documents.shuffled(using: &generator).prefix(Int.random(in: 0...4, using: &generator)))
            let twice = some + some.prefix(1)
            let new = some.filter { !list.contains($0) }
            let bag = try db.bag(name)
            switch Int.random(in: 0..<13, using: &generator) {
            case 0, 1:
                let id = BSONValue.int32(Int32.random(in: 0..<6, using: &generator))
                try db.collection(collection).save(["_id": id])
                documents.insert(key(collection, id))
            case 2, 3:
                #expect(try bag.add(twice) == new.count, "\(what)")
                if !new.isEmpty || bags[slot] != nil { bags[slot] = list + new }
            case 4, 5:
                let position = Int.random(in: 0...list.count, using: &generator)
                #expect(try bag.insert(twice, at: position) == new.count, "\(what)")
                let isKept = { !some.contains($0) }
                if !some.isEmpty {
                    bags[slot] = list[..<position].filter(isKept) + some + list[position...].filter(isKept)
                }
            case 6:
                #expect(try bag.remove(twice) == some.count - new.count, "\(what)")
                if bags[slot] != nil { bags[slot] = list.filter { !some.contains($0) } }
            case 7:
                let others = bags[otherSlot] ?? []
                let added = others.filter { !list.contains($0) }
                #expect(try bag.formUnion(db.bag(other)) == added.count, "\(what)")
                if bags[slot] != nil || !added.isEmpty { bags[slot] = list + added }
            case 8:
                let others = bags[otherSlot] ?? []
                let left = list.filter { others.contains($0) }
                #expect(try bag.formIntersection(db.bag(other)) == list.count - left.count, "\(what)")
                if bags[slot] != nil { bags[slot] = left }
            case 9:
                let others = bags[otherSlot] ?? []
                let left = list.filter { !others.contains($0) }
                #expect(try bag.subtract(db.bag(other)) == list.count - left.count, "\(what)")
                if bags[slot] != nil { bags[slot] = left }
            case 10:
                if let gone = documents.randomElement(using: &generator) {
                    try db.collection(gone.collection).remove(["_id": gone.id])
                    documents.remove(gone)
                    for slot in bags.keys { bags[slot]?.removeAll { $0 == gone } }
                }
            case 11 where Int.random(in: 0..<4, using: &generator) == 0:
                try db.dropCollection(collection)
                documents = documents.filter { $0.collection != collection }
                for slot in bags.keys { bags[slot]?.removeAll { $0.collection == collection } }
            case 12 where Int.random(in: 0..<4, using: &generator) == 0:
                #expect(try bag.remove() == (bags[slot] != nil), "\(what)")
                bags[slot] = nil
            case 12:
                do {
                    _ = try bag.rename(to: other)
                    #expect(bags[slot] != nil && (bags[otherSlot] == nil || slot == otherSlot), "\(what)")
                    bags[slot] = nil
                    bags[otherSlot] = list
                } catch let error as TansuError {
                    let isHere = bags[slot] != nil
                    #expect(error.code == (isHere ? .exists : .notFound), "\(what)")
                    #expect(!isHere || bags[otherSlot] != nil && slot != otherSlot, "\(what)")
                }
            default:
                try db.close()
                db = try Database(path: folder.path("db"), options: Database.Options(durability: .process))
            }
            for name in bagNames {
                let (bag, list) = (try db.bag(name), bags[Array(name.utf8)] ?? [])
                #expect(try bag.keys() == list, "\(what)")
                #expect(try bag.count() == list.count, "\(what)")
                #expect(try bag.documents().map(\.key) == list, "\(what)")
            }
            #expect(Set(try db.bagNames().map { Array($0.utf8) }) == Set(bags.keys), "\(what)")
            if let one = documents.randomElement(using: &generator) {
                let having = bags.filter { $0.value.contains(one) }.keys
                #expect(Set(try db.bagNames(containing: one).map { Array($0.utf8) }) == Set(having), "\(what)")
                #expect(try db.bag(name).contains(one) == (bags[Array(name.utf8)] ?? []).contains(one), "\(what)")
            }
        }
    }

    @Test("A document is in a bag once, whatever number its id is written as, and when it is stored with another type")
    func numbersOfOtherTypes() throws {
        let db = try Database(.memory)
        let things = try db.collection("things")
        try things.save([["_id": 1], ["_id": .double(2)]])
        let bag = try db.bag("b")
        #expect(
            try bag.add([key("things", 1), key("things", .double(1)), key("things", .int64(1)), key("things", 2)]) == 2)
        try things.save([["_id": .int64(1), "again": true], ["_id": 2, "again": true]])
        #expect(try bag.add([key("things", .double(1))]) == 0)
        #expect(try bag.documents().map(\.document).allSatisfy { $0["again"] == true })
        #expect(try bag.documents().count == 2)
        #expect(try bag.insert([key("things", .double(1))], at: 2) == 0)
        #expect(try bag.keys() == [key("things", 2), key("things", 1)])
        #expect(try bag.contains(key("things", .int64(2))))
        #expect(try bag.remove([key("things", .double(1)), key("things", 1)]) == 1)
        #expect(try db.bagNames(containing: key("things", .double(2))) == ["b"])
    }

    @Test("Ids of any type are found in bags, also documents that look like operators")
    func idsOfEveryType() throws {
        let db = try Database(.memory)
        let ids: [BSONValue] = [
            "", "a.b", .document([:]), .document(["a": [1, 2]]), .bool(false), .date(0),
            .minKey, .maxKey,
            .double(.nan), .objectID(ObjectID()), .timestamp(BSONTimestamp(seconds: 1, increment: 1)), .code("x"),
        ]
        try db.collection("t").save(ids.map { ["_id": $0] })
        let keys = ids.map { key("t", $0) }
        let bag = try db.bag("b")
        #expect(try bag.add(keys) == ids.count)
        #expect(try bag.add(keys) == 0)
        #expect(try bag.keys() == keys)
        #expect(try bag.documents().map(\.document) == ids.map { ["_id": $0] })
        for key in keys {
            #expect(try bag.contains(key), "\(key)")
            #expect(try bag.remove([key]) == 1, "\(key)")
            #expect(try !bag.contains(key), "\(key)")
        }
        // Ids that could be operators of a query find nothing else.
        try db.collection("t").save(["_id": 5])
        try bag.add([key("t", 5)])
        for id in [.document(["$gt": 0]), .document(["$exists": true]), .document(["$in": [5]])] as [BSONValue] {
            #expect(throws: TansuError.self, "\(id)") { try bag.add([key("t", id)]) }
            #expect((try? bag.contains(key("t", id))) != true, "\(id)")
            #expect((try? db.bagNames(containing: key("t", id))) ?? [] == [], "\(id)")
            #expect((try? bag.remove([key("t", id)])) ?? 0 == 0, "\(id)")
        }
        #expect(try bag.count() == 1)
    }

    @Test("Collections that come and go leave room for others in bags")
    func manyCollections() throws {
        let db = try Database(.memory)
        let bag = try db.bag("b")
        for number in 0..<80 {
            try db.collection("c\(number)").save(["_id": 1])
            #expect(try bag.add([key("c\(number)", 1)]) == 1, "collection \(number)")
            #expect(try bag.keys() == [key("c\(number)", 1)])
            try db.dropCollection("c\(number)")
            #expect(try bag.count() == 0)
        }
    }

    @Test("A renamed collection's documents stay in their bags, beside those of a new one with the old name")
    func renamedCollections() throws {
        let db = try Database(.memory)
        let bag = try db.bag("b")
        try db.collection("old").save([["_id": 1], ["_id": 2]])
        try bag.add([key("old", 1), key("old", 2)])
        try db.renameCollection("old", to: "new")
        #expect(try bag.keys() == [key("new", 1), key("new", 2)])
        try db.collection("old").save(["_id": 1])
        #expect(try bag.add([key("old", 1)]) == 1)
        try db.collection("old").remove([:])
        #expect(try bag.keys() == [key("new", 1), key("new", 2)])
        #expect(try bag.documents().count == 2)
    }

    @Test(
        "What a bag cannot have is an error, and adds nothing; a transaction that is rolled back leaves the bag as it was"
    )
    func errors() throws {
        struct Rollback: Error {}
        let db = try Database(.memory)
        try db.collection("t").save([["_id": 1], ["_id": 2]])
        #expect(throws: TansuError.self) { try db.bag("") }
        let bag = try db.bag("b")
        for missing in [key("t", 3), key("none", 1), key("", 1), key("t", .null), key("t", [1])] {
            #expect(throws: TansuError.self, "\(missing)") { try bag.add([key("t", 1), missing]) }
            #expect(try bag.count() == 0)
        }
        #expect(try db.collectionNames().contains("none") == false)
        #expect(try db.bagNames().isEmpty)
        try bag.add([key("t", 1)])
        for position in [-1, 2, .max, .min] {
            #expect(throws: TansuError.self) { try bag.insert([key("t", 2)], at: position) }
        }
        #expect(throws: Rollback.self) {
            try db.write { transaction in
                let bag = try transaction.bag("b")
                try bag.add([key("t", 2)])
                #expect(try bag.keys().count == 2)
                try transaction.collection("t").remove(["_id": 1])
                #expect(try bag.keys() == [key("t", 2)])
                try bag.remove()
                throw Rollback()
            }
        }
        #expect(try bag.keys() == [key("t", 1)])
        #expect(throws: TansuError.self) { try bag.rename(to: "") }
        #expect(try bag.formUnion(bag) == 0)
        #expect(try bag.formIntersection(bag) == 0)
        #expect(try bag.subtract(bag) == 1)
        #expect(try db.bagNames() == ["b"])
        #expect(try bag.remove())
        #expect(try !bag.remove())
        try db.close()
        for call in [{ try bag.add([key("t", 1)]) }, { try bag.count() }, { try bag.keys().count }]
            as [() throws -> Int]
        {
            #expect { try call() } throws: { ($0 as? TansuError)?.code == .closed }
        }
    }

    @Test("Documents go in, are moved one by one to the same place, and out again")
    func many() throws {
        let db = try Database(.memory)
        let count: Int32 = 2_000
        try db.collection("t").save((0..<count).map { ["_id": .int32($0)] })
        let bag = try db.bag("b")
        let keys = (0..<count).map { key("t", .int32($0)) }
        #expect(try bag.add(keys + keys) == keys.count)
        #expect(try bag.keys() == keys)
        // Halving the distance to a neighbour ends after some 50 times.
        let few = try db.bag("few")
        try few.add(Array(keys.prefix(3)))
        for number in 0..<200 {
            try few.insert([keys[2 + number % 2]], at: 1)
            #expect(try few.keys().count == (number == 0 ? 3 : 4))
            #expect(try few.keys()[1] == keys[2 + number % 2], "\(number)")
        }
        #expect(try db.dropCollection("t"))
        #expect(try bag.count() == 0)
        #expect(try few.count() == 0)
        #expect(try db.bagNames() == ["b", "few"])
    }
}
