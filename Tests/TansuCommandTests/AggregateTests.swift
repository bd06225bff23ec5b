import TansuBSON
import Testing

@Suite("tansu distinct and aggregate")
struct AggregateTests {
    @Test("distinct values are printed per line or as one object; no value is exit code 1")
    func distinct() throws {
        let command = try Command.withPeople()
        let distinct = ["distinct", "people.tansu", "people"]
        #expect(try command.tansu(distinct + ["pets.species"], input: []).output == "\"cat\"\n\"dog\"\n")
        let some = try command.tansu(
            distinct + ["age", "{\"age\": {\"$gt\": 30}}", "{\"$max\": 1}", "--json"], input: [])
        #expect(try some.json() == ["ok": true, "values": [33]])
        let second = ["age", "--skip", "1", "--max", "1"]
        #expect(try command.tansu(distinct + second, input: []).output == "33\n")
        #expect(try command.tansu(distinct + ["age", "--max=-1"], input: []).status == 64)
        let none = try command.tansu(distinct + ["nothing"], input: [])
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(try command.tansu("distinct", "people.tansu", "crowd", "age").status == 66)
    }

    /// The number of people who are elders and who are not, with their average ages.
    private let elders = """
        {"by": {"elder": "elder"}, "fields": {"n": {"$count": true}, "age": {"$avg": "age"}}}
        """

    @Test("groups are printed per line; they can be sorted and limited")
    func lines() throws {
        let command = try Command.withPeople()
        let old = "{\"age\": {\"$gt\": 30}}"
        try command.succeed("update", "people.tansu", "people", old, "{\"$set\": {\"elder\": true}}")
        let aggregate = ["aggregate", "people.tansu", "people", elders]
        let all = try command.tansu(aggregate, input: []).documents()
        #expect(all.map { $0["n"] } == [1, 2])
        #expect(all.last?["age"]?.doubleValue == 37)
        let first = try command.tansu(aggregate + ["--orderby", "-n", "--max", "1"], input: []).documents()
        #expect(first.map { $0["n"] } == [2])
        let second = try command.tansu(aggregate + ["--orderby", "-n", "--skip", "1"], input: []).documents()
        #expect(second.map { $0["n"] } == [1])
        let some = try command.tansu(aggregate + ["{\"elder\": true}"], input: []).documents()
        #expect(some.map { $0["elder"] } == [true])
    }

    @Test("groups are printed as one object or as a table, not as both")
    func styles() throws {
        let command = try Command.withPeople()
        let aggregate = ["aggregate", "people.tansu", "people", "{\"fields\": {\"n\": {\"$count\": true}}}"]
        #expect(try command.tansu(aggregate + ["--json"], input: []).json() == ["ok": true, "groups": [["n": 3]]])
        #expect(try command.tansu(aggregate + ["--table"], input: []).lines.count == 3)
        #expect(try command.tansu(aggregate + ["--table", "--json"], input: []).status == 64)
        let none = try command.tansu("aggregate", "people.tansu", "people", "{\"by\": \"age\"}", "{\"age\": 1}")
        #expect(none.status == 1 && none.output.isEmpty)
    }

    @Test("the error for an unknown operator has its path")
    func unknownOperator() throws {
        let command = try Command.withPeople()
        let bad = try command.tansu(
            "aggregate", "people.tansu", "people", "{\"fields\": {\"n\": {\"$median\": \"age\"}}}")
        #expect(bad.status == 65)
        #expect(bad.error.contains("group.fields.n.$median"))
    }
}
