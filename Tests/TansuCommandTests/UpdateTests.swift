import TansuBSON
import Testing

@Suite("tansu update")
struct UpdateTests {
    @Test("matches are updated, and the counts are printed as text and as JSON")
    func update() throws {
        let command = try Command.withPeople()
        let operations = "{\"$max\": {\"age\": 35}}"
        let text = try command.tansu("update", "people.tansu", "people", "{\"age\": {\"$gt\": 30}}", operations)
        #expect(text.status == 0)
        #expect(text.output == "2 documents matched, 1 modified\n")
        #expect(try command.tansu("get", "people.tansu", "people", "7").json()["age"] == 35)
        let json = try command.tansu("update", "people.tansu", "people", "{}", operations, "--json").json()
        #expect(json == ["ok": true, "matched": 3, "modified": 1, "upserted": [], "removed": 0])
    }

    @Test("--orderby and --max select the first matches")
    func firstOnly() throws {
        let command = try Command.withPeople()
        let update = ["update", "people.tansu", "people", "{}", "{\"$set\": {\"eldest\": true}}"]
        let result = try command.tansu(update + ["--orderby", "-age", "--max", "1"], input: [])
        #expect(result.output == "1 document matched, 1 modified\n")
        #expect(try command.tansu("get", "people.tansu", "people", "ann").json()["eldest"] == true)
        #expect(try command.tansu(update + ["--max", "-1"], input: []).status == 64)
        #expect(try command.tansu(update + ["{\"$max\": 1}", "--max", "1"], input: []).status == 64)
    }

    @Test("no match is exit code 1; --upsert inserts a document")
    func upsert() throws {
        let command = try Command.withPeople()
        let update = ["update", "people.tansu", "people", "{\"_id\": \"zoe\"}", "{\"$set\": {\"age\": 19}}"]
        let none = try command.tansu(update, input: [])
        #expect(none.status == 1 && none.output == "0 documents matched, 0 modified\n")
        let inserted = try command.tansu(update + ["--upsert"], input: [])
        #expect(inserted.status == 0)
        #expect(inserted.output == "0 documents matched, 0 modified, inserted: \"zoe\"\n")
        #expect(try command.tansu("get", "people.tansu", "people", "zoe").json() == ["_id": "zoe", "age": 19])
    }

    @Test("a whole document replaces the match with --replace only")
    func replace() throws {
        let command = try Command.withPeople()
        let update = ["update", "people.tansu", "people", "{\"_id\": \"ann\"}", "{\"set\": {\"age\": 19}}"]
        let refused = try command.tansu(update, input: [])
        #expect(refused.status == 65)
        #expect(refused.error.contains("$replace"))
        #expect(try command.tansu("get", "people.tansu", "people", "ann").json()["set"] == nil)
        let replaced = try command.tansu(update + ["--replace"], input: [])
        #expect(replaced.status == 0)
        #expect(
            try command.tansu("get", "people.tansu", "people", "ann").json() == ["_id": "ann", "set": ["age": 19]])
    }

    @Test("hints filter elements of arrays, and $dropall removes documents")
    func hints() throws {
        let command = try Command.withPeople()
        let changed = try command.tansu(
            "update", "people.tansu", "people", "{\"_id\": \"bob\"}", "{\"$set\": {\"pets.$[dog].good\": true}}",
            "{\"$arrayFilters\": [{\"dog.species\": \"dog\"}]}")
        #expect(changed.status == 0, "\(changed.error)")
        let pets = try command.tansu("get", "people.tansu", "people", "bob").json()["pets"]
        #expect(pets == [["species": "cat"], ["species": "dog", "good": true]])
        let removed = try command.tansu("update", "people.tansu", "people", "{\"age\": 25}", "{\"$dropall\": true}")
        #expect(removed.output == "1 document matched, 1 removed\n")
        #expect(try command.tansu("count", "people.tansu", "people").output == "2\n")
    }

    @Test("an operator that fails for one document aborts the transaction")
    func allOrNothing() throws {
        let command = try Command.withPeople()
        let bad = try command.tansu("update", "people.tansu", "people", "{}", "{\"$inc\": {\"age\": 1, \"name\": 1}}")
        #expect(bad.status == 65)
        #expect(bad.error.contains("INVALID_QUERY") && bad.error.contains("$inc.name"))
        #expect(try command.tansu("get", "people.tansu", "people", "ann").json()["age"] == 41)
        #expect(try command.tansu("update", "people.tansu", "people", "{}", "{").status == 65)
        #expect(try command.tansu("update", "people.tansu", "people", "{}").status == 64)
        #expect(try command.tansu("update", "people.tansu", "crowd", "{}", "{\"$inc\": {\"n\": 1}}").status == 66)
    }
}
