import Testing

@Suite("Questions on a terminal")
struct ConfirmationTests {
    private static let removals = [
        ["remove", "people.tansu", "people", "{}"], ["remove", "people.tansu", "people", "{}", "{\"$max\": 0}"],
        ["collections", "drop", "people.tansu", "people"],
        ["import", "people.tansu", "new.ndjson", "--collection", "people", "--drop"],
    ]

    @Test("removing everything asks, and any answer but yes changes nothing", arguments: removals, ["n\n", "\n"])
    func no(words: [String], answer: String) throws {
        let command = try Command.withPeople()
        try command.write("new.ndjson", "{\"_id\": 1}\n")
        let result = try command.tansu(words, on: try PseudoTerminal(), typing: answer)
        #expect(result.status == 1)
        #expect(result.error.contains("[y/N]") && result.error.contains("nothing was changed"))
        #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
    }

    @Test("yes, --yes and a script that has no terminal remove everything", arguments: removals)
    func yes(words: [String]) throws {
        for way in 0..<3 {
            let command = try Command.withPeople()
            try command.write("new.ndjson", "{\"_id\": 1}\n")
            let result =
                switch way {
                case 0: try command.tansu(words, on: try PseudoTerminal(), typing: "y\n")
                case 1: try command.tansu(words + ["--yes"], on: try PseudoTerminal(), typing: "")
                default: try command.tansu(words, input: [])
                }
            #expect(result.status == 0, "\(result.error)")
            #expect(result.error.contains("[y/N]") == (way == 0))
            #expect(try command.tansu("count", "people.tansu", "people").output != "3\n")
        }
    }

    @Test("removing some documents does not ask")
    func some() throws {
        let command = try Command.withPeople()
        for options in [["{\"age\": 25}"], ["{}", "--limit", "1"], ["{}", "{\"$limit\": 1}"], ["--id", "7"]] {
            let words = ["remove", "people.tansu", "people"] + options
            let result = try command.tansu(words, on: try PseudoTerminal(), typing: "")
            #expect(!result.error.contains("[y/N]"))
        }
    }
}
