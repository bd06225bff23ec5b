import Foundation
import Tansu
import TansuObjects
import TansuTestSupport
import Testing

/// Text as a search sees it, from the documentation: by bytes, or without the case and the marks of its letters.
private func folded(_ text: String, _ ignoring: Search.Ignoring) -> [UInt8] {
    var text = text
    if ignoring.contains(.accents) {
        var scalars = String.UnicodeScalarView()
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars
        where scalar.properties.generalCategory != .nonspacingMark {
            scalars.append(scalar)
        }
        text = String(scalars)
    }
    if ignoring.contains(.case) { text = text.unicodeScalars.map(\.properties.lowercaseMapping).joined() }
    return Array(text.utf8)
}

private enum Kind: CaseIterable {
    case equal, begins, contains, ends

    func match(_ text: String) -> Search.Match {
        switch self {
        case .equal: .equal(.string(text))
        case .begins: .begins(text)
        case .contains: .contains(text)
        case .ends: .ends(text)
        }
    }

    func holds(_ value: [UInt8], _ part: [UInt8]) -> Bool {
        switch self {
        case .equal: value == part
        case .begins: value.starts(with: part)
        case .ends: value.suffix(part.count) == part[...]
        case .contains:
            part.count <= value.count
                && (0...(value.count - part.count)).contains { value[$0...].starts(with: part) }
        }
    }
}

@Suite("Searches for text beside a plain comparison")
struct SearchTextPropertyTests {
    private static let letters = [
        "a", "A", "e", "E", "é", "É", "e\u{301}", "E\u{301}", "ñ", "ö", "Ö", "z", "1", " ", "\n", "\r\n", ".", "*", "+",
        "?", "\\",
        "(", ")", "[", "]", "^", "$", "|", "{", "}", "/", "#", "-", "'", "\"", "\\E", "\\Q", "\u{0}", "漢", "😀",
    ]

    private func text(_ count: ClosedRange<Int>, _ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: count, using: &generator)).map { _ in
            Self.letters[Int.random(in: Self.letters.indices, using: &generator)]
        }.joined()
    }

    @Test("Every character, special ones of regular expressions too, counts as itself", arguments: 0..<8)
    func property(round: Int) throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed() &+ UInt64(round))
        let db = try Database(.memory)
        let collection = try db.collection("t")
        var values: [String] = ["", "\n", "a\n", "a", "cafe\u{301}", "café", "caf\u{e9}\n", "CAFÉ"]
        while values.count < 120 { values.append(text(0...5, &generator)) }
        try collection.save(
            values.enumerated().map {
                ["_id": .int32(Int32($0)), "v": .string($1), "in": [["deep": [.string($1), 5]]]]
            })
        try collection.save([["_id": "number", "v": 5], ["_id": "null", "v": .null], ["_id": "none"]])
        if round % 2 == 1 { try collection.ensureWildcardIndex() }
        if round % 4 == 2 { try collection.ensureIndex(on: ["v": .ascending]) }
        if round % 4 == 3 { try collection.ensureIndex(on: ["v": .ascending], caseInsensitive: true) }
        for number in 0..<150 {
            var part = text(0...3, &generator)
            if number % 2 == 0 {
                let scalars = Array(values[Int.random(in: values.indices, using: &generator)].unicodeScalars)
                let start = Int.random(in: 0...scalars.count, using: &generator)
                var view = String.UnicodeScalarView()
                view.append(contentsOf: scalars[start..<Int.random(in: start...scalars.count, using: &generator)])
                part = String(view)
            }
            // A mark without its letter is not a letter.
            if part.unicodeScalars.first?.properties.generalCategory == .nonspacingMark { continue }
            let kind = Kind.allCases[Int.random(in: 0..<4, using: &generator)]
            let ignoring: Search.Ignoring = [[], .case, .accents, [.case, .accents]][number % 4]
            let attributes: [Search.Attribute] = ["v", "in.deep", .named("v"), .named("deep"), .any]
            let attribute = attributes[Int.random(in: attributes.indices, using: &generator)]
            let search = Search(in: "t", where: .init(attribute, kind.match(part), ignoring: ignoring))
            let found = Set(try search.keys(in: db).map(\.id))
            let wanted = folded(part, ignoring)
            let expected = Set(
                values.indices.filter { kind.holds(folded(values[$0], ignoring), wanted) }.map {
                    BSONValue.int32(Int32($0))
                })
            // The ids of two documents are text as well.
            let others: Set<BSONValue> = ["number", "null", "none"]
            #expect(
                found.subtracting(attribute == .any ? others : []) == expected,
                """
                \(kind) \(part.debugDescription) ignoring \(ignoring.rawValue) at \(attribute), seed \(SeededGenerator.seed()): \
                too many \(found.subtracting(expected).compactMap { $0.intValue.map { values[$0].debugDescription } }), \
                too few \(expected.subtracting(found).compactMap { $0.intValue.map { values[$0].debugDescription } })
                """)
            let rest = Search(in: "t", where: !.init(attribute, kind.match(part), ignoring: ignoring))
            #expect(try rest.count(in: db) + found.count == values.count + 3)
        }
    }

    @Test("Bad ranges, paths and levels are errors; what does not exist is empty, and is not created")
    func bad() throws {
        let db = try Database(.memory)
        try db.collection("t").save([["_id": 1, "a": 1], ["_id": 2, "a": "x"]])
        func code(_ search: Search) -> TansuError.Code? {
            do {
                _ = try search.results(in: db)
                return nil
            } catch { return (error as? TansuError)?.code }
        }
        var search = Search(in: "t")
        search.limit = -1
        #expect(code(search) == .invalidArgument)
        search.limit = .max
        search.offset = .max
        #expect(try search.results(in: db).isEmpty)
        search.offset = -1
        #expect(code(search) == .invalidArgument)
        search.offset = 0
        search.order = [.init("")]
        #expect(code(search) == .invalidArgument)
        search.order = [.init("a")]
        search.returnedAttributes = [""]
        #expect(code(search) == .invalidArgument)
        for attribute in [.path(""), .named(""), .path("a\u{0}"), .named("a\u{0}b")] as [Search.Attribute] {
            #expect(code(Search(in: "t", where: .init(attribute, .equal(1)))) == .invalidArgument, "\(attribute)")
            #expect(code(Search(in: "t", where: !.init(attribute, .exists))) == .invalidArgument, "\(attribute)")
        }
        #expect(try Search(in: "none").results(in: db).isEmpty)
        #expect(try Search(in: "none").count(in: db) == 0)
        #expect(try db.collectionNames() == ["t"])
        var deep: Search.Expression = .init("a", .equal(1))
        for number in Int32(0)..<5_000 { deep = !(deep && .init("a", .equal(.int32(number)))) }
        #expect(code(Search(in: "t", where: deep)) == .invalidArgument)
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(deep) }
        #expect(try Search(in: "t", where: .all(of: [])).count(in: db) == 2)
        #expect(try Search(in: "t", where: .any(of: [])).count(in: db) == 0)
        #expect(try Search(in: "t", where: !.any(of: [])).count(in: db) == 2)
        #expect(try Search(in: "t", where: !.all(of: [])).count(in: db) == 0)
        #expect(try Search(in: "t", where: .init("a", .between(5, 0))).count(in: db) == 1)
        #expect(code(Search(in: "t", where: .query(["$nonsense": 1]))) == .invalidQuery)
        // A value, not a condition.
        #expect(try Search(in: "t", where: .init("a", .equal(.document(["$gt": 0])))).count(in: db) == 0)
        #expect(try Search(in: "t", where: .init(.named("$where"), .equal(1))).count(in: db) == 0)
        try db.close()
        #expect(code(Search(in: "t")) == .closed)
    }

    @Test("Two names of fields that look alike, and names with dots and operators, are kept apart")
    func names() throws {
        let db = try Database(.memory)
        try db.collection("t").save([
            ["_id": 1, "caf\u{e9}": 1], ["_id": 2, "cafe\u{301}": 1], ["_id": 3, "a.b": 1], ["_id": 4, "a": ["b": 1]],
            ["_id": 5, "in": ["*": 1, "**": 1, "": 1, "0": 1]], ["_id": 6, "list": [1, 2]],
        ])
        func ids(_ attribute: Search.Attribute) throws -> [Int?] {
            try Search(in: "t", where: .init(attribute, .equal(1))).keys(in: db).map(\.id.intValue)
        }
        #expect(try ids("caf\u{e9}") == [1])
        #expect(try ids("cafe\u{301}") == [2])
        #expect(try ids(.named("cafe\u{301}")) == [2])
        #expect(try ids("a\\.b") == [3])
        #expect(try ids("a.b") == [4])
        #expect(try ids(.named("a.b")) == [3])
        #expect(try ids(.named("b")) == [4])
        #expect(try ids(.named("*")) == [5])
        #expect(try ids(.named("**")) == [5])
        #expect(try ids(.named("0")) == [5])
        #expect(try ids("list.0") == [6])
    }

    @Test("A search of all collections finds documents of users only, and each once")
    func allCollections() throws {
        let db = try Database(.memory)
        try db.collection("a").save([["_id": 1, "name": "x"]])
        try db.collection("b").save([["_id": 1, "name": "x"]])
        try db.bag("x").add([ObjectKey(collection: "a", id: 1)])
        #expect(try Search(where: .init(.any, .equal("x"))).keys(in: db).map(\.collection) == ["a", "b"])
        #expect(try Search(where: .init(.any, .equal(1))).count(in: db) == 2)
        #expect(try Search(in: "a", "a", where: .init("name", .equal("x"))).count(in: db) == 1)
    }
}
