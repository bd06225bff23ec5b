import Foundation
import Tansu
import Testing

@Suite("Queries by key path")
struct KeyPathQueryTests {
    enum Kind: String, Codable, Sendable { case cat, dog, bird }
    struct Home: Codable, Sendable { var city: String; var zip: Int? }
    struct Toy: Codable, Sendable, Equatable { var name: String; var price: Double? }
    struct Animal: Codable, Sendable, Identifiable {
        enum CodingKeys: String, CodingKey {
            case id, name, age, weight, kind, nick, home, toys, tags, marks, born
            case isTame = "tame"
        }
        var id: Int
        var name: String
        var age: Int
        var weight: Double = 1
        var kind: Kind?
        var isTame = true
        var nick: String?
        var home: Home?
        var toys: [Toy]?
        var tags: [String] = []
        var marks: [String: Int] = [:]
        var born: Date?
    }

    private static let all = [
        Animal(
            id: 1, name: "Mia", age: 3, weight: 4.5, kind: .cat, nick: "M", home: Home(city: "Paris", zip: 75),
            toys: [Toy(name: "ball", price: 2), Toy(name: "mouse")], tags: ["small", "calm"],
            marks: ["a.b": 1, "0": 5], born: Date(timeIntervalSince1970: 1000)),
        Animal(
            id: 2, name: "Rex", age: 7, weight: 31, kind: .dog, isTame: false, home: Home(city: "Berlin"),
            toys: [], tags: ["loud"], marks: ["b": 2], born: Date(timeIntervalSince1970: 2000)),
        Animal(id: 3, name: "Pip", age: 31, weight: .nan, nick: "p", tags: ["loud", "small"]),
    ]

    private func animals() throws -> Database.Collection<Animal> {
        let animals = try Database(.memory).collection("animals", of: Animal.self)
        try animals.insert(Self.all)
        return animals
    }

    private func expect(
        _ ids: [Int], _ document: BSONDocument? = nil, sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: (Database.Field<Animal>) -> Database.Condition
    ) throws {
        let query = try animals().find(condition)
        #expect(try query.all().map(\.id) == ids, "\(query.filter)", sourceLocation: sourceLocation)
        if let document { #expect(query.filter == document, sourceLocation: sourceLocation) }
    }

    @Test("Comparisons become the literals that people would write")
    func literals() throws {
        try expect([1], ["name": "Mia"]) { $0.name == "Mia" }
        try expect([2, 3], ["name": ["$ne": "Mia"]]) { $0.name != "Mia" }
        try expect([2], ["age": ["$gt": 3, "$lt": 31]]) { $0.age > 3 && $0.age < 31 }
        try expect([1, 3], ["$or": [["age": 3], ["age": ["$gte": 31]]]]) { $0.age == 3 || $0.age >= 31 }
        try expect([2], ["tame": false, "_id": ["$lte": 2]]) { $0.isTame == false && $0.id <= 2 }
        try expect([1], ["home.city": "Paris"]) { $0.home.city == "Paris" }
        try expect([2], ["kind": "dog"]) { $0.kind == .dog }
        try expect([1, 2], ["kind": ["$in": ["cat", "dog"]]]) { $0.kind.in([.cat, .dog]) }
        try expect([1, 2], ["_id": ["$in": [1, 2]]]) { $0.id.in([1, 2]) }
        try expect([1], ["toys": ["$elemMatch": ["name": "ball", "price": 2.0]]]) {
            $0.toys.contains { $0.name == "ball" && $0.price == 2 }
        }
        try expect([2], ["born": ["$gt": .date(1_000_000)]]) { $0.born > Date(timeIntervalSince1970: 1000) }
    }

    @Test("Missing equals nil, and differs from every value")
    func nothing() throws {
        try expect([2]) { $0.nick == nil }
        try expect([1, 3]) { $0.nick != nil }
        try expect([3]) { $0.home == nil }
        try expect([1, 2]) { $0.home != nil && $0.kind != nil }
        try expect([2, 3]) { $0.home.zip == nil }
        try expect([2, 3]) { $0.home.zip != 75 }
        try expect([2, 3]) { !($0.home.zip > 5) }
        try expect([1, 2]) { $0.home.exists() }
        let nick: String? = nil
        try expect([2]) { $0.nick == nick }
    }

    @Test("Negation, ranges and NaN mean what they mean in Swift")
    func ranges() throws {
        try expect([1]) { $0.weight < 10 }
        try expect([1, 2]) { $0.weight <= 31 }
        try expect([3]) { !($0.weight <= 31) }
        try expect([]) { $0.weight == .nan }
        try expect([1, 2, 3]) { $0.weight != .nan }
        try expect([1, 2]) { $0.age.in(3...7) }
        try expect([1]) { $0.age.in(3..<7) }
        try expect([2, 3]) { $0.age.between(4, 31) }
        try expect([3]) { !($0.kind == .cat || $0.kind == .dog) }
    }

    @Test("Text operators")
    func text() throws {
        try expect([2]) { $0.name.hasPrefix("R") }
        try expect([1]) { $0.name.hasSuffix("a") }
        try expect([1, 3]) { $0.name.contains("i") }
        try expect([1, 3]) { $0.name.matches("^.i") }
        try expect([2]) { $0.name.matches("^rE", options: "i") }
        try expect([3]) { $0.nick.hasPrefix("p") }
        try expect([1, 2]) { !$0.nick.hasPrefix("p") }
        try expect([1, 2, 3]) { $0.name.hasPrefix("") }
        try expect([1]) { $0.name.ignoringCase == "MIA" }
        try expect([2, 3]) { $0.name.ignoringCase != "MIA" }
        try expect([1, 3]) { $0.name.ignoringCase.contains("I") || $0.name.ignoringCase.hasPrefix("mi") }
        try expect([1]) { $0.name.ignoringCase.hasSuffix("IA") }
    }

    @Test("Arrays by their elements and their number")
    func arrays() throws {
        try expect([1, 3]) { $0.tags.contains("small") }
        try expect([2]) { !$0.tags.contains("small") }
        try expect([1, 3]) { $0.tags.count > 1 }
        try expect([2]) { $0.tags.count == 1 }
        try expect([2]) { $0.tags.count < 2 }
        try expect([2]) { $0.tags == ["loud"] }
        try expect([2]) { $0.toys.isEmpty }
        try expect([2, 3]) { $0.toys.count != 2 }
        try expect([3]) { $0.toys == nil }
        try expect([2]) { $0.toys.allSatisfy { $0.price != nil } }
        try expect([1]) { $0.toys.contains { $0.price == nil || $0.name == "x" } }
        try expect([1, 3]) { $0.tags.contains { $0.hasPrefix("sm") && !($0 == "smile") } }
        try expect([1, 2, 3]) { $0.tags.allSatisfy { $0 == "loud" || $0 == "small" || $0 == "calm" } }
        try expect([1, 2]) { $0.toys.count >= 0 }
        try expect([]) { $0.toys.count < -1 }
    }

    @Test("Keys of dictionaries, also with dots and digits")
    func dictionaries() throws {
        try expect([1]) { $0.marks["a.b"] == 1 }
        try expect([1]) { $0.marks["0"] > 4 }
        try expect([1, 3]) { $0.marks["b"] == nil }
    }

    @Test("The empty key of a dictionary, in conditions")
    func emptyKeys() throws {
        struct Entry: Codable, Sendable, Identifiable {
            enum CodingKeys: String, CodingKey { case id, marks, unnamed = "" }
            var id: Int
            var marks: [String: [String: Int]] = [:]
            var unnamed = 0
        }
        let entries = try Database(.memory).collection("entries", of: Entry.self)
        try entries.save([
            Entry(id: 1, marks: ["": ["": 5, "a": 6], "b": ["": 7]], unnamed: 8), Entry(id: 2, marks: ["b": ["a": 5]]),
        ])
        #expect(try entries.find { $0.marks[""]["a"] == 6 && $0.marks[""][""] == 5 }.all().map(\.id) == [1])
        #expect(try entries.find { $0.marks["b"][""] != 7 }.all().map(\.id) == [2])
        #expect(try entries.find { $0.marks["b"][""] == nil }.all().map(\.id) == [2])
        #expect(try entries.find { $0.unnamed == 8 }.all().map(\.id) == [1])
        let error = #expect(throws: TansuError.self) { try entries.find().sorted(by: \.unnamed) }
        #expect(error?.code == .invalidQuery && error?.message.contains("empty") == true)
    }

    struct Values: Codable, Sendable {
        var id = UUID()
        var data = Data([1, 2])
        var url = URL(fileURLWithPath: "/a")
        var decimal = Decimal(3)
        var float: Float = 0.1
        var big: UInt64 = 7
        var small: Int8 = -1
        var date = Date(timeIntervalSince1970: 0.0014)
        var optional: ObjectID?
    }

    struct Grid: Codable, Sendable {
        var id: Int
        var rows: [[Int]]
        var homes: [Home?] = []
        var marks: [Int?] = []
    }

    @Test("Arrays of arrays and of optionals")
    func nestedArrays() throws {
        let grids = try Database(.memory).collection("grids", of: Grid.self)
        try grids.insert([
            Grid(id: 1, rows: [], homes: [nil], marks: [1, nil]), Grid(id: 2, rows: [[]], marks: [2]),
            Grid(id: 3, rows: [[1, 2], [3]]), Grid(id: 4, rows: [[3, 4]]),
        ])
        func ids(_ condition: (Database.Field<Grid>) -> Database.Condition) throws -> [Int] {
            try grids.find(condition).all().map(\.id)
        }
        #expect(try ids { $0.rows == [] } == [1])
        #expect(try ids { $0.rows == [[]] } == [2])
        #expect(try ids { $0.rows != [] } == [2, 3, 4])
        #expect(try ids { $0.rows.in([[], [[3, 4]]]) } == [1, 4])
        #expect(try ids { $0.rows.contains([]) } == [2])
        #expect(try ids { $0.rows.contains([3]) } == [3])
        #expect(try ids { $0.rows.contains { $0.contains(3) } } == [3, 4])
        #expect(try ids { $0.rows.contains { $0.count == 2 && $0.contains { $0 < 2 } } } == [3])
        #expect(try ids { $0.rows.allSatisfy { $0.isEmpty } } == [1, 2])
        #expect(try ids { $0.marks.contains(nil) } == [1])
        #expect(try ids { $0.marks.contains { $0 > 1 } } == [2])
        #expect(try ids { $0.marks.allSatisfy { $0 != nil } } == [2, 3, 4])
        #expect(try ids { $0.homes.contains { $0 == nil } } == [1])
        let error = #expect(throws: TansuError.self) { try grids.find { $0.homes.contains { $0.city != "x" } } }
        #expect(error?.message.contains("may be nil") == true)
    }

    @Test("A date is compared as it is stored, to the millisecond")
    func dates() throws {
        let exact = Date(timeIntervalSince1970: 1_700_000_000.123_456_7)
        let values = try Database(.memory).collection("values", of: Values.self)
        try values.save(Values(date: exact))
        #expect(try values.find { $0.date == exact }.count() == 1)
        #expect(try values.find(["date": .date(exact)]).count() == 1)
        #expect(try values.find { $0.date < exact }.count() == 0)
    }

    @Test("A collection of documents has no properties to query: that is an error")
    func documents() throws {
        let documents = try Database(.memory).collection("documents")
        let error = #expect(throws: TansuError.self) { try documents.find { $0.count == 3 } }
        #expect(error?.message.contains("document literal") == true)
    }

    @Test("Many tasks may ask for the same names at once")
    func concurrently() async throws {
        struct Fresh: Codable, Sendable {
            var id: Int
            var first: String
            var second: String?
            var third: Double
        }
        let fresh = try Database(.memory).collection("fresh", of: Fresh.self)
        let filters = try await withThrowingTaskGroup(of: BSONDocument.self) { group in
            for _ in 0..<16 {
                group.addTask { try fresh.find { $0.first == "a" && $0.second != nil && $0.third > 1 }.filter }
            }
            return try await group.reduce(into: Set<BSONDocument>()) { $0.insert($1) }
        }
        #expect(filters == [["first": "a", "second": ["$ne": nil], "third": ["$gt": 1.0]]])
    }

    @Test("Values are compared as they are stored")
    func values() throws {
        let value = Values()
        let values = try Database(.memory).collection("values", of: Values.self)
        try values.save(value)
        let equal = try values.find {
            $0.id == value.id && $0.data == value.data && $0.url == value.url && $0.decimal == 3
                && $0.float == 0.1 && $0.big == 7 && $0.small < 0 && $0.date == value.date && $0.optional == nil
        }
        #expect(try equal.count() == 1, "\(equal.filter)")
        #expect(try values.find { $0.big.in([6, 7]) && $0.decimal >= 2.5 && $0.small.in([-1]) }.count() == 1)
        #expect(try values.find { $0.big == UInt64.max }.count() == 0)
        #expect(try values.find { $0.big < UInt64.max }.count() == 1)
        // More digits than decimal128 has.
        let number = Decimal.greatestFiniteMagnitude
        let large = #expect(throws: TansuError.self) { try values.find { $0.decimal == number } }
        #expect(large?.message.contains("cannot be stored") == true)
    }

    @Test("What cannot be expressed is an error that says why")
    func errors() throws {
        let animals = try animals()
        func error(_ condition: (Database.Field<Animal>) -> Database.Condition) -> TansuError? {
            let error = #expect(throws: TansuError.self) { try animals.find(condition) }
            #expect(error?.code == .invalidQuery)
            return error
        }
        #expect(error { $0.marks["a\0b"] == 1 }?.message.contains("NUL") == true)
        #expect(error { $0.tags.count > 1000 }?.message.contains("100") == true)
        #expect(
            error { outer in outer.toys.contains { $0.name == "x" && outer.age > 3 } }?.message.contains("outside")
                == true)
        #expect(
            error { $0.name == "x" || $0[dynamicMember: \.name.isEmpty] == true }?.message.contains("computed") == true)
        #expect(throws: TansuError.self) { try animals.find { $0.name.matches("(") }.all() }
    }

    @Test("Sorted by key path, also through an optional")
    func sorting() throws {
        let animals = try animals()
        #expect(try animals.find { $0.age > 0 }.sorted(by: \.age, .descending).limit(2).all().map(\.id) == [3, 2])
        #expect(try animals.find().sorted(by: \.home?.city).all().map(\.id) == [3, 2, 1])
        #expect(try animals.find().sorted(by: \.isTame).sorted(by: \.id, .descending).all().map(\.id) == [2, 3, 1])
        #expect(try animals.find().sorted(by: \.isTame).hints == ["$orderby": ["tame": 1]])
        let error = #expect(throws: TansuError.self) { try animals.find().sorted(by: \.tags.first) }
        #expect(error?.code == .invalidQuery)
    }
}
