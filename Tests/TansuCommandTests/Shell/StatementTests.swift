import TansuBSON
import Testing

@testable import TansuCommand

@Suite("Statements of the shell")
struct StatementTests {
    private static let translations: [(statement: String, request: String)] = [
        ("find people", #"{"op":"find","collection":"people"}"#),
        (
            "FIND people {age: {$gt: 30}, 'a b': \"x\"} sort {name: 1} limit 5 skip 2",
            #"{"op":"find","collection":"people","query":{"age":{"$gt":30},"a b":"x"},"hints":{"$orderby":{"name":1},"$max":5,"$skip":2}}"#
        ),
        (
            "find \"limit\" order name,-age select -tags",
            #"{"op":"find","collection":"limit","hints":{"$orderby":{"name":1,"age":-1},"$fields":{"tags":0}}}"#
        ),
        ("find", #"{"op":"find","collection":"c"}"#),
        ("find {a: 1,}", #"{"op":"find","collection":"c","query":{"a":1}}"#),
        ("find limit 3", #"{"op":"find","collection":"c","hints":{"$max":3}}"#),
        ("count people {a: $$x}", #"{"op":"count","collection":"people","query":{"a":{"y":[1,2.5]}}}"#),
        ("distinct pets.species", #"{"op":"distinct","collection":"c","path":"pets.species"}"#),
        ("distinct people age {a: null}", #"{"op":"distinct","collection":"people","path":"age","query":{"a":null}}"#),
        ("get 7", #"{"op":"get","collection":"c","id":7}"#),
        ("get people -7", #"{"op":"get","collection":"people","id":-7}"#),
        ("get people mike", #"{"op":"get","collection":"people","id":"mike"}"#),
        ("get people 'a b'", #"{"op":"get","collection":"people","id":"a b"}"#),
        (
            "get people 507f1f77bcf86cd799439011",
            #"{"op":"get","collection":"people","id":{"$oid":"507f1f77bcf86cd799439011"}}"#
        ),
        (
            "get people ObjectId('507f1f77bcf86cd799439011')",
            #"{"op":"get","collection":"people","id":{"$oid":"507f1f77bcf86cd799439011"}}"#
        ),
        (
            "aggregate people [{$sortByCount: '$age'}] limit 2",
            #"{"op":"aggregate","collection":"people","pipeline":[{"$sortByCount":"$age"}],"hints":{"$max":2}}"#
        ),
        (
            "aggregate people {by: 'age'} {a: 1}",
            #"{"op":"aggregate","collection":"people","group":{"by":"age"},"query":{"a":1}}"#
        ),
        (
            "save people {_id: 1} {_id: 2}",
            #"{"op":"save","collection":"people","documents":[{"_id":1},{"_id":2}]}"#
        ),
        ("insert people [{_id: 1}]", #"{"op":"insert","collection":"people","documents":[{"_id":1}]}"#),
        (
            "update people {a: 1} {$inc: {n: 1}} upsert",
            #"{"op":"update","collection":"people","query":{"a":1},"update":{"$inc":{"n":1}},"hints":{"$upsert":true}}"#
        ),
        (
            "replace people {_id: 1} {n: 1}",
            #"{"op":"update","collection":"people","query":{"_id":1},"replace":{"n":1}}"#
        ),
        ("delete people {}", #"{"op":"remove","collection":"people","query":{}}"#),
        (
            "explain find people {a: 1} sort a",
            #"{"op":"explain","collection":"people","query":{"a":1},"hints":{"$orderby":{"a":1}}}"#
        ),
        (
            "explain aggregate people [{$limit: 1}]",
            #"{"op":"aggregate","collection":"people","pipeline":[{"$limit":1}],"hints":{"$explain":true}}"#
        ),
        (
            "index people name,-age {unique: true} by_name",
            #"{"op":"createIndex","collection":"people","keys":{"name":1,"age":-1},"options":{"unique":true},"name":"by_name"}"#
        ),
        ("dropindex people by_name", #"{"op":"dropIndex","collection":"people","name":"by_name"}"#),
        ("create people", #"{"op":"createCollection","collection":"people"}"#),
        ("drop people", #"{"op":"dropCollection","collection":"people"}"#),
        ("rename people crowd", #"{"op":"renameCollection","collection":"people","to":"crowd"}"#),
        ("{op: 'stats'}", #"{"op":"stats"}"#),
    ]

    @Test("a statement is a request", arguments: translations)
    func requests(statement: String, request: String) throws {
        let parsed = try StatementParser.parse(statement, variables: ["x": ["y": [1, 2.5]]], current: "c")
        #expect(parsed.request == (try BSONDocument(extendedJSON: request)), "\(parsed.request)")
    }

    private static let relaxed: [(text: String, json: String)] = [
        (#"'it\'s "so"\n'"#, #""it's \"so\"\n""#),
        ("/a\\/b/", #"{"$regularExpression":{"pattern":"a/b","options":""}}"#),
        ("/^a/im", #"{"$regularExpression":{"pattern":"^a","options":"im"}}"#),
        ("[1,2,]", "[1,2]"),
        ("{ü.b-c: true}", #"{"ü.b-c":true}"#),
        ("-Infinity", #"{"$numberDouble":"-Infinity"}"#),
        ("[NaN]", #"[{"$numberDouble":"NaN"}]"#),
        ("NumberLong('5')", #"{"$numberLong":"5"}"#),
        ("NumberDecimal(\"1.50\")", #"{"$numberDecimal":"1.50"}"#),
        ("new Date('2020-02-29')", #"{"$date":"2020-02-29T00:00:00Z"}"#),
        (#"{"$oid": "507f1f77bcf86cd799439011"}"#, #"{"$oid":"507f1f77bcf86cd799439011"}"#),
    ]

    @Test("a relaxed value", arguments: relaxed)
    func values(text: String, json: String) throws {
        var scanner = RelaxedScanner(text)
        let value = try scanner.value()
        #expect(value == (try BSONValue(extendedJSON: json)))
        #expect(scanner.isAtEnd)
    }

    private static let wrong: [(text: String, offset: Int, message: String)] = [
        ("", 0, "Expected a statement"),
        ("fnd people", 0, "\"fnd\" is no statement"),
        ("find", 4, "Expected the name of a collection"),
        ("find people {age: }", 18, "Expected a value, not \"}\""),
        ("find people {age 5}", 17, "Expected \":\" after the key"),
        ("find people {age: 5", 12, "This bracket is not closed"),
        ("find people {a: [1 2]}", 19, "Expected a comma or \"]\""),
        ("find people {a: 'x}", 16, "The text has no end on its line"),
        ("find people {a: x}", 16, "\"x\" is no value"),
        ("find people {a: $$b}", 16, "The variable $$b does not exist"),
        ("find people {a: Foo(1)}", 16, "The shell has no function \"Foo\""),
        ("find people {a: 01}", 16, "A number has a leading zero"),
        ("find people {a: 1, a: 2}", 19, "An object has the key \"a\" twice"),
        ("find people {} lmit 5", 15, "\"lmit\" is no part of this statement"),
        ("find people limit x", 18, "Expected a number"),
        ("find people limit 1 max 2", 20, "\"limit\" stands here twice"),
        ("find people {} }", 15, "Expected the end of the statement"),
        ("remove people", 13, "Expected the query ({} removes all), in braces"),
        ("update people {}", 16, "Expected the operations, in braces"),
        ("save people 5", 12, "Expected a document, in braces"),
        ("explain save people {}", 8, "This statement has no plan"),
        ("explain explain find people", 8, "This statement has no plan"),
        ("find people {a: 'x\ty'}", 18, "A text has a control character"),
        ("find people sort a,'b'", 17, "Quotes are around all paths"),
        ("find people sort 'a','b'", 17, "Quotes are around all paths"),
        ("db.people.find({})", 0, "\"db.people.find\" is no statement"),
    ]

    @Test("a mistake has its place", arguments: wrong)
    func mistakes(text: String, offset: Int, message: String) throws {
        let error = #expect(throws: TypingError.self) { try StatementParser.parse(text) }
        #expect(error?.message == message)
        #expect(error?.offset == offset)
    }

    @Test("paths may be in quotes", arguments: ["sort", "fields"])
    func quotedPaths(clause: String) throws {
        let hint = clause == "sort" ? "$orderby" : "$fields"
        for (text, paths) in [("'a'", ["a"]), ("\"a b,c\"", ["a b", "c"])] {
            let statement = try StatementParser.parse("find people \(clause) \(text) limit 1")
            #expect(statement.request["hints"]?.documentValue?[hint]?.documentValue?.keys.map { $0 } == paths)
        }
        #expect(try StatementParser.parse("index c '**'").request["keys"] == ["**": 1])
    }

    @Test("a long word is an error soon, and its message is short")
    func longWords() throws {
        let word = String(repeating: "a", count: 1 << 16)
        for text in [word, "find c {} \(word)", "find c {a: \(word)}", String(repeating: "explain ", count: 1 << 14)] {
            let error = try #require(throws: TypingError.self) { try StatementParser.parse(text) }
            #expect(error.message.utf8.count < 200)
        }
        #expect(Suggestion.nearest(to: word, of: StatementWords.verbs) == nil)
    }

    @Test("statements have the numbers of the lines where they begin")
    func lineNumbers() {
        var lines = NumberedStatements()
        let found = ["count a; count b", "", "find c {", "a: 1", "}; find d {", "}"].flatMap { lines.add($0) }
        #expect(found.map(\.line) == [1, 1, 3, 5])
        lines.skipLine()
        #expect(lines.add("count e").map(\.line) == [8])
    }

    @Test("values nested without an end are an error")
    func depth() throws {
        for bracket in ["[", "{a:"] {
            let text = "find c {a: " + String(repeating: bracket, count: 100_000)
            let error = #expect(throws: TypingError.self) { try StatementParser.parse(text) }
            #expect(error?.message == "The value is nested too deeply")
        }
    }

    @Test("an error of typing shows its line and a mark")
    func marks() throws {
        let error = Shell.located(TypingError(message: "No", offset: 15), in: "find c {\n  ü: 日\u{1B}, x}")
        let failure = try #require(error as? CommandError)
        #expect(failure.path == "line 2, column 6")
        #expect(failure.excerpt == "  " + "  ü: 日\\u001b, x}" + "\n  " + "     ^")
        let long = Shell.located(
            TypingError(message: "No", offset: 500),
            in: String(repeating: "x", count: 500) + "y" + String(repeating: "x", count: 500))
        let lines = try #require(long as? CommandError).excerpt.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 105 })
        #expect(
            lines[0].utf8.firstIndex(of: UInt8(ascii: "y")).map { lines[0].distance(from: lines[0].startIndex, to: $0) }
                == lines[1].count - 1)
    }

    private static let texts: [(lines: [String], statements: [String], rest: [String])] = [
        (["count a", "count b"], ["count a", "count b"], []),
        (["count a; count b"], ["count a", " count b"], []),
        (["find a {", "  b: 1", "}"], ["find a {\n  b: 1\n}"], []),
        (["find a {"], [], ["find a {\n"]),
        (["find a {b: '};'}"], ["find a {b: '};'}"], []),
        (["find a {b: /;}\\//}"], ["find a {b: /;}\\//}"], []),
        (["find a {b: 'x"], [], ["find a {b: 'x\n"]),
        (["find a }", "count b"], ["find a }", "count b"], []),
        (["", " ; "], [], []),
        ([".open a{b;", "# {", "// {", "count a"], [".open a{b;", "# {", "// {", "count a"], []),
        (["find a {", ".b: 1}"], ["find a {\n.b: 1}"], []),
    ]

    @Test("where statements end", arguments: texts)
    func ends(lines: [String], statements: [String], rest: [String]) {
        var splitter = StatementSplitter()
        #expect(lines.flatMap { splitter.add($0) } == statements)
        #expect(splitter.isEmpty == rest.isEmpty)
        #expect(splitter.end() == rest)
        #expect(splitter.isEmpty)
    }
}
