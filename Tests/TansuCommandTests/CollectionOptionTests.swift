import Testing

@testable import Tansu
@testable import TansuCommand

@Suite("Options of collections")
struct CollectionOptionTests {
    @Test("--timestamps has saves date documents, --no-timestamps ends it")
    func timestamps() throws {
        let command = try Command()
        let created = try command.tansu("collections", "create", "db", "notes", "--timestamps")
        #expect(created.status == 0)
        #expect(created.output == "Collection notes created, compression none, timestamps\n")
        try command.succeed("save", "db", "notes", "{\"_id\": 1}")
        #expect(try command.tansu("get", "db", "notes", "1").output.contains("createdAt"))
        // Without the option it stays as it is.
        #expect(try command.tansu("collections", "create", "db", "notes").output.contains("timestamps"))
        try command.succeed("collections", "create", "db", "notes", "--no-timestamps")
        try command.succeed("save", "db", "notes", "{\"_id\": 2}")
        #expect(try !command.tansu("get", "db", "notes", "2").output.contains("createdAt"))
    }

    @Test("--validator has saves checked, at the level that is given")
    func validator() throws {
        let command = try Command()
        try command.succeed("collections", "create", "db", "pets", "--validator", "{\"age\": {\"$gte\": 0}}")
        let refused = try command.tansu("save", "db", "pets", "{\"_id\": 1, \"age\": -1}")
        #expect(refused.status != 0)
        #expect(refused.error.contains("age: $gte"), "\(refused.error)")
        try command.succeed("collections", "create", "db", "pets", "--validation-level", "warn")
        try command.succeed("save", "db", "pets", "{\"_id\": 1, \"age\": -1}")
        let listed = try command.tansu("collections", "db", "--json").output
        #expect(listed.contains("\"$gte\"") && listed.contains("\"warn\""), "\(listed)")
        // Strict is refused while there is such a document, and a new validator keeps the level.
        #expect(try command.tansu("collections", "create", "db", "pets", "--validation-level", "strict").status != 0)
        try command.succeed("collections", "create", "db", "pets", "--validator", "{\"age\": {\"$gte\": 5}}")
        try command.succeed("save", "db", "pets", "{\"_id\": 2, \"age\": 4}")
        try command.succeed("collections", "create", "db", "pets", "--validator", "{}", "--validation-level", "strict")
        #expect(try !command.tansu("collections", "db", "--json").output.contains("valid"))
        #expect(try command.tansu("collections", "create", "db", "pets", "--validation-level", "never").status != 0)
        #expect(try command.tansu("collections", "create", "db", "pets", "--validator", "{\"title\": 1}").status != 0)
    }

    @Test("An import that replaces a collection keeps its validator and level")
    func imported() throws {
        let command = try Command()
        try command.succeed(
            "collections", "create", "db", "pets", "--validator", "{\"age\": {\"$gte\": 0}}", "--validation-level",
            "moderate")
        try command.write("pets.ndjson", "{\"_id\": 1, \"age\": 2}\n")
        try command.succeed("import", "db", "pets.ndjson", "--drop", "--yes")
        let listed = try command.tansu("collections", "db", "--json").output
        #expect(listed.contains("\"$gte\"") && listed.contains("\"moderate\""), "\(listed)")
        #expect(try command.tansu("save", "db", "pets", "{\"_id\": 3, \"age\": -1}").status != 0)
    }

    @Test("collections --json lists references and timestamps")
    func listed() throws {
        let command = try Command()
        do {
            let db = try Database(path: command.path("db"))
            try db.setReferences([.init("author", to: "authors", onDelete: .cascade)], of: "books")
            try db.setTimestamps(Database.Timestamps(created: nil), of: "books")
            try db.close()
        }
        let result = try command.tansu("collections", "db", "--json")
        for part in ["\"author\"", "\"authors\"", "\"cascade\"", "\"updatedAt\""] {
            #expect(result.output.contains(part), "\(result.output)")
        }
        #expect(!result.output.contains("createdAt"))
    }
}
