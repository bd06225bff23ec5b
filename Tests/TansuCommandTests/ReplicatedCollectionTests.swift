#if TansuSync
import Foundation
import Testing

@Suite("replicated collections and the commands that know no revisions")
struct ReplicatedCollectionTests {
    /// A folder with `a.tansu`, whose collection `people` is replicated, and `old.dump` of it before a document was added and one
    /// changed.
    private func replicated() throws -> Command {
        let command = try Command()
        try command.succeed("save", "a.tansu", "people", #"{"_id": "anna", "n": 1}"#, #"{"_id": "bob", "n": 1}"#)
        try command.succeed("replicate", "a.tansu/people", "b.tansu/people", "--create")
        try command.succeed("dump", "a.tansu", "--output", "old.dump")
        try command.succeed("save", "a.tansu", "people", #"{"_id": "anna", "n": 2}"#, #"{"_id": "cem", "n": 2}"#)
        try command.succeed("replicate", "a.tansu/people", "b.tansu/people")
        return command
    }

    @Test("a dump with revisions of a collection that has some is refused before anything is loaded")
    func dumpWithRevisions() throws {
        let command = try replicated()
        let first = #"{"_id": "first"}"#
        let dump = try command.text("old.dump")
        // A collection that precedes the one at fault in the dump.
        let start = #"{"$collection": {"name": "a", "documents": {"$numberLong": "1"}, "indexes": []}}"#
        try command.write(
            "more.dump",
            dump.replacing(
                "\n{\"$collection\": {\"name\": \"people\"",
                with: "\n\(start)\n\(first)\n{\"$collection\": {\"name\": \"people\""))
        try command.succeed("dump", "a.tansu", "--output", "before.dump")
        for mode in ["insert", "save", "skip"] {
            for words in [["old.dump"], ["more.dump"], ["-"]] {
                let result = try command.tansu(
                    ["load", "a.tansu", "--mode", mode] + words, input: Array(dump.utf8))
                #expect(result.status == 65 && result.error.contains("[REPLICATED, "), "\(words) \(result.error)")
                #expect(result.error.contains("\(words[0] == "-" ? "standard input" : words[0]), line "))
                #expect(result.error.contains("\"people\"") && result.error.contains("nothing was changed"))
            }
        }
        try command.succeed("dump", "a.tansu", "--output", "after.dump")
        #expect(try command.text("after.dump") == command.text("before.dump"))
        // The way that the message names.
        try command.succeed("load", "c.tansu", "old.dump")
        try command.succeed("save", "c.tansu", "people", #"{"_id": "dora", "n": 3}"#)
        let result = try command.tansu("replicate", "c.tansu/people", "a.tansu/people")
        #expect(
            result.status == 0 && result.output.contains("1 revision copied"), "\(result.output) \(result.error)")
        #expect(try command.tansu("get", "a.tansu", "people", "anna").output.contains("\"n\":2"))
    }

    @Test("the shell, JSON commands and copies do nothing that would lose the history of a replicated collection")
    func shell() throws {
        let command = try replicated()
        let refused = [
            "drop people", "save people {_id: '_x'}", "save people {_id: 1}", "insert people {_id: 'x', _rev: 1}",
            "update people {_id: 'x'} {$set: {n: 1}} upsert", "update people {_id: 'anna'} {$set: {_attachments: 1}}",
            "replace people {_id: 'anna'} {_id: 'anna', _rev: 1}", "aggregate people [{$out: 'people'}]",
            "save tansu.sync {_id: 'people'}",
        ]
        for statement in refused {
            let result = try command.tansu("shell", "a.tansu", "-c", statement)
            #expect(result.status == 64 || result.status == 65, "\(statement): \(result.output)\(result.error)")
        }
        #expect(try command.tansu("shell", "a.tansu", "-c", "save people {_id: 'dan'}").status == 0)
        let request = #"{"op": "save", "collection": "people", "documents": [{"_id": 1}]}"#
        #expect(try command.tansu("exec", "a.tansu", input: request).output.contains("NOT_REPLICABLE"))
        for words in [
            ["a.tansu", "c.tansu"], ["a.tansu", "c.tansu", "--collection", "people"], ["d.tansu", "a.tansu"],
        ] {
            if words[0] == "d.tansu" { try command.succeed("save", "d.tansu", "people", "{}") }
            let result = try command.tansu(["copy"] + words, input: [])
            #expect(result.status == 65 && result.error.contains("[REPLICATED, "), "\(words): \(result.error)")
            #expect(!command.exists("c.tansu"))
        }
    }

    @Test("documents of a dump without revisions are edits of a replicated collection")
    func dumpOfDocuments() throws {
        let command = try replicated()
        try command.write("d.ndjson", #"{"_id": "anna", "n": 5}"# + "\n")
        try command.succeed("load", "d.tansu", "d.ndjson", "--collection", "people")
        try command.succeed("dump", "d.tansu", "--output", "d.dump")
        try command.succeed("load", "a.tansu", "d.dump", "--mode", "save")
        let result = try command.tansu("replicate", "a.tansu/people", "b.tansu/people")
        #expect(
            result.status == 0 && result.output.contains("1 revision copied"), "\(result.output) \(result.error)")
        #expect(try command.tansu("get", "b.tansu", "people", "anna").output.contains("\"n\":5"))
    }

    @Test("a dump with revisions loads beside documents that its database did not have")
    func dumpBesideDocuments() throws {
        let command = try replicated()
        try command.succeed("save", "c.tansu", "people", #"{"_id": "early"}"#)
        try command.succeed("load", "c.tansu", "old.dump", "--mode", "save")
        let result = try command.tansu("replicate", "c.tansu/people", "d.tansu/people", "--create")
        #expect(
            result.status == 0 && result.output.contains("3 revisions copied"), "\(result.output) \(result.error)")
    }

    @Test("a dump of a version that did not track changes keeps its revisions, and has its changes tracked")
    func dumpWithoutTracking() throws {
        let command = try replicated()
        let dump = try command.text("old.dump")
        let former = dump.replacing(/, "changeTracking": "[^"]*"/, with: "")
        #expect(former != dump)
        try command.write("former.dump", former)
        try command.succeed("load", "c.tansu", "former.dump")
        try command.succeed("save", "c.tansu", "people", #"{"_id": "dora", "n": 3}"#)
        let result = try command.tansu("replicate", "c.tansu/people", "a.tansu/people")
        #expect(
            result.status == 0 && result.output.contains("1 revision copied"), "\(result.output) \(result.error)")
    }

    @Test(
        "a document that cannot be replicated is refused by each command that writes",
        arguments: [#"{"_id": "_bad"}"#, #"{"_id": 5}"#, #"{"_id": "x", "_foo": 1}"#, #"{"_id": ""}"#])
    func unreplicable(document: String) throws {
        let command = try replicated()
        try command.write("d.ndjson", document + "\n")
        for words in [
            ["save", "a.tansu", "people", #"{"_id": "other"}"#, document],
            ["load", "a.tansu", "d.ndjson", "--collection", "people"],
            ["import", "a.tansu", "d.ndjson", "--collection", "people", "--strict"],
            ["update", "a.tansu", "people", document, #"{"$set": {"n": 1}}"#, "--upsert"],
        ] {
            let result = try command.tansu(words, input: [])
            #expect(result.status == 65, "\(words) \(result.error)")
        }
        #expect(try command.tansu("count", "a.tansu", "people").output == "3\n")
        // A collection that is not replicated may have it.
        #expect(
            try command.tansu("save", "a.tansu", "others", document).status == 0)
    }

    @Test(
        "no update makes a field that no replicated document has",
        arguments: [#"{"$set": {"_foo": 1}}"#, #"{"$rename": {"n": "_foo"}}"#, #"{"$inc": {"_foo.a": 1}}"#])
    func fields(operations: String) throws {
        let command = try replicated()
        let result = try command.tansu("update", "a.tansu", "people", "{}", operations)
        #expect(result.status == 65 && result.error.contains("NOT_REPLICABLE"), "\(result.error)")
        #expect(try command.tansu("update", "a.tansu", "people", "{}", #"{"$unset": {"_foo": 1}}"#).status == 0)
        #expect(try command.tansu("count", "a.tansu", "people", #"{"n": {"$gt": 0}}"#).output == "3\n")
    }

    @Test("import --drop does not drop revisions and attachments")
    func dropped() throws {
        let command = try replicated()
        try command.write("people.ndjson", #"{"_id": "new"}"# + "\n")
        let result = try command.tansu("import", "a.tansu", "people.ndjson", "--drop", "--yes")
        #expect(result.status == 65 && result.error.contains("[REPLICATED"), "\(result.error)")
        #expect(try command.tansu("count", "a.tansu", "people").output == "3\n")
        try command.succeed("collections", "drop", "a.tansu", "people", "--yes")
        try command.succeed("import", "a.tansu", "people.ndjson", "--drop", "--yes")
    }
}
#endif
