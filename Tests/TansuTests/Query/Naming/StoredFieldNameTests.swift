import Foundation
import Tansu
import Testing

/// Asks a collection where it looks for a property.
private func path<Root: Codable & Sendable, Value>(_ keyPath: KeyPath<Root, Value>) throws -> String? {
    let all = try Database(.memory).collection("all", of: Root.self).find()
    return try all.sorted(by: keyPath).hints["$orderby"]?.documentValue?.keys.first
}

@Suite("Stored names of key paths")
struct StoredFieldNameTests {
    enum Raw: String, Codable, Sendable { case one = "1", two = "2" }
    enum Listed: Int, Codable, CaseIterable, Sendable { case a, b, c }
    enum Payload: Codable, Sendable { case text(String), number(Int) }

    struct Inner: Codable, Sendable, Hashable {
        enum CodingKeys: String, CodingKey { case id, text = "t.x" }
        var id = 0
        var text: String?
    }

    struct Everything: Codable, Sendable {
        enum CodingKeys: String, CodingKey {
            case id, int, small, double, float, flag, other, text, raw, raw2, listed, payload, date, uuid, data, url
            case decimal, inner, inners, set, map, optional, document, value, big
            case renamed = "stored"
        }
        var id: UUID
        var int: Int
        var small: Int8
        var double: Double
        var float: Float
        var flag: Bool
        var other: Bool
        var text: String
        var raw: Raw
        var raw2: Raw
        var listed: Listed
        var payload: Payload
        var date: Date
        var uuid: UUID
        var data: Data
        var url: URL
        var decimal: Decimal
        var inner: Inner
        var inners: [Inner]
        var set: Set<Inner>
        var map: [String: Inner]
        var optional: Inner?
        var document: BSONDocument
        var value: BSONValue
        var big: UInt64
        var renamed: String?

        var computed: String { text }
        var computedOptional: String? { renamed }
    }

    @Test("Properties of every kind are found, renamed, nested and optional ones among them")
    func found() throws {
        #expect(try path(\Everything.id) == "_id")
        #expect(try path(\Everything.int) == "int")
        #expect(try path(\Everything.small) == "small")
        #expect(try path(\Everything.double) == "double")
        #expect(try path(\Everything.float) == "float")
        #expect(try path(\Everything.flag) == "flag")
        #expect(try path(\Everything.other) == "other")
        #expect(try path(\Everything.text) == "text")
        #expect(try path(\Everything.raw) == "raw")
        #expect(try path(\Everything.raw2) == "raw2")
        #expect(try path(\Everything.listed) == "listed")
        #expect(try path(\Everything.payload) == "payload")
        #expect(try path(\Everything.date) == "date")
        #expect(try path(\Everything.uuid) == "uuid")
        #expect(try path(\Everything.data) == "data")
        #expect(try path(\Everything.url) == "url")
        #expect(try path(\Everything.decimal) == "decimal")
        #expect(try path(\Everything.inner) == "inner")
        #expect(try path(\Everything.inners) == "inners")
        #expect(try path(\Everything.set) == "set")
        #expect(try path(\Everything.map) == "map")
        #expect(try path(\Everything.optional) == "optional")
        #expect(try path(\Everything.document) == "document")
        #expect(try path(\Everything.value) == "value")
        #expect(try path(\Everything.big) == "big")
        #expect(try path(\Everything.renamed) == "stored")
        #expect(try path(\Everything.inner.id) == "inner.id")
        #expect(try path(\Everything.inner.text) == "inner.t\\.x")
        #expect(try path(\Everything.optional?.text) == "optional.t\\.x")
    }

    struct Node: Codable, Sendable {
        var label: String
        var children: [Node]
        var named: [String: Node]
        var next: Next?
        struct Next: Codable, Sendable { var node: [Node]; var text: String? }
    }

    @Test("Types that contain themselves")
    func recursive() throws {
        #expect(try path(\Node.label) == "label")
        #expect(try path(\Node.children) == "children")
        #expect(try path(\Node.next) == "next")
        #expect(try path(\Node.next?.text) == "next.text")
    }

    struct Strict: Codable, Sendable {
        var percent: Int
        var name: String
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            percent = try container.decode(Int.self, forKey: .percent)
            name = try container.decode(String.self, forKey: .name)
            guard (0...60).contains(percent) else {
                throw DecodingError.dataCorruptedError(forKey: .percent, in: container, debugDescription: "range")
            }
        }
    }

    struct Named: Codable, Sendable, StoredFieldNaming {
        var inner: Strict
        var celsius: Double
        static var storedFieldNames: [PartialKeyPath<Named>: String] { [\.celsius: "c.d"] }
    }

    struct Twins: Codable, Sendable {
        var one: Int
        var other: Int
        init(from decoder: any Decoder) throws {
            one = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .one)
            other = one
        }
    }

    @Test("A type that validates its values, or names some of its properties itself")
    func particular() throws {
        #expect(try path(\Strict.percent) == "percent")
        #expect(try path(\Twins.one) == "one")
        #expect(try path(\Named.celsius) == "c\\.d")
        #expect(try path(\Named.inner.name) == "inner.name")
    }

    @Test("What cannot be found is an error that says what to do, never a guess")
    func mistakes() throws {
        func error<Root: Codable & Sendable, Value>(_ keyPath: KeyPath<Root, Value>) -> String {
            let error = #expect(throws: TansuError.self) { try path(keyPath) }
            #expect(error?.code == .invalidQuery)
            return error?.description ?? ""
        }
        #expect(error(\Everything.computed).contains("StoredFieldNaming"))
        #expect(error(\Everything.computedOptional).contains("StoredFieldNaming"))
        #expect(error(\Everything.text.count).contains("computed by \"String\""))
        #expect(error(\Everything.inners[0]).contains("computed"))
        #expect(error(\Everything.inner.text?.count).contains("computed by \"String\""))
        #expect(error(\Everything.optional!.id).contains("computed"))
        #expect(error(\Everything.self).contains("no field"))
    }
}
