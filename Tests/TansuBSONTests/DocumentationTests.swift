import Foundation
import TansuBSON
import Testing

/// The examples of the documentation catalog.
struct DocumentationTests {
    /// Checks the result of an expression of an example.
    func shows(_ value: Any?, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let found = value.map { "\($0)" } ?? "nil"
        #expect(found == text, sourceLocation: sourceLocation)
    }

    @Test func documents() throws {
        var person: BSONDocument = ["name": "mike", "pet": ["species": "cat"], "tags": ["a", "b"]]
        person["age"] = 12
        shows(person[path: "pet.species"]?.stringValue, #"cat"#)
        shows(person.name?.stringValue, #"mike"#)
        try person.setValue("B", atPath: "tags.1")
        shows(person, #"{"name":"mike","pet":{"species":"cat"},"tags":["a","B"],"age":12}"#)
    }

    @Test func nullAndMissing() {
        let document: BSONDocument = ["a": nil]
        shows(document["a"], #"null"#)
        shows(document["b"], #"nil"#)
    }

    @Test func refusedText() {
        do {
            _ = try BSONDocument(extendedJSON: #"{"name": "mike", "age": twelve}"#)
        } catch let error as BSONError {
            shows(error.code, #"invalidJSON"#)
            shows(error.column, #"25"#)
        } catch {
            Issue.record(error)
        }
        #expect(throws: BSONError.self) { try BSONDocument(extendedJSON: #"{"name": "mike", "age": twelve}"#) }
    }

    @Test func extendedJSON() {
        let born: BSONDocument = ["at": .date(0), "count": 1]
        shows(born.extendedJSON(.canonical), #"{"at":{"$date":{"$numberLong":"0"}},"count":{"$numberInt":"1"}}"#)
        shows(born.extendedJSON(.relaxed), #"{"at":{"$date":"1970-01-01T00:00:00Z"},"count":1}"#)
    }

    @Test func codableValues() throws {
        struct Pet: Codable, Equatable { var species: String }
        struct Person: Codable, Equatable {
            var id: Int
            var name: String
            var age: Int?
            var pet: Pet?
        }

        let mike = Person(id: 1, name: "mike", age: nil, pet: Pet(species: "cat"))
        let document = try BSONEncoder().encode(mike)
        shows(document, #"{"_id":1,"name":"mike","pet":{"species":"cat"}}"#)
        let same = try BSONDecoder().decode(Person.self, from: document)
        #expect(same == mike)
    }

    @Test func idByChoice() throws {
        struct Book: Codable {
            var isbn: String
            var title: String
            enum CodingKeys: String, CodingKey { case isbn = "_id", title }
        }

        shows(
            try BSONEncoder().encode(Book(isbn: "0-19-852663-6", title: "Typography")),
            #"{"_id":"0-19-852663-6","title":"Typography"}"#)
    }

    @Test func strategies() throws {
        var encoder = BSONEncoder()
        encoder.dateStrategy = .iso8601
        encoder.uuidStrategy = .string

        struct Visit: Codable { var at: Date }
        shows(
            try encoder.encode(Visit(at: Date(timeIntervalSince1970: 0))), #"{"at":"1970-01-01T00:00:00.000Z"}"#)

        var yearly = BSONEncoder()
        yearly.dateStrategy = .custom(
            encode: { BSONValue(1970 + Int($0.timeIntervalSince1970 / 31_556_952)) },
            decode: { Date(timeIntervalSince1970: Double(($0.intValue ?? 1970) - 1970) * 31_556_952) })
        shows(try yearly.encode(Visit(at: Date(timeIntervalSince1970: 1e9))), #"{"at":2001}"#)
    }

    @Test func roundedDecimals() throws {
        struct Share: Codable { var part: Decimal }
        var shares = BSONEncoder()
        shares.decimalStrategy = .roundedDecimal128(.down)
        shows(
            try shares.encode(Share(part: Decimal(2) / 3)),
            #"{"part":{"$numberDecimal":"0.6666666666666666666666666666666666"}}"#)
    }

    @Test func codingKeys() throws {
        struct Account: Codable {
            var firstName: String
            enum CodingKeys: String, CodingKey { case firstName = "first_name" }
        }

        shows(try BSONEncoder().encode(Account(firstName: "rosa")), #"{"first_name":"rosa"}"#)
    }

    @Test func directCoding() throws {
        var general = BSONEncoder()
        general.usesDirectCoding = false
        let point = Point(x: 1, y: 2)
        shows(try BSONEncoder().encode(point) == general.encode(point), #"true"#)
        #expect(try BSONDecoder().decode(Point.self, from: BSONEncoder().encode(point)) == point)
    }

    /// This file contains every code block of the catalog. A comment after an expression is its result.
    @Test func allExamplesAreTested() throws {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let run = try Self.bare(String(contentsOf: here, encoding: .utf8))
        let catalogue = root.appendingPathComponent("Sources/TansuBSON/TansuBSON.docc")
        let articles = try FileManager.default.contentsOfDirectory(at: catalogue, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }
        #expect(articles.count == 2)
        for article in articles {
            let blocks = try Self.blocks(of: String(contentsOf: article, encoding: .utf8))
            #expect(!blocks.isEmpty)
            for block in blocks where !run.contains(Self.bare(Self.asTest(block))) {
                Issue.record("\(article.lastPathComponent) has an example that is not tested:\n\(block)")
            }
        }
    }

    static func blocks(of article: String) -> [String] {
        let parts = article.components(separatedBy: "```")
        return parts.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element.dropFirst("swift\n".count)) }
    }

    /// Converts an example to the code of a test: an expression with a comment becomes a call of `shows`.
    static func asTest(_ block: String) -> String {
        block.split(separator: "\n").map { line -> String in
            guard let comment = line.range(of: #"\s+// "#, options: .regularExpression) else { return String(line) }
            let code = line[..<comment.lowerBound].drop { $0 == " " }
            let result = "#\"\(line[comment.upperBound...])\"#"
            guard code.hasPrefix("let "), let name = code.dropFirst(4).split(separator: " ").first else {
                return "shows(\(code), \(result))"
            }
            return "\(code)\nshows(\(name), \(result))"
        }
        .joined(separator: "\n")
    }

    /// Code without white space.
    static func bare(_ code: String) -> String { code.filter { !$0.isWhitespace } }
}

struct Point: Codable, Equatable {
    var x: Double
    var y: Double
}

extension Point: BSONWritable {
    func write(to fields: inout BSONFieldWriter) throws {
        fields.write("x", x)
        fields.write("y", y)
    }
}

extension Point: BSONReadable {
    init(reading fields: inout BSONFieldReader) throws {
        x = try fields.read("x")
        y = try fields.read("y")
    }
}
