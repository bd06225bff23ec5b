import Foundation
import Logging
import Tansu
import Testing

@Suite("Validators")
struct ValidatorTests {
    private let positive: BSONDocument = ["age": ["$gte": 0]]

    /// Whether a save of a document to "people" is refused, and the context of the error.
    private func refusal(_ document: BSONDocument, _ db: Database) throws -> String? {
        do {
            try db.collection("people").save(document)
            return nil
        } catch let error as TansuError where error.code == .invalidDocument {
            return error.context
        }
    }

    @Test("Documents satisfy a query, and the error names the condition")
    func queries() async throws {
        let db = try Database(.memory)
        try await db.setValidator(["age": ["$gte": 0], "$expr": ["$lte": ["$from", "$to"]]], for: "people")
        #expect(try refusal(["_id": 1, "age": 1, "from": 1, "to": 2], db) == nil)
        #expect(try refusal(["age": -1], db) == "age: $gte")
        #expect(try refusal(["age": 1, "from": 2, "to": 1], db) == "$expr")
        #expect(throws: TansuError.self) { try db.collection("people").update([:], ["$set": ["to": 0]]) }
        await #expect(throws: TansuError.self) { try await db.setValidator(["age": ["$gtx": 1]], for: "people") }
        try await db.setValidator(nil, for: "people")
        #expect(try refusal(["age": -1], db) == nil)
        try await db.setValidator(nil, for: "other")
        #expect(try await db.collectionNames() == ["people"])
    }

    @Test("A collection tells its validator and level, and whether it is a schema")
    func info() throws {
        let db = try Database(.memory)
        var info: Database.CollectionInfo? { try? db.collections().first }
        let schema: BSONDocument = ["required": ["age"]]
        for validator in [schema, ["$jsonSchema": .document(schema)]] {
            try db.setValidator(validator, for: "people", level: .moderate)
            #expect(info?.validator == validator)
            #expect(info?.schema == schema)
            #expect(try db.schema(of: "people")?.document == schema)
            #expect(info?.validationLevel == .moderate)
        }
        try db.setValidator(positive, for: "people")
        #expect(info?.validator == positive)
        #expect(info?.schema == nil)
        #expect(try db.schema(of: "people") == nil)
        #expect(info?.validationLevel == .strict)
        // As a query it would be another condition.
        try db.setSchema(["title": "x"], for: "people", level: .off)
        #expect(info?.schema == ["title": "x"])
        #expect(throws: TansuError.self) { try db.setValidator(["title": "x"], for: "people") }
        try db.setSchema(nil, for: "people")
        #expect(info?.validator == nil)
        #expect(info?.validationLevel == .strict)
    }

    @Test("The level says what becomes of a document that violates it", arguments: Database.ValidationLevel.allCases)
    func levels(level: Database.ValidationLevel) throws {
        let db = try Database(.memory)
        try db.collection("people").save(["_id": 1, "age": -1])
        if level == .strict {
            #expect(throws: TansuError.self) { try db.setValidator(positive, for: "people", level: level) }
            try db.collection("people").save(["_id": 1, "age": 1])
        }
        try db.setValidator(positive, for: "people", level: level)
        let refuses = level == .strict || level == .moderate
        #expect(try refusal(["_id": 2, "age": -1], db) == (refuses ? "age: $gte" : nil))
        #expect(try refusal(["_id": 1, "age": -2], db) == (level == .strict ? "age: $gte" : nil))
        #expect(try db.collection("people").count() == (refuses ? 1 : 2))
    }

    @Test("A transaction and a migration set a validator")
    func transactions() async throws {
        let db = try Database(.memory)
        try await db.write { transaction in
            try await transaction.setValidator(positive, for: "people")
            #expect(throws: TansuError.self) { try transaction.collection("people").save(["age": -1]) }
            try await transaction.setValidator(positive, for: "people", level: .warn)
            try await transaction.collection("people").save(["_id": 1, "age": -1])
        }
        #expect(try await db.collections().first?.validationLevel == .warn)
        var migrations = Database.Migrations()
        migrations.add("ages") { step in
            try step.collection("people").update([:], ["$set": ["age": 0]])
            try step.setValidator(["age": ["$exists": true]], for: "people")
        }
        try await db.migrate(migrations)
        #expect(try refusal(["_id": 2], db) == "age: $exists")
    }

    @Test("The logger hears of documents that a warning let pass", arguments: [false, true])
    func warnings(logsValues: Bool) async throws {
        let log = CapturingLog()
        var options = Database.Options(logger: Logger(label: "test", factory: { _ in log }))
        options.logsQueryValues = logsValues
        let db = try Database(.memory, options: options)
        try await db.setValidator(positive, for: "people", level: .warn)
        try await db.collection("people").save([["_id": 6, "age": 6], ["_id": 7, "age": -5]])
        let entry = await log.first("invalid document")
        #expect(log.text.components(separatedBy: "invalid document").count == 2)
        #expect(entry.level == .warning)
        #expect(entry.metadata["collection"] == "people")
        #expect(entry.metadata["_id"] == "7")
        #expect(entry.metadata["path"] == "age")
        #expect(entry.metadata["rule"] == "$gte")
        #expect((entry.metadata["message"] != nil) == logsValues)
    }
}
