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
            ["load", "people.tansu", "a.ndjson", "--collection", "tansu.x"],
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

    private static func user(_ name: String, _ password: String = "\"pässword\"") -> String {
        #"{"_id": "org.couchdb.user:\#(name)", "name": "\#(name)", "type": "user", "roles": [], "password": \#(password)}"#
    }

    #if TansuServer
    @Test("accounts are stored with the hashes of their passwords")
    func hashes() throws {
        let command = try Command()
        let collection = """
            {"$collection": {"name": "_users", "options": {}, "documents": {"$numberLong": "1"}, "indexes": []}}
            """
        let dump = """
            {"$dump": {"format": {"$numberInt": "1"}}}
            \(collection)
            \(Self.user("dumped"))
            { "$collection": {"name": "people", "options": {}, "documents": {"$numberLong": "1"}, "indexes": []}}
            {"_id": "plain", "password": "pässword"}
            {"$end": {"collections": {"$numberLong": "2"}, "documents": {"$numberLong": "2"}, "indexes": {"$numberLong": "0"}}}

            """
        try command.write("_users.ndjson", Self.user("imported") + "\n" + Self.user("later") + "\n")
        try command.write("plain.ndjson", "\n" + Self.user("loaded"))
        try command.write("users.dump", dump)
        try command.succeed("save", "a.tansu", "_users", Self.user("saved"), Self.user("other"))
        try command.succeed("import", "a.tansu", "_users.ndjson")
        try command.succeed("load", "a.tansu", "plain.ndjson", "--collection", "_users")
        try command.succeed("load", "a.tansu", "users.dump")
        try command.succeed("update", "a.tansu", "_users", #"{"name": "other"}"#, Self.user("other"), "--replace")
        for name in ["saved", "other", "imported", "later", "loaded", "dumped"] {
            let account = try command.tansu("get", "a.tansu", "_users", "org.couchdb.user:\(name)").output
            for member in ["derived_key", "salt", "\"iterations\":600000", "\"pbkdf2\"", "\"type\":\"user\""] {
                #expect(account.contains(member), "\(name) \(member) \(account)")
            }
            #expect(!account.contains("password\":") && !account.contains("pässword"), "\(account)")
        }
        #expect(try command.tansu("get", "a.tansu", "people", "plain").output.contains("pässword"))
        try command.succeed("import", "b.tansu", "_users.ndjson")
        try command.succeed("import", "b.tansu", "_users.ndjson", "--drop", "--yes")
        #expect(try command.tansu("find", "b.tansu", "_users").output.contains("derived_key"))
        // As the server keeps it.
        try command.succeed("save", "b.tansu", "_users", Self.user("none", "null"))
    }
    #endif

    @Test("a password that cannot be hashed is refused")
    func passwords() throws {
        let command = try Command()
        let user = Self.user("anna", "5")
        let saved = try command.tansu("save", "a.tansu", "_users", user)
        #expect(saved.status == 65 && saved.error.contains("CLEAR_PASSWORD") && !command.exists("a.tansu"))
        try command.write("_users.ndjson", user + "\n" + #"{"_id": "org.couchdb.user:bob", "name": "bob"}"# + "\n")
        for words in [["_users.ndjson"], ["_users.ndjson", "--drop", "--yes"]] {
            let imported = try command.tansu(["import", "a.tansu"] + words, input: [])
            #expect(imported.status == 1 && imported.error.contains("_users.ndjson:1"))
            #expect(try !command.tansu("find", "a.tansu", "_users").output.contains("anna"))
        }
        try command.write("old.ndjson", #"{"_id": "x", "password": "secret", "at": {"$date": 1}}"# + "\n")
        for file in ["_users.ndjson", "old.ndjson"] {
            let loaded = try command.tansu("load", "a.tansu", file, "--collection", "_users", "--mode", "save")
            #expect(loaded.status == 65 && loaded.error.contains("CLEAR_PASSWORD"), "\(loaded.error)")
        }
        let dollar = #"{"$x": 1, "_id": "org.couchdb.user:dollar", "type": "user", "name": "dollar", "roles": [], "#
        let escaped = #"{"\u0070assword": "secret", "_id": "org.couchdb.user:e", "type": "user", "name": "e", "#
        try command.write("first.ndjson", dollar + #""password": "secret"}"# + "\n" + escaped + #""roles": []}"# + "\n")
        try command.succeed("load", "a.tansu", "first.ndjson", "--collection", "_users")
        #expect(try !command.tansu("find", "a.tansu", "_users").output.contains("secret"))
        try command.succeed("remove", "a.tansu", "_users", #"{"name": {"$in": ["dollar", "e"]}}"#)
        for operations in [
            #"{"$set": {"password": "secret"}}"#, #"{"$setOnInsert": {"password": "secret"}}"#,
            #"{"$pipeline": [{"$set": {"password": "secret"}}]}"#,
            #"{"$pipeline": [{"$unset": "x"}, {"$replaceWith": {"$mergeObjects": ["$$ROOT", {"password": "$name"}]}}]}"#,
            #"{"$pipeline": [{"$replaceWith": {"$setField": {"field": "password", "input": "$$ROOT", "value": "s"}}}]}"#,
        ] {
            #expect(try command.tansu("update", "a.tansu", "_users", "{}", operations).status == 65)
        }
        for operations in [
            #"{"$set": {"roles": ["dev"]}}"#, #"{"$pipeline": [{"$set": {"roles": ["dev"]}}, {"$unset": "password"}]}"#,
        ] {
            #expect(try command.tansu("update", "a.tansu", "_users", "{}", operations).status == 0)
        }
        #expect(try command.tansu("save", "a.tansu", "people", user).status == 0)
    }

    #if TansuSync
    @Test("JSON commands do not part a replicated collection from its revisions")
    func replicatedByJSON() throws {
        let command = try Command()
        try command.succeed("save", "a.tansu", "people", #"{"_id": "mike"}"#)
        try command.succeed("replicate", "a.tansu/people", "a.tansu/copy", "--create")
        for request in [
            #"{"op": "renameCollection", "collection": "people", "to": "friends"}"#,
            #"{"op": "dropCollection", "collection": "people"}"#,
            #"{"op": "createCollection", "collection": "people", "options": {"changeTracking": "x"}}"#,
            #"{"op": "transaction", "commands": [{"op": "createCollection", "collection": "people", "options": {"changeTracking": false}}]}"#,
        ] {
            let result = try command.tansu(["exec", "a.tansu"], input: Array((request + "\n").utf8))
            #expect(result.output.contains("\"REPLICATED\""), "\(request) \(result.output)")
        }
    }

    @Test("a replicated collection is renamed and dropped with its revisions")
    func replicated() throws {
        let command = try Command()
        try command.succeed("save", "a.tansu", "people", #"{"_id": "mike"}"#)
        try command.succeed("replicate", "a.tansu/people", "a.tansu/copy", "--create")
        try command.succeed("save", "a.tansu", "people", #"{"_id": "mike", "n": 2}"#)
        try command.succeed("collections", "rename", "a.tansu", "people", "friends")
        let renamed = try command.tansu("collections", "a.tansu").output
        for part in ["revisions", "bodies", "local", "attachments"] {
            #expect(renamed.contains("tansu.\(part).friends"), "\(renamed)")
        }
        #expect(!renamed.contains("people"), "\(renamed)")
        // Both have the same first revision, so this is an edit of it and no conflict.
        try command.succeed("replicate", "a.tansu/friends", "a.tansu/copy")
        #expect(try command.tansu("get", "a.tansu", "copy", "mike").output.contains("\"n\":2"))
        try command.succeed("collections", "drop", "a.tansu", "friends", "--yes")
        let names = try command.tansu("collections", "a.tansu").output
        #expect(!names.contains("friends") && names.contains("copy"), "\(names)")
    }
    #endif
}
