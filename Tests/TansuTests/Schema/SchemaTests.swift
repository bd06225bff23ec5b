import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Schemas")
struct SchemaTests {
    /// Which rules a value under "v" violates, with their paths.
    private func violations(_ schema: BSONDocument, _ value: BSONValue) throws -> [String] {
        try DocumentSchema(["properties": ["v": .document(schema)]]).violations(in: ["v": value])
            .map { "\($0.path): \($0.rule)" }
    }

    @Test(
        "A value violates the rule that it should, and no other",
        arguments: [
            (["type": "string"], ["a"], [1, nil, ["a"]], "type"),
            (
                ["type": ["integer", "null"]], [1, 1.0, nil, .int64(1 << 60), .decimal128(Decimal128(7))], [1.5, "1"],
                "type"
            ),
            (["type": "number"], [1, 1.5, .int64(3), .decimal128(Decimal128(7))], ["1", true], "type"),
            (["bsonType": "int"], [1], [1.0, .int64(1)], "bsonType"),
            (["bsonType": ["long", "objectId"]], [.int64(1), .objectID(ObjectID())], [1, "a"], "bsonType"),
            (["bsonType": "object"], [["a": 1]], [["a"], 1], "bsonType"),
            (["bsonType": "date"], [.date(5)], [5], "bsonType"),
            (
                ["enum": [1, "a", [1, 2], ["k": 1], nil]], [1.0, "a", [1, 2.0], ["k": 1.0], nil],
                [2, [2], [1], ["k": 2]], "enum"
            ),
            (["minimum": 5], [5, 5.5, .decimal128(Decimal128(5)), "1"], [4, 4.9999, .double(.nan)], "minimum"),
            (["maximum": 5], [5, -1, [6]], [5.1, .int64(6)], "maximum"),
            (["minimum": 5, "exclusiveMinimum": true], [6], [5], "exclusiveMinimum"),
            (["minimum": 5, "exclusiveMinimum": false], [5], [4], "minimum"),
            (["exclusiveMaximum": 5], [4.9], [5, 6], "exclusiveMaximum"),
            (
                ["minimum": .int64(9_007_199_254_740_993)], [.int64(9_007_199_254_740_993)],
                [.int64(9_007_199_254_740_992)], "minimum"
            ),
            (["minLength": 2], ["ab", "é€", 1], ["a", ""], "minLength"),
            (["maxLength": 2], ["ab", "👍👍"], ["abc"], "maxLength"),
            (["pattern": "^[a-z]+$"], ["abc", 1], ["a1", ""], "pattern"),
            (["minItems": 1, "maxItems": 2], [[1], [1, 2], "abc"], [[]], "minItems"),
            (["maxItems": 2], [[1, 2]], [[1, 2, 3]], "maxItems"),
            (
                ["uniqueItems": true], [[1, 2, "1", nil, [1], ["a": 1], ["a": 2]], []],
                [
                    [1, 2, 1.0], [["a": 1], ["a": 1.0]], [[1, 2], 3, [1, 2]], [.decimal128(Decimal128(1)), .int64(1)],
                ],
                "uniqueItems"
            ),
            (["uniqueItems": false], [[1, 1]], [], ""),
            (["minProperties": 1, "maxProperties": 2], [["a": 1]], [[:]], "minProperties"),
            (["anyOf": [["type": "string"], ["minimum": 5]]], ["a", 6], [4], "anyOf"),
            (["oneOf": [["minimum": 5], ["maximum": 7]]], [4, 8], [5, 6], "oneOf"),
            (["not": ["type": "string"]], [1], ["a"], "not"),
            (["title": "t", "description": "d"], [1], [], ""),
            ([:], [1, nil], [], ""),
        ] as [(BSONDocument, [BSONValue], [BSONValue], String)])
    func rules(schema: BSONDocument, good: [BSONValue], bad: [BSONValue], rule: String) throws {
        for value in good { #expect(try violations(schema, value) == [], "\(value)") }
        for value in bad { #expect(try violations(schema, value) == ["v: \(rule)"], "\(value)") }
    }

    @Test("Random schemas and documents have the results of a reference implementation")
    func oracle() throws {
        let file = Bundle.module.bundleURL.appendingPathComponent("Resources/schema-cases.ndjson")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 600)
        for line in lines {
            let test = try BSONDocument(extendedJSON: String(line))
            let schema = try DocumentSchema(#require(test["schema"]?.documentValue))
            let document = try #require(test["document"]?.documentValue)
            let found = try schema.violations(in: document)
            let wanted = test["violations"]?.arrayValue?.compactMap(\.stringValue)
            #expect(Set(found.map { "\($0.path): \($0.rule)" }).sorted() == wanted?.sorted(), "\(line)")
            #expect(try schema.violations(in: document, limit: 1) == Array(found.prefix(1)), "\(line)")
        }
    }

    @Test("Violations name the path, through documents, arrays and combined schemas")
    func paths() throws {
        let schema = try DocumentSchema([
            "required": ["name", "age"],
            "properties": [
                "name": ["type": "string"],
                "pets": ["items": ["required": ["species"], "properties": ["species": ["minLength": 2]]]],
                "pair": ["items": [["type": "string"], ["type": "number"]]],
            ],
            "allOf": [["properties": ["age": ["minimum": 0]]]],
            "additionalProperties": false,
        ])
        func found(_ document: BSONDocument) throws -> [String] {
            try schema.violations(in: document).map { "\($0.path): \($0.rule)" }
        }
        #expect(try found(["_id": 1, "name": "a"]) == ["age: required"])
        let all = Set(
            try found(["name": 1, "age": -1, "pets": [["species": "cat"], ["species": "x"], [:]], "pair": [1, 2, 3]]))
        #expect(
            all == [
                "name: type", "pets.1.species: minLength", "pets.2.species: required", "pair.0: type", "age: minimum",
                "age: additionalProperties",
            ])
        #expect(try schema.violations(in: [:], limit: 1).count == 1)
        let nested = try DocumentSchema(["additionalProperties": ["type": "number"]])
        #expect(try nested.violations(in: ["_id": "a", "x": 1, "y": "b"]).map(\.path) == ["y"])
    }

    @Test(
        "An invalid schema is rejected with its location",
        arguments: [
            (["propertys": [:]], "propertys"),
            (["properties": ["a": ["minimun": 1]]], "properties.a.minimun"),
            (["properties": ["a": 1]], "properties.a"),
            (["properties": 1], "properties"),
            (["additionalProperties": 1], "additionalProperties"),
            (["additionalProperties": ["type": "x"]], "additionalProperties.type"),
            (["type": "int"], "type"),
            (["bsonType": "integer"], "bsonType"),
            (["type": []], "type"),
            (["required": []], "required"),
            (["required": ["a", "a"]], "required"),
            (["required": "a"], "required"),
            (["enum": []], "enum"),
            (["minimum": "1"], "minimum"),
            (["exclusiveMinimum": true], "exclusiveMinimum"),
            (["minLength": -1], "minLength"),
            (["minLength": 1.5], "minLength"),
            (["pattern": "("], "pattern"),
            (["pattern": 1], "pattern"),
            (["items": 1], "items"),
            (["items": [1]], "items"),
            (["uniqueItems": 1], "uniqueItems"),
            (["anyOf": []], "anyOf"),
            (["oneOf": [["typo": 1]]], "oneOf.0.typo"),
            (["not": [1]], "not"),
            (["title": 1], "title"),
            (["$ref": "#"], "$ref"),
        ] as [(BSONDocument, String)])
    func rejected(schema: BSONDocument, path: String) throws {
        for document: BSONDocument in [schema, ["$jsonSchema": .document(schema)]] {
            let error = #expect(throws: TansuError.self) { try DocumentSchema(document) }
            #expect(error?.code == .invalidQuery)
            #expect(error?.context == path)
        }
        let db = try Database(.memory)
        #expect(throws: TansuError.self) { try db.setSchema(schema, for: "a") }
        #expect(try db.schema(of: "a") == nil)
    }

    /// A collection with a schema, and two documents.
    private func checked() throws -> (Database, Database.Collection<BSONDocument>) {
        let db = try Database(.memory)
        let people = try db.collection("people")
        try people.save([["_id": 1, "age": 5], ["_id": 2, "age": 6]])
        try db.setSchema(["properties": ["age": ["type": "number", "minimum": 0, "maximum": 99]]], for: "people")
        return (db, people)
    }

    private typealias Write = @Sendable (Database.Collection<BSONDocument>) throws -> Void

    private static let violating: [Write] = [
        { try $0.save(["age": -1]) },
        { try $0.save([["age": 3], ["age": -1]]) },
        { try $0.insert(["age": "old"]) },
        { try $0.replace(["_id": 1, "age": -1]) },
        { try $0.update([:], ["$inc": ["age": 94]]) },
        { try $0.replace(["_id": 1], with: ["age": -1]) },
        { try $0.update(["_id": 9, "age": 100], ["$set": ["a": 1]], hints: ["$upsert": true]) },
        { try $0.update(["_id": 9, "$upsert": true], ["$set": ["age": 100]]) },
        { try $0.upsert(["_id": 9], ["$set": ["age": 100]]) },
        { try $0.update(id: 1) { $0["age"] = -1 } },
        { try $0.update([:]) { $0["age"] = ($0["age"]?.intValue).map { BSONValue($0 + 94) } } },
        { try $0.findAndUpdate(["age": 6], ["$set": ["age": -1]]) },
        { try $0.findAndUpdate([:], ["$set": ["age": -1]], hints: ["$orderby": ["age": -1]], returning: .after) },
        { try $0.findAndUpdate(["_id": 9], ["$set": ["age": -1]], hints: ["$upsert": true], returning: .after) },
        { try $0.bulk([.save(["age": -1])], policy: .allOrNothing) },
    ]

    @Test(
        "Every write is validated, and a violation rolls it back", arguments: violating.indices)
    func everyWrite(number: Int) throws {
        let write = Self.violating[number]
        let (db, people) = try checked()
        let before = try people.find().all()
        let alone = #expect(throws: TansuError.self) { try write(people) }
        #expect(alone?.code == .invalidDocument)
        #expect(alone?.context.hasPrefix("age: ") == true)
        #expect(try people.find().all() == before)
        try db.write { tx in
            let inside = try tx.collection("people")
            try inside.save(["_id": 3, "age": 7])
            let error = #expect(throws: TansuError.self) { try write(inside) }
            #expect(error?.code == .invalidDocument)
            #expect(try inside.count() == 3)
        }
        #expect(try people.find().all() == before + [["_id": 3, "age": 7]])
    }

    @Test("Valid writes have the same effect as without a schema")
    func goodWrites() throws {
        let (_, people) = try checked()
        #expect(try people.save(["_id": 3, "age": 1]) == 3)
        #expect(try people.update([:], ["$inc": ["age": 1]]).modified == 3)
        #expect(try people.update(["_id": 3], ["$dropall": true]).removed == 1)
        #expect(try people.upsert(["_id": 4], ["$set": ["age": 9]]).upserted == [4])
        #expect(
            try people.findAndUpdate(
                ["_id": 5], ["$set": ["age": 9]], hints: ["$upsert": true, "$fields": ["age": 1, "_id": 0]],
                returning: .after) == ["age": 9])
        #expect(try people.findAndUpdate(["_id": 6], ["$set": ["age": 9]], hints: ["$upsert": true]) == nil)
        #expect(try people.get(6) == ["_id": 6, "age": 9])
        #expect(try people.findAndUpdate(["_id": 6], ["$inc": ["age": 1]])?["age"] == 9)
        #expect(try people.findAndRemove(["_id": 6])?["age"] == 10)
        let several = #expect(throws: TansuError.self) { try people.save([["age": 1], ["age": 2], ["age": 100]]) }
        #expect(several?.offset == 2)
    }

    @Test("In a bulk a violation is the failure of one operation, and the others are kept")
    func bulk() throws {
        let (_, people) = try checked()
        let outcomes = try people.bulk([
            .save(["_id": 3, "age": -1]), .save(["_id": 3, "age": 1]), .update([:], ["$inc": ["age": 94]]),
            .upsert(["_id": 4], ["$set": ["age": "old"]]), .update(["_id": 3], ["$inc": ["age": 1]]),
        ])
        #expect(
            outcomes.map { ($0.error as? TansuError)?.context } == [
                "age: minimum", nil, "age: maximum", "age: type", nil,
            ])
        #expect(try people.find().all() == [["_id": 1, "age": 5], ["_id": 2, "age": 6], ["_id": 3, "age": 2]])
    }

    @Test("The async variants are validated as well")
    func asyncVariants() async throws {
        let (db, people) = try checked()
        #expect(try await people.update(["_id": 1], ["$set": ["tags": ["a"]]]).modified == 1)
        let error = await #expect(throws: TansuError.self) { try await people.save(["age": -1]) }
        #expect(error?.context == "age: minimum")
        #expect(try await db.schema(of: "people") != nil)
        try await db.setSchema(nil, for: "people")
        try await people.save(["age": -1])
    }

    @Test("A document that gets its _id from the database has one for the schema")
    func ids() throws {
        let db = try Database(.memory)
        try db.setSchema(
            ["required": ["_id"], "properties": ["_id": ["bsonType": "objectId"]], "additionalProperties": false],
            for: "a")
        let a = try db.collection("a")
        let id = try a.save([:])
        #expect(try a.get(id) == ["_id": id])
        let error = #expect(throws: TansuError.self) { try a.save(["_id": 1]) }
        #expect(error?.context == "_id: bsonType")
    }

    @Test("A schema that documents violate is not set, and names one of them")
    func existing() throws {
        let (db, people) = try fourPeople()
        let error = #expect(throws: TansuError.self) {
            try db.setSchema(["required": ["tags"]], for: "people")
        }
        #expect(error?.code == .invalidDocument)
        #expect(error?.context == "tags: required")
        #expect(error?.message.contains("_id 3") == true)
        #expect(try db.schema(of: "people") == nil)
        try people.save(["_id": 5])
    }

    @Test("A schema is there after opening again, changes, and goes with its collection")
    func lasting() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a")
        do {
            let db = try Database(path: path)
            try db.setSchema(["required": ["a"]], for: "a")
            try db.close()
        }
        let db = try Database(path: path)
        let a = try db.collection("a")
        #expect(throws: TansuError.self) { try a.save(["b": 1]) }
        #expect(try db.schema(of: "a")?.document == ["required": ["a"]])

        try db.renameCollection("a", to: "b")
        try a.save(["b": 1])
        let b = try db.collection("b")
        #expect(throws: TansuError.self) { try b.save(["b": 1]) }
        try db.setSchema(["required": ["b"]], for: "b")
        try b.save(["b": 1])
        #expect(try db.removeCollection("b"))
        try b.save(["c": 1])
        #expect(try db.schema(of: "b") == nil)

        try db.setSchema(["required": ["b"]], for: "c")
        try db.write { try $0.renameCollection("c", to: "d") }
        #expect(throws: TansuError.self) { try db.collection("d").save([:]) }
        try db.setSchema(nil, for: "d")
        try db.collection("d").save([:])
    }

    @Test("A schema is renamed with its collection, and a rollback undoes that")
    func renamed() throws {
        struct Stop: Error {}
        let db = try Database(.memory)
        try db.setSchema(["required": ["a"]], for: "a")
        let (a, b) = (try db.collection("a"), try db.collection("b"))
        try db.collection("c").save([:])
        let stopped = { @Sendable (tx: Database.Transaction) throws in
            try tx.renameCollection("a", to: "b")
            #expect(throws: TansuError.self) { try tx.collection("b").save([:]) }
            throw Stop()
        }
        #expect(throws: Stop.self) { try db.write(stopped) }
        try b.save([:])
        #expect(throws: TansuError.self) { try a.save([:]) }
        try db.removeCollection("b")
        try db.write { try $0.renameCollection("a", to: "b") }
        #expect(throws: TansuError.self) { try b.save([:]) }
        try a.save([:])
        try db.collection("c").save([:])
    }

    @Test("A schema is for a valid name, and inside a transaction it is set by the transaction")
    func names() throws {
        let db = try Database(.memory)
        let own = #expect(throws: TansuError.self) { try db.setSchema([:], for: "tansu.migrations") }
        #expect(own?.code == .invalidArgument)
        for name in ["", "a\0b", "$a"] {
            let error = #expect(throws: TansuError.self) { try db.setSchema([:], for: name) }
            #expect(error?.code == .invalidName)
        }
        try db.write { _ in
            let error = #expect(throws: TansuError.self) { try db.setSchema([:], for: "a") }
            #expect(error?.code == .busy)
        }
    }

    @Test("An empty schema removes the schema, and none is created for a collection by removing it")
    func none() throws {
        let (db, people) = try checked()
        #expect(try db.collections().first?.schema == db.schema(of: "people")?.document)
        try db.setSchema([:], for: "people")
        #expect(try db.schema(of: "people") == nil)
        #expect(try db.collections().first?.schema == nil)
        try people.save(["age": -1])
        try db.setSchema(nil, for: "other")
        #expect(try db.collectionNames() == ["people"])
    }

    @Test("A transaction sets a schema: it holds at once, is committed with it, and rolled back with it")
    func inTransaction() throws {
        struct Stop: Error {}
        let (db, people) = try checked()
        let named = try DocumentSchema(["required": ["name"]])
        let write = { @Sendable (tx: Database.Transaction) throws in
            let before = #expect(throws: TansuError.self) { try tx.setSchema(named, for: "people") }
            #expect(before?.context == "name: required")
            try tx.collection("people").remove([:])
            try tx.setSchema(named, for: "people")
            #expect(try tx.schema(of: "people") == named)
            let after = #expect(throws: TansuError.self) { try tx.collection("people").save(["age": 1]) }
            #expect(after?.context == "name: required")
            try tx.collection("people").save(["_id": 3, "name": "c", "age": 100])
            let inside = #expect(throws: TansuError.self) {
                try tx.savepoint { try tx.setSchema(nil, for: "people") }
            }
            #expect(inside?.code == .invalidState)
        }
        #expect(throws: Stop.self) {
            try db.write { tx in
                try write(tx)
                throw Stop()
            }
        }
        #expect(try db.schema(of: "people") != named && people.count() == 2)
        #expect(throws: TansuError.self) { try people.save(["name": "d", "age": 100]) }
        try db.write(write)
        #expect(try db.schema(of: "people") == named)
        try people.save(["name": "d", "age": 100])
        let reading = #expect(throws: TansuError.self) { try db.read { try $0.setSchema(named, for: "people") } }
        #expect(reading?.code == .readOnly)
    }

    @Test("A transaction that awaits sets a schema, and removes it")
    func inAsyncTransaction() async throws {
        let (db, people) = try checked()
        let named = try DocumentSchema(["required": ["_id"]])
        try await db.write { tx async throws in
            try await tx.setSchema(named, for: "people")
            let set = try await tx.schema(of: "people")
            #expect(set == named)
        }
        try await db.write { tx async throws in try await tx.setSchema(nil, for: "people") }
        #expect(try await db.schema(of: "people") == nil)
        try await people.save(["age": -1])
    }

    @Test("Inside a write that awaits, setting a schema is busy immediately")
    func nesting() async throws {
        let db = try Database(.memory)
        try await db.write { _ async throws in
            let error = await #expect(throws: TansuError.self) { try await db.setSchema(nil, for: "a") }
            #expect(error?.code == .busy)
        }
    }

    @Test(
        "JSON commands obey a schema",
        arguments: [
            #""op": "save", "documents": [{"_id": 1, "age": -1}]"#, #""op": "insert", "documents": [{"age": "x"}]"#,
            #""op": "update", "query": {"_id": 1}, "update": {"$inc": {"age": 95}}"#,
            #""op": "findAndModify", "query": {"_id": 1}, "update": {"$set": {"age": -1}}"#,
            #""op": "update", "query": {"_id": 9}, "update": {"$set": {"age": -1}}, "hints": {"$upsert": true}"#,
        ])
    func commandsObey(command: String) throws {
        let (db, people) = try checked()
        let before = try people.find().all()
        let answer = try db.executeJSON(#"{"collection": "people", \#(command)}"#)
        #expect(answer.contains(#""ok": false"#) || answer.contains(#""ok":false"#), "\(answer)")
        #expect(answer.contains("INVALID_DOCUMENT") && answer.contains("age: "), "\(answer)")
        #expect(try people.find().all() == before)
    }

    @Test("A schema that a JSON command sets holds for the next write, and is read")
    func byCommand() throws {
        let db = try Database(.memory)
        let a = try db.collection("a")
        try a.save(["x": 1])
        func set(_ validator: String) throws -> String {
            try db.executeJSON(
                #"{"op": "createCollection", "collection": "a", "options": {"validator": \#(validator)}}"#)
        }
        _ = try set(#"{"$jsonSchema": {"required": ["x"]}}"#)
        #expect(throws: TansuError.self) { try a.save([:]) }
        #expect(try db.schema(of: "a")?.document == ["required": ["x"]])
        #expect(try set(#"{"required": 1}"#).contains("INVALID_QUERY"))
        #expect(try db.schema(of: "a")?.document == ["required": ["x"]])
        _ = try set("null")
        try a.save([:])
    }

    @Test("A dump has the schema, and a load obeys it")
    func dumped() throws {
        let (db, _) = try checked()
        var text: [UInt8] = []
        try db.dump(into: { text += $0 })
        let other = try Database(.memory)
        var rest = text[...]
        try other.load(from: {
            defer { rest = [] }
            return Array(rest)
        })
        #expect(try other.schema(of: "people") == db.schema(of: "people"))
        var lines = Array(#"{"_id": 3, "age": -1}"#.utf8)
        let error = #expect(throws: TansuError.self) {
            try other.load(
                Database.LoadOptions(collection: "people"),
                from: {
                    defer { lines = [] }
                    return lines
                })
        }
        #expect(error?.code == .invalidDocument)
        #expect(try other.collection("people").count() == 2)
    }

    @Test("What a delete rule changes obeys the schema")
    func deleteRules() throws {
        let db = try Database(.memory)
        let (people, pets) = (try db.collection("people"), try db.collection("pets"))
        try db.setReferences([.init("owner", to: "people", onDelete: .nullify)], of: "pets")
        try people.save(["_id": 1])
        try pets.save(["_id": 1, "owner": 1])
        try db.setSchema(["properties": ["owner": ["type": "integer"]]], for: "pets")
        let error = #expect(throws: TansuError.self) { try people.remove(id: 1) }
        #expect(error?.context == "owner: type")
        #expect(try people.count() == 1)
        try db.setSchema(["properties": ["owner": ["type": ["integer", "null"]]]], for: "pets")
        #expect(try people.remove(id: 1))
    }

    @Test("No write that began before a schema was set commits after it without validation")
    func race() async throws {
        for _ in 0..<20 {
            let db = try Database(.memory)
            let a = try db.collection("a")
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { for _ in 0..<20 { _ = try? await a.save(["x": -1]) } }
                }
                group.addTask {
                    while (try? await db.setSchema(
                        try DocumentSchema(["properties": ["x": ["minimum": 0]]]), for: "a")) == nil
                    {
                        _ = try? await a.remove([:])
                    }
                }
            }
            #expect(try await a.count() == 0)
            let error = await #expect(throws: TansuError.self) { try await a.save(["x": -1]) }
            #expect(error?.context == "x: minimum")
        }
    }
}
