import Foundation
import TansuObjects
import Testing

@Suite("Searches")
struct SearchTests {
    let db: Database

    init() throws {
        db = try Database(.memory)
        try db.collection("people").save([
            ["_id": 1, "name": "José", "age": 12, "city": "Barcelona", "tags": ["a.b", "C*"]],
            [
                "_id": 2, "name": "Rosa", "age": 35,
                "home": ["city": "barcelona", "since": .date(Date(timeIntervalSince1970: 0))],
            ],
            ["_id": 3, "name": "jose\u{301}", "age": 35.5, "homes": [["city": "Paris"], ["city": nil]]],
        ])
        try db.collection("shops").save([
            ["_id": 1, "name": "El corte", "city": "Barcelona", "age": 20],
            ["_id": 2, "name": "Straße (1)", "age": 5],
        ])
    }

    private func ids(_ attribute: Search.Attribute, _ match: Search.Match, ignoring: Search.Ignoring = []) throws
        -> [Int]
    {
        try Search(in: "people", where: .init(attribute, match, ignoring: ignoring)).keys(in: db).map {
            $0.id.intValue ?? 0
        }
    }

    @Test("Each match finds what it says, at a path")
    func matches() throws {
        #expect(try ids("name", .equal("Rosa")) == [2])
        #expect(try ids("name", .notEqual("Rosa")) == [1, 3])
        #expect(try ids("name", .begins("Jo")) == [1])
        #expect(try ids("name", .contains("os")) == [1, 2, 3])
        #expect(try ids("name", .ends("a")) == [2])
        #expect(try ids("age", .greater(35)) == [3])
        #expect(try ids("age", .greaterOrEqual(35)) == [2, 3])
        #expect(try ids("age", .less(35)) == [1])
        #expect(try ids("age", .lessOrEqual(35)) == [1, 2])
        #expect(try ids("age", .between(12, 35)) == [1, 2])
        #expect(try ids("age", .between(35, 12)) == [1, 2])
        #expect(try ids("age", .in([12, 35.5, "x"])) == [1, 3])
        #expect(try ids("age", .in([])) == [])
        #expect(try ids("city", .exists) == [1])
        #expect(try ids("city", .notExists) == [2, 3])
        #expect(try ids("city", .equal(nil)) == [2, 3])
        #expect(try ids("home.since", .less(.date(Date()))) == [2])
    }

    @Test("Case and accents are ignored when asked")
    func ignoring() throws {
        #expect(try ids("name", .equal("josé"), ignoring: .case) == [1])
        #expect(try ids("name", .equal("Jose"), ignoring: .accents) == [1])
        #expect(try ids("name", .equal("JOSÉ"), ignoring: [.case, .accents]) == [1, 3])
        #expect(try ids("name", .begins("jos"), ignoring: .case) == [1, 3])
        #expect(try ids("name", .contains("ÓSE"), ignoring: [.case, .accents]) == [1, 3])
        #expect(try ids("name", .ends("SE"), ignoring: [.case, .accents]) == [1, 3])
        #expect(try ids("name", .notEqual("jose"), ignoring: [.case, .accents]) == [2])
        #expect(try ids("name", .in(["ROSA", 5]), ignoring: .case) == [2])
        #expect(try ids("age", .equal(12), ignoring: [.case, .accents]) == [1])
        #expect(try ids("name", .greater("ROS"), ignoring: .case) == [2])
        #expect(throws: TansuError.self) { try ids("name", .greater("ROS"), ignoring: .accents) }
    }

    @Test("A name is found at any depth, and a value in any attribute")
    func anyDepth() throws {
        #expect(try ids(.named("city"), .equal("Barcelona")) == [1])
        #expect(try ids(.named("city"), .equal("BARCELONA"), ignoring: .case) == [1, 2])
        #expect(try ids(.named("city"), .begins("Par")) == [3])
        #expect(try ids(.named("city"), .exists) == [1, 2, 3])
        #expect(try ids(.named("since"), .notExists) == [1, 3])
        #expect(try ids(.named("city"), .equal(nil)) == [3])
        #expect(try ids(.any, .equal("Barcelona")) == [1])
        #expect(try ids(.any, .begins("barc"), ignoring: .case) == [1, 2])
        #expect(try ids(.any, .contains("ri")) == [3])
        #expect(try ids(.any, .greater(35)) == [3])
        #expect(
            try Search(where: .init(.any, .equal("Barcelona"))).keys(in: db) == [
                ObjectKey(collection: "people", id: 1), ObjectKey(collection: "shops", id: 1),
            ])
    }

    @Test("What a search finds is removed by its keys, in one commit")
    func removing() throws {
        let keys = try Search(where: .init(.any, .equal("Barcelona"))).keys(in: db)
        #expect(keys.count == 2)
        #expect(throws: TansuError.self) {
            try db.write { transaction in
                try transaction.remove(keys)
                throw TansuError(.cancelled, "rolled back")
            }
        }
        #expect(throws: TansuError.self) { try db.remove(keys + [ObjectKey(collection: "", id: 1)]) }
        #expect(try Search(where: .init(.any, .equal("Barcelona"))).count(in: db) == 2)
        #expect(try db.remove(keys) == 2)
        #expect(try db.remove(keys) == 0)
        #expect(try Search(where: .init(.any, .equal("Barcelona"))).count(in: db) == 0)
    }

    @Test("What a search finds is removed with await, too")
    func removingAsync() async throws {
        let search = Search(where: .init(.any, .equal("Barcelona")))
        #expect(try await db.remove(search.keys(in: db)) == 2)
        #expect(try await search.count(in: db) == 0)
        try await db.write { transaction in
            let all = try await Search().keys(in: transaction)
            #expect(try await transaction.remove(all) == all.count)
        }
        #expect(try await Search().count(in: db) == 0)
    }

    @Test("Text is literal, whatever characters it has")
    func literal() throws {
        for ignoring: Search.Ignoring in [[], .case, .accents, [.case, .accents]] {
            #expect(try ids("tags", .contains("."), ignoring: ignoring) == [1])
            #expect(try ids("tags", .ends("*"), ignoring: ignoring) == [1])
            #expect(try ids("name", .contains(".*"), ignoring: ignoring) == [])
            #expect(try ids("name", .begins("^"), ignoring: ignoring) == [])
            #expect(try ids("name", .contains("\0"), ignoring: ignoring) == [])
            #expect(try ids("name", .contains("\\E("), ignoring: ignoring) == [])
            #expect(try ids("name", .contains(""), ignoring: ignoring) == [1, 2, 3])
            #expect(try ids("name", .begins(""), ignoring: ignoring) == [1, 2, 3])
            #expect(try ids("name", .ends(""), ignoring: ignoring) == [1, 2, 3])
        }
        try db.collection("nul").save(["_id": 1, "name": "a\0b", "a.*\\b": 5, "**": ["k": 1]])
        let search = { (attribute: Search.Attribute, match: Search.Match, ignoring: Search.Ignoring) in
            try Search(in: "nul", where: .init(attribute, match, ignoring: ignoring)).count(in: db)
        }
        #expect(try search("name", .contains("\0"), []) == 1)
        #expect(try search("name", .contains("\0B"), [.case, .accents]) == 1)
        #expect(try search(.named("a.*\\b"), .equal(5), []) == 1)
        #expect(try search(.named("**"), .exists, []) == 1)
    }

    @Test("Expressions are joined, and nested")
    func joined() throws {
        let isJose = Search.Expression("name", .equal("jose"), ignoring: [.case, .accents])
        let isYoung = Search.Expression("age", .less(20))
        #expect(try Search(in: "people", where: isJose && isYoung).count(in: db) == 1)
        #expect(try Search(in: "people", where: isJose || isYoung).count(in: db) == 2)
        #expect(try Search(in: "people", where: !isJose).count(in: db) == 1)
        #expect(
            try Search(in: "people", where: !(!isJose && isYoung) && .query(["age": ["$gt": 30]])).count(in: db) == 2)
        #expect(try Search(in: "people", where: .all(of: [])).count(in: db) == 3)
        #expect(try Search(in: "people", where: .any(of: [])).count(in: db) == 0)
    }

    @Test("Order, range and returned attributes, over one collection and several")
    func ranges() throws {
        var search = Search(in: "people")
        search.order = [.init("age", .descending)]
        search.returnedAttributes = ["age"]
        #expect(
            try search.documents(in: db) == [
                ["_id": 3, "age": 35.5], ["_id": 2, "age": 35], ["_id": 1, "age": 12],
            ])
        search.collections = ["people", "shops", "people", "nothing"]
        search.offset = 1
        search.limit = 3
        #expect(
            try search.documents(in: db) == [
                ["_id": 2, "age": 35], ["_id": 1, "age": 20], ["_id": 1, "age": 12],
            ])
        #expect(try search.keys(in: db).map(\.collection) == ["people", "shops", "people"])
        #expect(try search.count(in: db) == 3)
        search.order = []
        #expect(try search.keys(in: db).map(\.id) == [2, 3, 1])
        search.offset = 4
        #expect(try search.keys(in: db).map(\.id) == [2])
        search.offset = .max
        #expect(try search.keys(in: db).isEmpty)
        search.limit = .max
        #expect(try search.count(in: db) == 0)
    }

    @Test("Aggregates and distinct values, over one collection and several")
    func aggregates() throws {
        let people = Search(in: "people"), all = Search()
        #expect(try people.aggregate(.sum("age"), in: db).doubleValue == 82.5)
        #expect(try all.aggregate(.sum("age"), in: db).doubleValue == 107.5)
        #expect(try all.aggregate(.average("age"), in: db).doubleValue == 21.5)
        #expect(try all.aggregate(.min("age"), in: db) == 5)
        #expect(try all.aggregate(.max("age"), in: db) == 35.5)
        #expect(try all.aggregate(.count("city"), in: db).intValue == 2)
        #expect(try all.aggregate(.max("nothing"), in: db) == .null)
        #expect(try Search(in: "none").aggregate(.sum("age"), in: db).intValue == 0)
        #expect(try Search(in: "none").aggregate(.average("age"), in: db) == .null)
        #expect(try all.distinctValues(of: "city", in: db) == ["Barcelona"])
        #expect(try people.distinctValues(of: "tags", in: db) == ["C*", "a.b"])
    }

    @Test("A search runs in a transaction, with its changes")
    func transactions() throws {
        let search = Search(where: .init(.any, .equal("new")))
        try db.write { transaction in
            try transaction.collection("people").save(["_id": 4, "x": ["new"]])
            #expect(try search.keys(in: transaction) == [ObjectKey(collection: "people", id: 4)])
            #expect(try search.count(in: transaction) == 1)
            #expect(try search.keys(in: db).isEmpty)
        }
        #expect(try db.read { try search.count(in: $0) } == 1)
    }

    @Test("Objects of a model's types, with values as the model stores them")
    func objects() throws {
        struct Note: Codable, Sendable, Identifiable, Hashable { var id: Int; var text: String; var date: Date }
        struct Other: Codable, Sendable, Identifiable { var id: Int }
        var coding = BSONCodingStrategies()
        coding.date = .iso8601
        let db = try Database(.memory)
        try db.use(Model { Entity("notes", of: Note.self, coding: coding) })
        let notes = (0..<4).map { Note(id: $0, text: "note \($0)", date: Date(timeIntervalSince1970: Double($0))) }
        try db.collection(of: Note.self).save(notes)
        var search = try Search(of: Note.self, in: db, where: .init("date", .greater(.date(notes[1].date))))
        search.order = [.init("_id", .descending)]
        #expect(try search.objects(of: Note.self, in: db) == [notes[3], notes[2]])
        #expect(try search.keys(in: db).map(\.id) == [3, 2])
        #expect(try search.count(in: db) == 2)
        #expect(try search.aggregate(.max("_id"), in: db) == 3)
        search.collections = []
        #expect(try db.read { try search.objects(of: Note.self, in: $0) }.count == 2)
        search.collections = ["others"]
        expect(.invalidArgument) { _ = try search.objects(of: Note.self, in: db) }
        expect(.invalidArgument) { _ = try search.objects(of: Other.self, in: db) }
        expect(.invalidArgument) { _ = try Search(of: Other.self, in: db) }
        expect(.invalidState) { _ = try Search(of: Other.self, in: self.db) }
    }

    @Test("The query is shown, and explained")
    func shown() throws {
        var search = Search(in: "people", where: .init("name", .begins("Jo")) && .init(.named("city"), .equal("Paris")))
        search.limit = 5
        #expect(try search.query == ["$and": [["name": ["$begin": "Jo"]], ["**.city": ["$eq": "Paris"]]]])
        #expect(try search.hints == ["$max": 5])
        let command: BSONDocument = try [
            "op": "find", "collection": "people", "query": .document(search.query), "hints": ["$max": 5],
        ]
        #expect(try search.commands(in: db) == [command])
        #expect(try search.explain(in: db)["people"]?.plan.kind == .scan)
        try db.collection("people").save((10..<300).map { ["_id": BSONValue($0), "name": "Ana"] })
        try db.collection("people").ensureWildcardIndex()
        #expect(try search.explain(in: db)["people"]?.plan.kind != .scan)
    }

    @Test("The async variants find the same")
    func async() async throws {
        let search = Search(where: .init("age", .greater(12)))
        let keys = try { try search.keys(in: db) }()
        let results = try { try search.results(in: db) }()
        #expect(try await search.keys(in: db) == keys)
        #expect(try await search.results(in: db) == results)
        #expect(try await search.documents(in: db) == results.map(\.document))
        #expect(try await search.count(in: db) == 3)
        #expect(try await search.distinctValues(of: "age", in: db) == [20, 35, 35.5])
        #expect(try await search.aggregate(.min("age"), in: db) == 20)
        #expect(try await search.explain(in: db).keys.sorted() == ["people", "shops"])
        #expect(try await db.read { try await search.count(in: $0) } == 3)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await search.keys(in: db)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test("It is observed")
    func observed() async throws {
        var results = Search(in: "people", where: .init("age", .greater(30))).observe(in: db).makeAsyncIterator()
        #expect(try await results.next()?.map(\.key.id) == [2, 3])
        try await db.collection("people").save(["_id": 4, "age": 31])
        #expect(try await results.next()?.map(\.key.id) == [2, 3, 4])
    }

    @Test("It is stored and read as JSON and as BSON")
    func codable() throws {
        var search = Search(
            in: "people", "shops",
            where: .init(.named("city"), .in(["Paris", 5, .date(Date(timeIntervalSince1970: 1))]), ignoring: .case)
                && (!.init(.any, .exists) || .query(["a": 1]) || .init("x", .between(1, 2))))
        search.order = [.init("age", .descending)]
        search.limit = 3
        #expect(try JSONDecoder().decode(Search.self, from: JSONEncoder().encode(search)) == search)
        #expect(try BSONDecoder().decode(Search.self, from: BSONEncoder().encode(search)) == search)
    }

    private func expect(
        _ code: TansuError.Code, at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        #expect(sourceLocation: location) { try body() } throws: { ($0 as? TansuError)?.code == code }
    }

    @Test("What has no meaning is a typed error")
    func errors() throws {
        func fails(
            _ attribute: Search.Attribute, _ match: Search.Match, _ code: TansuError.Code = .invalidArgument,
            at location: SourceLocation = #_sourceLocation
        ) {
            expect(code, at: location) { _ = try ids(attribute, match) }
        }
        for name in ["", "a\0b"] {
            fails(.path(name), .exists)
            fails(.named(name), .exists)
        }
        for path in ["$or", "*", "**", "**.a"] { fails(.path(path), .equal(1)) }
        fails("a.*", .equal(1), .invalidQuery)
        for value: BSONValue in [.null, .minKey, .maxKey, .undefined] { fails("a", .greater(value)) }
        fails("a", .between(1, nil))
        fails("a", .between(1, "x"), .invalidQuery)
        for date in [Double.nan, .infinity, -.infinity] {
            fails("a", .equal(.date(Date(timeIntervalSince1970: date))))
            fails("a", .less(.date(Date(timeIntervalSince1970: date))))
            fails("a", .in([.date(Date(timeIntervalSince1970: date))]))
        }
        fails("a", .equal(.document(deep(120))), .tooLarge)

        var search = Search(in: "people")
        search.limit = -1
        expect(.invalidArgument) { _ = try search.keys(in: db) }
        expect(.invalidArgument) { _ = try search.aggregate(.sum("a"), in: db) }
        search.limit = 0
        search.offset = -1
        expect(.invalidArgument) { _ = try search.count(in: db) }
        search.offset = 0
        search.order = [.init("")]
        expect(.invalidArgument) { _ = try search.keys(in: db) }
        search.order = []
        search.returnedAttributes = ["a", "a.b"]
        expect(.invalidQuery) { _ = try search.documents(in: db) }
        expect(.invalidArgument) { _ = try search.distinctValues(of: "", in: db) }
        expect(.invalidArgument) { _ = try search.aggregate(.max("\0"), in: db) }
        expect(.invalidName) { _ = try Search(in: "a\0b").keys(in: db) }
        try db.close()
        expect(.closed) { _ = try Search().keys(in: db) }
    }

    private func deep(_ depth: Int) -> BSONDocument {
        var document: BSONDocument = [:]
        for _ in 0..<depth { document = ["a": .document(document)] }
        return document
    }

    @Test("Expressions of any depth are built and freed; too deep ones are errors")
    func depth() throws {
        var (nested, flat) = (Search.Expression("age", .exists), Search.Expression("age", .exists))
        for number in 0..<100_000 {
            nested = .any(of: [.all(of: [nested, .init("age", .exists)]), .init("age", .greater(0))])
            if number < 1000 { flat = flat && .init("name", .exists) }
        }
        expect(.invalidArgument) { _ = try Search(in: "people", where: nested).keys(in: db) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(nested) }
        #expect(try Search(in: "people", where: flat).count(in: db) == 3)
        nested = .init("age", .less(30))
        for _ in 0..<19 { nested = .any(of: [.all(of: [nested, .init("age", .exists)]), .init("x", .exists)]) }
        #expect(try Search(in: "people", where: nested).count(in: db) == 1)
        #expect(try JSONDecoder().decode(Search.Expression.self, from: JSONEncoder().encode(nested)) == nested)
    }
}
