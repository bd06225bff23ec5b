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

    // MARK: Pipelines

    /// The number of people older than 30 in each of two groups, the older one first.
    private let decades = """
        [{"$match": {"age": {"$gt": 30}}},
         {"$group": {"_id": {"$gt": ["$age", 35]}, "n": {"$sum": 1}}}, {"$sort": {"_id": -1}}]
        """

    private let aggregate = ["aggregate", "people.tansu", "people"]

    @Test("the documents of a pipeline are printed per line, as one object or as a table")
    func pipeline() throws {
        let command = try Command.withPeople()
        let documents: [BSONDocument] = [["_id": true, "n": 1], ["_id": false, "n": 1]]
        #expect(try command.tansu(aggregate + [decades], input: []).documents() == documents)
        let object = try command.tansu(aggregate + [decades, "--json"], input: []).json()
        #expect(object == ["ok": true, "documents": BSONValue(documents.map { .document($0) })])
        #expect(try command.tansu(aggregate + [decades, "--table"], input: []).lines.count == 4)
        #expect(try command.tansu(aggregate + [decades, "--table", "--explain"], input: []).status == 64)
        let none = try command.tansu(aggregate + ["[{\"$match\": {\"age\": 1}}]"], input: [])
        #expect(none.status == 1 && none.output.isEmpty)
    }

    @Test("a query, an order and a range are stages of a pipeline")
    func pipelineOptions() throws {
        let command = try Command.withPeople()
        let ages = "[{\"$project\": {\"_id\": 0, \"age\": 1}}]"
        let query = "{\"age\": {\"$gt\": 30}}"
        let first = try command.tansu(aggregate + [ages, query, "--sort", "-age", "--max", "1"], input: []).documents()
        let rest = try command.tansu(aggregate + [ages, query, "--sort", "-age", "--skip", "1"], input: []).documents()
        #expect(first == [["age": 41]])
        #expect(rest == [["age": 33]])
    }

    @Test("an explanation has the stages, or the plan of a group")
    func explanation() throws {
        let command = try Command.withPeople()
        let text = try command.tansu(aggregate + [decades, "--explain"], input: []).output
        #expect(text.contains("collection scan"))
        #expect(text.contains("$match: by the query\n$group: returned: 2"))
        let plan = try command.tansu(aggregate + [decades, "--explain", "--json"], input: []).json()["plan"]
        #expect(plan?.documentValue?["stages"]?.arrayValue?.count == 3)
        let group = try command.tansu(aggregate + ["{\"by\": \"age\"}", "--explain"], input: []).output
        #expect(group.contains("collection scan"))
    }

    @Test("$out and $merge write, but not to collections of the library")
    func output() throws {
        let command = try Command.withPeople()
        let copy = "[{\"$match\": {\"age\": {\"$gt\": 30}}}, {\"$out\": \"grown\"}]"
        try command.succeed("aggregate", "people.tansu", "people", copy, "--explain")
        #expect(try command.tansu("count", "people.tansu", "grown").status == 66)
        try command.succeed("aggregate", "people.tansu", "people", copy)
        #expect(try command.tansu("count", "people.tansu", "grown").output == "2\n")
        for name in ["tansu.sync", "_users"] {
            let refused = try command.tansu(aggregate + ["[{\"$out\": \"\(name)\"}]"], input: [])
            #expect(refused.status == 64, "\(name)")
        }
    }

    @Test("the error for a mistake in a pipeline says where it is")
    func mistakes() throws {
        let command = try Command.withPeople()
        let syntax = try command.tansu(aggregate + ["[{\"$match\": }]"], input: [])
        #expect(syntax.status == 65 && syntax.error.contains("is not a JSON array"))
        let kind = try command.tansu(aggregate + ["[{\"$match\": {}}, 5]"], input: [])
        #expect(kind.status == 65 && kind.error.contains("Stage 1 of the pipeline is not a JSON object"))
        let stage = try command.tansu(aggregate + ["[{\"$match\": {}}, {\"$group\": {\"n\": 1}}]"], input: [])
        #expect(stage.status == 65 && stage.error.contains("1.$group"))
    }
}
