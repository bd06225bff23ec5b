import Tansu
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("tansu search, complete and suggest")
struct SearchTests {
    /// A folder with `notes.tansu`, whose collection `notes` has an index of words.
    private func withNotes() throws -> Command {
        let command = try Command()
        try command.write(
            "notes.ndjson",
            """
            {"_id": 1, "title": "Dark roast", "body": "A dark roast\\nis strong coffee.", "year": 1999}
            {"_id": 2, "title": "Tea", "body": "Tea is no coffee, and not as strong.", "year": 2010}
            {"_id": 3, "title": "Coffee", "tags": ["coffee", "milk"], "year": 2020}

            """)
        try command.succeed("import", "notes.tansu", "notes.ndjson")
        try command.succeed(
            "index", "create", "notes.tansu", "notes", "title,body,tags", "--text", "--weights", "title=3,body=2")
        return command
    }

    private let search = ["search", "notes.tansu", "notes"]

    @Test("results have scores, ids and what was found, the best first")
    func lines() throws {
        let command = try withNotes()
        let result = try command.tansu(search + ["coffee"], input: [])
        #expect(result.status == 0)
        let heads = result.lines.filter { !$0.hasPrefix(" ") }
        #expect(heads.count == 3 && heads[0].hasSuffix("  {\"_id\":3}"))
        #expect(heads.allSatisfy { $0.contains(#/^[0-9]+\.[0-9]{3}  /#) })
        #expect(result.lines.contains("  title: Coffee") && result.lines.contains("  tags: coffee"))
        #expect(result.lines.contains("  body: A dark roast\\nis strong coffee"))
        #expect(!result.output.contains("\u{1B}"))
        let few = try command.tansu(search + ["coffee", "--limit", "1", "--skip", "1"], input: [])
        #expect(few.lines.filter { !$0.hasPrefix(" ") } == [heads[1]])
    }

    @Test("a terminal shows what was found in bold")
    func bold() throws {
        let index = Database.IndexInfo(["name": "words", "keys": ["title": "text"]])
        let highlighter = SearchHighlighter("tea", index: index)
        let result = Database.Ranked<BSONDocument>(value: ["_id": 2, "title": "Tea\u{1B}[2J is tea"], score: 0.01234)
        let styled = Terminal(isInteractive: true, width: 80, allowsStyle: true)
        #expect(
            highlighter.lines(result, on: styled) == [
                "0.012  {\"_id\":2}", "  title: \u{1B}[1mTea\u{1B}[0m\\u001b[2J is \u{1B}[1mtea\u{1B}[0m",
            ])
        let plain = Terminal(isInteractive: false, width: nil, allowsStyle: false)
        #expect(highlighter.lines(result, on: plain).last == "  title: Tea\\u001b[2J is tea")
    }

    @Test("one JSON object has documents, scores and highlights")
    func json() throws {
        let command = try withNotes()
        let answer = try command.tansu(search + ["\"strong coffee\"", "--json"], input: []).json()
        let results = answer["results"]?.arrayValue?.compactMap(\.documentValue) ?? []
        #expect(results.count == 1 && results[0]["document"]?.documentValue?["_id"] == 1)
        #expect((results[0]["score"]?.doubleValue ?? 0) > 0)
        let highlights = results[0]["highlights"]?.arrayValue?.compactMap(\.documentValue) ?? []
        #expect(highlights.map { $0["path"] } == ["body"])
        #expect(highlights.first?["ranges"] == [[16, 29]])
        let none = try command.tansu(search + ["nothing", "--json"], input: [])
        #expect(none.status == 1)
        #expect(try none.json() == ["ok": true, "results": []])
    }

    @Test("a search may be in a path, have a condition, and be JSON")
    func options() throws {
        let command = try withNotes()
        func ids(_ words: String...) throws -> [BSONValue?] {
            let answer = try command.tansu(search + words + ["--json"], input: []).json()
            return answer["results"]?.arrayValue?.map { $0.documentValue?["document"]?.documentValue?["_id"] } ?? []
        }
        #expect(try ids("coffee", "--path", "title") == [3])
        #expect(try Set(ids("coffee", "--path", "title", "--path", "body")) == [1, 2, 3])
        #expect(try ids("coffee", "--where", "{\"year\": {\"$lt\": 2000}}") == [1])
        #expect(try ids("{\"near\": [\"tea\", \"strong\"], \"within\": 8}") == [2])
        #expect(try ids("coffee -tea -roast") == [3])
        let bad = try command.tansu(search + ["{\"nearby\": 1}"], input: [])
        #expect(bad.status == 65 && bad.error.contains("INVALID_QUERY"))
        #expect(try command.tansu(search + ["x", "--where", "{"], input: []).status == 65)
        #expect(try command.tansu("search", "notes.tansu", "others", "x").status == 66)
        let unindexed = try Command.withPeople().tansu("search", "people.tansu", "people", "ann")
        #expect(unindexed.status == 65 && unindexed.error.contains("index of words"))
    }

    @Test("all texts of a document are shown with their paths")
    func everything() throws {
        let command = try Command.withPeople()
        let create = try command.tansu("index", "create", "people.tansu", "people", "**", "--text")
        #expect(create.status == 0 && create.output.hasPrefix("Index **_text is ready"))
        let result = try command.tansu("search", "people.tansu", "people", "dog")
        #expect(result.lines.filter { $0 == "  pets.species: dog" }.count == 2)
    }

    @Test("when nothing is found, similar words are suggested")
    func nothing() throws {
        let command = try withNotes()
        let result = try command.tansu(search + ["cofee"], input: [])
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.error.contains("did you mean") && result.error.lowercased().contains("coffee"))
        #expect(try command.tansu(search + ["zzzzzzzz"], input: []).error.isEmpty)
        let json = try command.tansu(search + ["cofee", "--json"], input: []).json()
        #expect(json["suggestion"]?.stringValue?.lowercased() == "coffee")
    }

    @Test("an explanation shows what is searched for")
    func explained() throws {
        let command = try withNotes()
        let result = try command.tansu(
            "explain", "notes.tansu", "notes", "{\"$text\": {\"$search\": \"tea\"}}",
            "{\"$orderby\": {\"s\": {\"$meta\": \"textScore\"}}}")
        #expect(result.output.contains("search of title_text_body_text_tags_text for tea"))
        #expect(result.output.contains("best first"))
    }

    @Test("words are completed and corrected")
    func completeAndSuggest() throws {
        let command = try withNotes()
        let completed = try command.tansu("complete", "notes.tansu", "notes", "dark co")
        #expect(completed.lines.map { $0.lowercased() } == ["dark coffee\t3"])
        let json = try command.tansu("complete", "notes.tansu", "notes", "mi", "--json").json()
        #expect(json == ["ok": true, "completions": [["text": "milk", "word": "milk", "documents": 1]]])
        #expect(try command.tansu("complete", "notes.tansu", "notes", "zz").status == 1)
        #expect(try command.tansu("complete", "notes.tansu", "notes", "c", "--limit", "51").status == 64)
        let suggested = try command.tansu("suggest", "notes.tansu", "notes", "strogn tea")
        #expect(suggested.output == "strong tea\n")
        let words = try command.tansu("suggest", "notes.tansu", "notes", "mlik", "--json").json()
        #expect(words["text"] == "milk")
        #expect(
            words["words"]
                == [["word": "mlik", "suggestions": [["text": "milk", "documents": 1, "distance": 1]]]])
        #expect(try command.tansu("suggest", "notes.tansu", "notes", "tea").status == 1)
    }

    @Test("an index of words has its options, and the list shows them")
    func index() throws {
        let command = try Command.withPeople()
        let create = ["index", "create", "people.tansu", "people"]
        let made = try command.tansu(
            create + [
                "{\"name\": \"text\"}", "--weights", "{\"name\": 7}", "--no-positions", "--language-field", "lang",
                "--json",
            ],
            input: [])
        #expect(try made.json() == ["ok": true, "name": "name_text"])
        let list = try command.tansu("index", "list", "people.tansu", "people", "--json").json()
        let index = list["indexes"]?.arrayValue?.first?.documentValue ?? [:]
        #expect(index["keys"] == ["name": "text"] && index["weights"] == ["name": 7])
        #expect(index["positions"] == false && index["languageField"] == "lang")
        #expect(try command.tansu("index", "list", "people.tansu", "people").output.contains("weights"))
        for wrong in [
            ["name", "--text", "--unique"], ["name", "--weights", "name=2"], ["-name", "--text"],
            ["name", "--text", "--weights", "name=0"], ["name", "--text", "--weights", "name"],
            ["{\"name\": \"text\", \"age\": 1}"],
        ] {
            #expect(try command.tansu(create + wrong, input: []).status == 64, "\(wrong)")
        }
    }
}
