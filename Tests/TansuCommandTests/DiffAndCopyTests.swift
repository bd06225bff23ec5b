import Foundation
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("tansu diff and tansu copy")
struct DiffAndCopyTests {
    @Test("a copy has the documents, indexes and options, and no difference")
    func copies() throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name", "--unique")
        try command.succeed("collections", "create", "people.tansu", "notes", "--timestamps")
        try command.succeed("copy", "people.tansu", "new.tansu")
        #expect(try command.tansu("index", "list", "new.tansu", "people").output.contains("name_1"))
        #expect(try command.tansu("collections", "new.tansu", "--json").output.contains("timestamps"))
        let same = try command.tansu("diff", "people.tansu", "new.tansu")
        #expect(same.status == 0 && same.output.isEmpty && same.error.isEmpty)
        let again = try command.tansu("copy", "people.tansu", "new.tansu")
        #expect(again.status == 65)
        #expect(again.error.contains("exists in collection \"people\"; \"--mode save\" replaces it"))
        let skipped = try command.tansu("copy", "people.tansu", "new.tansu", "--mode", "skip", "--json").json()
        #expect(skipped["documents"] == 0 && skipped["skipped"] == 3)
        try command.succeed("copy", "people.tansu", "part.tansu", "--collection", "notes")
        #expect(try command.tansu("collections", "part.tansu").output.contains("people") == false)
        #expect(try command.tansu("copy", "people.tansu", "x.tansu", "--collection", "nobody").status == 66)
        #expect(!command.exists("x.tansu"))
        #expect(try command.tansu("copy", "people.tansu", "people.tansu/x.tansu").status == 73)
        #expect(try command.tansu("copy", "people.tansu", "./people.tansu", "--mode", "save").status == 64)
    }

    @Test("documents that one database has alone, and the paths at which others differ")
    func differences() throws {
        let command = try Command.withPeople()
        try command.succeed("copy", "people.tansu", "other.tansu")
        try command.succeed("update", "other.tansu", "people", "{\"_id\": 7}", "{\"$set\": {\"age\": 33.0, \"x\": 1}}")
        try command.succeed(
            "update", "other.tansu", "people", "{\"_id\": \"bob\"}", "{\"$set\": {\"pets.1.species\": \"ox\"}}")
        try command.succeed("remove", "other.tansu", "people", "--id", "ann")
        try command.succeed(
            "save", "other.tansu", "people", "{\"_id\": 6.5}", "{\"_id\": true}", "{\"_id\": {\"a\": [1]}}")
        try command.succeed("save", "other.tansu", "alone", "{\"_id\": \"\\u001b[31m\"}")
        let result = try command.tansu("diff", "people.tansu", "other.tansu")
        #expect(result.status == 1)
        #expect(
            result.lines == [
                "+ alone \"\\u001b[31m\"", "+ people 6.5", "~ people 7: age, x", "- people \"ann\"",
                "~ people \"bob\": pets.1.species", "+ people {\"a\":[1]}", "+ people true",
            ])
        let back = try command.tansu("diff", "other.tansu", "people.tansu", "--collection", "people", "--json")
            .documents()
        #expect(back.count == 6)
        #expect(back[1]["paths"] == ["age", "x"])
        #expect(back[1]["second"]?.documentValue?["age"] == 33)
        #expect(try command.tansu("diff", "people.tansu", "other.tansu", "--collection", "none").status == 66)
        #expect(try command.tansu("diff", "people.tansu", "none.tansu").status == 66)
    }

    @Test("ids are met in the same order in both databases, whatever their types")
    func order() throws {
        let command = try Command()
        let ids = [
            "1", "2.5", "-3", "{\"$numberLong\": \"9007199254740993\"}", "9007199254740992.0", "\"a\"", "\"é\"",
            "\"e\\u0301\"",
            "{}", "{\"a\": 1}", "true", "false", "{\"$date\": \"2020-01-01T00:00:00Z\"}",
            "{\"$oid\": \"507f1f77bcf86cd799439011\"}",
            "{\"$numberDecimal\": \"2.25\"}", "{\"$binary\": {\"base64\": \"AA==\", \"subType\": \"00\"}}",
        ]
        // One has the ids of even numbers and both have those that 3 divides.
        for (name, step) in [("a", 2), ("b", 3)] {
            let chosen = ids.indices.filter { $0 % step == 0 || $0 % 3 == 0 }.reversed()
            try command.write("\(name).ndjson", chosen.map { "{\"_id\": \(ids[$0])}\n" }.joined())
            try command.succeed("import", "\(name).tansu", "\(name).ndjson", "--collection", "c")
        }
        let result = try command.tansu("diff", "a.tansu", "b.tansu")
        let alone = ids.indices.filter { $0 % 2 == 0 && $0 % 3 != 0 }
        #expect(result.lines.count == alone.count)
        #expect(result.lines.allSatisfy { $0.hasPrefix("- c ") })
    }

    @Test("documents with another order of fields differ")
    func fieldOrder() {
        #expect(CollectionComparison.paths(["a": 1, "b": 2], ["b": 2, "a": 1]) == [])
        #expect(CollectionComparison.paths(["a": ["b": [1, 2]]], ["a": ["b": [1, 3]]]) == ["a.b.1"])
        #expect(CollectionComparison.paths(["a": [1], "x": 1], ["a": [1, 2], "y": 1]) == ["a", "x", "y"])
    }
}
