import TansuBSON
import Testing

@testable import TansuCommand

@Suite("tansu schema")
struct SchemaCommandTests {
    @Test("a table of fields, and as JSON")
    func table() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("schema", "people.tansu", "people")
        #expect(result.lines[0] == "3 documents")
        #expect(result.output.contains("pets[].species"))
        let json = try command.tansu("schema", "people.tansu", "people", "--json").json()
        let fields = json["fields"]?.arrayValue?.compactMap(\.documentValue) ?? []
        #expect(
            fields.compactMap { $0["path"]?.stringValue } == ["_id", "name", "age", "pets", "pets[]", "pets[].species"])
        let age = try #require(fields.first { $0["path"] == "age" })
        #expect(age["least"] == 25)
        #expect(age["greatest"] == 41)
        #expect(age["distinct"] == 3)
        #expect(age["distinctIsExact"] == true)
        let pets = try #require(fields.first { $0["path"] == "pets[]" })
        #expect(pets["count"] == 2 && pets["of"] == 3)
        #expect(try command.tansu("schema", "people.tansu", "nobody").status == 66)
        #expect(try command.tansu("schema", "people.tansu", "people", "--sample", "1").lines[0] == "1 document")
        #expect(try command.tansu("schema", "people.tansu", "people", "--sample", "0").status == 64)
        #expect(try command.tansu("schema", "people.tansu", "people", "--sample", "5", "--all").status == 64)
    }

    @Test("all documents of a sample satisfy the JSON Schema", arguments: 0..<4)
    func jsonSchema(seed: Int) throws {
        let command = try Command()
        let values = [
            "1", "2.5", "\"a.$b\"", "null", "true", "{\"$numberLong\": \"5\"}", "{\"$date\": \"2020-01-01T00:00:00Z\"}",
            "[]", "{}",
            "[1, \"x\", {\"y\": [2, [3]]}]", "{\"\": 1, \"a.b\": {\"$oid\": \"507f1f77bcf86cd799439011\"}}",
            "{\"$regularExpression\": {\"pattern\": \"a\", \"options\": \"\"}}", "{\"$minKey\": 1}",
            "{\"$numberDecimal\": \"1.5\"}",
            "{\"$binary\": {\"base64\": \"AA==\", \"subType\": \"00\"}}", "{\"$timestamp\": {\"t\": 1, \"i\": 2}}",
        ]
        let documents = (0..<50).map { number in
            let (first, second) = ((number * 7 + seed * 3) % values.count, (number * 5 + seed) % values.count)
            let more = number % (seed + 2) == 0 ? "" : ", \"m\": \(values[second])"
            return "{\"_id\": \(number), \"v\": \(values[first])\(more)}\n"
        }
        try command.write("d.ndjson", documents.joined())
        try command.succeed("import", "d.tansu", "d.ndjson", "--collection", "c")
        let schema = try command.tansu("schema", "d.tansu", "c", "--all", "--json-schema")
        #expect(schema.status == 0)
        let text = try BSONDocument(extendedJSON: schema.output).json()
        // A strict validator needs documents that satisfy it.
        let created = try command.tansu("collections", "create", "d.tansu", "c", "--validator", text)
        #expect(created.status == 0, "\(created.error)")
        let wrong = try command.tansu("save", "d.tansu", "c", "{\"_id\": \"text\", \"v\": 1}")
        #expect(wrong.error.contains("INVALID_DOCUMENT"))
    }

    @Test("distinct values are counted, and beyond some hundred estimated")
    func distinct() {
        var sketch = DistinctSketch()
        for number in 0..<200 { for _ in 0..<3 { sketch.add(BSONValue(number)) } }
        #expect(sketch.isExact)
        #expect(sketch.estimate == 200)
        for number in 0..<100_000 { sketch.add(.string("text \(number)")) }
        #expect(!sketch.isExact)
        #expect((80_000...120_000).contains(sketch.estimate))
    }

    @Test("many fields need bounded memory, and the schema holds nevertheless")
    func manyFields() throws {
        var sample = SchemaSample()
        for number in 0..<100 {
            sample.add(BSONDocument((0..<100).map { ("f\(number * 100 + $0)", BSONValue($0)) }))
        }
        #expect(sample.isCut)
        #expect(sample.lines().count == 2000)
        #expect(sample.jsonSchema()["required"] == nil)
    }
}
