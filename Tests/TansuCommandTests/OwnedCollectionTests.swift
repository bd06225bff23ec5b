import Foundation
import Testing

@Suite("what the command line leaves to the library")
struct OwnedCollectionTests {
    @Test("collections of the library are not written")
    func collections() throws {
        let command = try Command.withPeople()
        try command.write("a.ndjson", #"{"_id": "a"}"#)
        for words in [
            ["save", "people.tansu", "tansu.sync", #"{"_id": "people"}"#],
            ["remove", "people.tansu", "tansu.revisions.x", "{}", "--yes"],
            ["update", "people.tansu", "tansu.server", "{}", #"{"$set": {"a": 1}}"#],
            ["import", "people.tansu", "a.ndjson", "--collection", "tansu.x"],
            ["collections", "create", "people.tansu", "tansu.x"],
            ["collections", "drop", "people.tansu", "tansu.x", "--yes"],
            ["collections", "rename", "people.tansu", "people", "tansu.x"],
            ["collections", "rename", "people.tansu", "tansu.x", "x"],
            ["index", "create", "people.tansu", "tansu.x", "a"],
        ] {
            let result = try command.tansu(words, input: [])
            #expect(result.status == 64 && result.error.contains("belongs to the library"), "\(words) \(result.error)")
        }
        #expect(try command.tansu("find", "people.tansu", "tansu.sync").status != 64)
    }

    @Test("accounts are not stored with their passwords")
    func passwords() throws {
        let command = try Command()
        let user =
            #"{"_id": "org.couchdb.user:anna", "name": "anna", "type": "user", "roles": [], "password": "secret"}"#
        let saved = try command.tansu("save", "a.tansu", "_users", user)
        #expect(saved.status == 65 && saved.error.contains("CLEAR_PASSWORD") && !command.exists("a.tansu"))
        try command.write("_users.ndjson", user + "\n" + #"{"_id": "org.couchdb.user:bob", "name": "bob"}"# + "\n")
        for words in [["_users.ndjson"], ["_users.ndjson", "--drop", "--yes"]] {
            let imported = try command.tansu(["import", "a.tansu"] + words, input: [])
            #expect(imported.status == 1 && imported.error.contains("_users.ndjson:1"))
            #expect(try !command.tansu("find", "a.tansu", "_users").output.contains("secret"))
        }
        for operations in [#"{"$set": {"password": "secret"}}"#, #"{"$setOnInsert": {"password": "secret"}}"#] {
            #expect(try command.tansu("update", "a.tansu", "_users", "{}", operations).status == 65)
        }
        #expect(try command.tansu("update", "a.tansu", "_users", "{}", #"{"$set": {"roles": ["dev"]}}"#).status == 0)
        #expect(try command.tansu("save", "a.tansu", "people", user).status == 0)
    }

    #if TansuSync
        @Test("a replicated collection keeps its name, and is dropped with its revisions")
        func replicated() throws {
            let command = try Command()
            try command.succeed("save", "a.tansu", "people", #"{"_id": "mike"}"#)
            try command.succeed("replicate", "a.tansu/people", "a.tansu/copy", "--create")
            let renamed = try command.tansu("collections", "rename", "a.tansu", "people", "friends")
            #expect(renamed.status == 65 && renamed.error.contains("REPLICATED"))
            try command.succeed("collections", "drop", "a.tansu", "people", "--yes")
            let names = try command.tansu("collections", "a.tansu").output
            #expect(!names.contains("people") && names.contains("copy"), "\(names)")
        }
    #endif
}
