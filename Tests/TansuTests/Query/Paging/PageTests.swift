import Foundation
import Testing

@testable import Tansu
import TansuTestSupport

@Suite("Pages")
struct PageTests {
    private func pages<Element>(
        _ query: Database.Query<Element>, size: Int, between: () throws -> Void = {}
    ) throws -> [[Element]] {
        var pages: [[Element]] = []
        var token: Database.PageToken?
        repeat {
            let page = try query.page(after: token, size: size)
            pages.append(Array(page))
            token = page.next
            try between()
        } while token != nil && pages.count < 1000
        return pages
    }

    @Test("Pages follow one another in the query's order, and the last has no token")
    func follow() throws {
        let (_, people) = try fourPeople()
        let byAge = people.find().sorted(by: "age", .descending)
        #expect(try pages(byAge, size: 3).map { $0.map { $0._id } } == [[4, 2, 1], [3]])
        #expect(try pages(byAge, size: 4).map(\.count) == [4])
        #expect(try pages(people.find(), size: 1).map { $0.map { $0._id } } == [[1], [2], [3], [4]])
        #expect(try pages(people.find(["age": 99]), size: 2).map(\.count) == [0])
        #expect(
            try pages(byAge.fields(["name": 1, "_id": 0]), size: 2).joined().map(\.name) == [
                "lena", "rosa", "mike", "omar",
            ])
    }

    @Test("A size out of range is an error that names the range", arguments: [0, -1, Int(Int32.max), .max])
    func sizes(size: Int) throws {
        let (_, people) = try fourPeople()
        let error = #expect(throws: TansuError.self) { try people.find().page(size: size) }
        #expect(error?.code == .invalidQuery && error?.message.contains("pass 1 to 2147483646") == true)
        #expect(try people.find().page(size: Int(Int32.max) - 1).elements.count == 4)
    }

    @Test("What is inserted or removed meanwhile neither repeats nor hides anything else")
    func stable() throws {
        let (_, people) = try fourPeople()
        let query = people.find(["_id": ["$lt": 100]]).sorted(by: "age")
        let first = try query.page(size: 2)
        #expect(first.elements.map { $0._id } == [3, 1])
        try people.insert([["_id": 50, "age": 1], ["_id": 51, "age": 20], ["_id": 52, "age": 35]])
        try people.remove(id: 1)
        let second = try query.page(after: first.next, size: 10)
        #expect(second.elements.map { $0._id } == [51, 2, 4, 52])
        #expect(second.next == nil)
    }

    @Test("A unique index over the order serves each page")
    func uniqueIndex() throws {
        let things = try Database(.memory).collection(
            "things", indexes: [Database.Index(on: ["name": .ascending], unique: true)])
        try things.save((0..<500).map { ["_id": BSONValue($0), "name": BSONValue("n\(($0 * 7) % 500 + 1000)")] })
        let query = things.find().sorted(by: "name", .descending)
        let page = try query.page(after: query.page(size: 10).next, size: 10)
        #expect(page.elements.first?["name"] == "n1489")
        let token = try #require(page.next)
        let order = PageOrder(["name": -1])
        let explanation = try query.after(token, in: order).limit(10).explain()
        #expect(explanation.plan.kind == .index && explanation.plan.order == .index)
        #expect(explanation.documentsExamined <= 11)
    }

    @Test("Pages of any values, in any direction, with any index, reach all documents once and in order")
    func random() throws {
        let seed = SeededGenerator.seed()
        print("pages: TANSU_SEED=\(seed)")
        var maker = Maker(generator: SeededGenerator(seed: seed))
        for round in 0..<30 {
            let things = try Database(.memory).collection("things")
            for id in 0..<40 {
                try things.save(["_id": .int32(Int32(id)), "a": value(&maker, 2), "b": value(&maker, 0)])
            }
            try things.update([:], ["$unset": ["b": 1]], hints: ["$max": .int32(Int32(round % 3))])
            if round % 3 == 2 { try? things.ensureIndex(on: ["a": .descending], unique: true) }
            if round % 3 == 1 { try things.ensureIndex(on: ["a": .ascending, "_id": .ascending]) }
            let paths = maker.pick([["a"], ["b", "a"], ["a.x"], ["a.0", "b"], ["b", "_id"], ["a", "b"]])
            var query = things.find(maker.pick([[:], ["b": ["$gte": 0]]]))
            for path in paths { query = query.sorted(by: path, maker.flag() ? .ascending : .descending) }
            if round % 5 == 0 {
                query = things.find(query.filter, hints: query.hints.adding("$collation", "caseInsensitive"))
            }
            var ordered = query
            if !paths.contains("_id") {
                let isDescending = query.hints["$orderby"]?.documentValue?.map(\.value).last == -1
                ordered = query.sorted(by: "_id", isDescending ? .descending : .ascending)
            }
            let all = try ordered.all().map { $0._id?.intValue }
            let size = 1 + Int(maker.generator.next() % 5)
            let read = try pages(query, size: size).joined().map { $0._id?.intValue }
            #expect(Array(read) == all, "seed \(seed), round \(round), \(query.hints)")
        }
    }

    /// Values of all kinds that can be compared, and arrays of them, as deep as asked for.
    private func value(_ maker: inout Maker, _ depth: Int) -> BSONValue {
        switch maker.generator.next() % (depth == 0 ? 10 : 14) {
        case 0: return .null
        case 1: return .bool(maker.flag())
        case 2, 3: return BSONValue(maker.whole())
        case 4: return .double(maker.part())
        case 5, 6: return .string(maker.text())
        case 7: return .date(Int64(maker.whole()))
        case 8: return .binary(BSONBinary(Array(maker.text().utf8)))
        case 9: return .timestamp(BSONTimestamp(seconds: 3, increment: UInt32(maker.whole() & 7)))
        case 10, 11: return ["x": value(&maker, depth - 1)]
        default:
            let count = Int(maker.generator.next() % 4)
            return BSONValue((0..<count).map { _ in scalarOrDocument(&maker, depth - 1) })
        }
    }

    /// An array directly inside an array cannot be paged by, which another test shows.
    private func scalarOrDocument(_ maker: inout Maker, _ depth: Int) -> BSONValue {
        let made = value(&maker, depth)
        return made.arrayValue == nil ? made : .null
    }

    @Test("An index over the order and the id makes every page read as many keys as it has documents, nearly")
    func indexed() throws {
        let things = try Database(.memory).collection("things")
        try things.insert((0..<500).map { ["_id": .int32(Int32($0)), "a": .int32(Int32($0 / 7))] })
        try things.ensureIndex(on: ["a": .ascending, "_id": .ascending])
        for direction in SortDirection.allCases {
            let query = things.find().sorted(by: "a", direction)
            var token: Database.PageToken?
            for _ in 0..<20 { token = try query.page(after: token, size: 20).next }
            #expect(token != nil)
            let order = PageOrder(["a": direction == .ascending ? 1 : -1])
            let read = try query.after(token, in: order).limit(20).explain()
            #expect(read.plan.order == .index, "\(read)")
            #expect(read.documentsExamined < 60, "\(read)")
        }
    }

    @Test("The async variant, typed queries and transactions")
    func forms() async throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        try await people.insert([.mike, .rosa, .omar])
        let query = try people.find { $0.age > 1 }.sorted(by: \.name)
        let first = try await query.page(size: 2)
        #expect(first.elements == [.mike, .omar])
        let token = try #require(first.next)
        let copy = try JSONDecoder().decode(Database.PageToken.self, from: JSONEncoder().encode(token))
        #expect(copy == Database.PageToken(rawValue: token.rawValue))
        #expect(try await query.page(after: copy, size: 2).elements == [.rosa])
        let inside = try await db.read { transaction in
            try await transaction.collection("people", of: Person.self).find().sorted(by: \.name).page(
                after: token, size: 2)
        }
        #expect(inside.elements == [.rosa])
    }

    @Test("Bad tokens, sizes and hints are errors")
    func mistakes() throws {
        let (_, people) = try fourPeople()
        func error(_ query: Database.Query<BSONDocument>, _ text: String? = nil, size: Int = 2) -> TansuError? {
            let error = #expect(throws: TansuError.self) {
                try query.page(after: text.map(Database.PageToken.init(rawValue:)), size: size)
            }
            #expect(error?.code == .invalidQuery)
            return error
        }
        for text in ["", "x", "AAAA", "!!!!", "ä", "BQAAAAA", String(repeating: "A", count: 10_000)] {
            #expect(error(people.find(), text)?.message.contains("not a page token") == true)
        }
        let token = try #require(try people.find().sorted(by: "age").page(size: 2).next)
        #expect(error(people.find().sorted(by: "name"), token.rawValue)?.message.contains("another sort order") == true)
        for length in 0..<token.rawValue.count {
            _ = error(people.find().sorted(by: "age"), String(token.rawValue.prefix(length)))
        }
        _ = error(people.find(), size: 0)
        _ = error(people.find(), size: -1)
        #expect(error(people.find().skip(1))?.context == "hints.$skip")
        #expect(error(people.find().limit(1))?.context == "hints.$max")
        #expect(error(people.find(hints: ["$orderby": ["age": "up"]])) != nil)
        try people.save([["_id": 11], ["_id": 12, "n": [[1], [2]]]])
        let nested = people.find(["_id": ["$gte": 11]]).sorted(by: "n", .descending)
        #expect(error(nested, size: 1)?.context == "n")
    }
}

extension BSONDocument {
    fileprivate func adding(_ key: String, _ value: BSONValue) -> BSONDocument {
        var document = self
        document[key] = value
        return document
    }
}
