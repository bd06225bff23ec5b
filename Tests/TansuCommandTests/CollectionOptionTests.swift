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
