import Testing

@Suite("tansu repair and compact")
struct RepairTests {
    @Test("a sound database is salvaged whole")
    func sound() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("repair", "people.tansu", "mended.tansu")
        #expect(result.status == 0 && result.output.hasPrefix("3 documents of 1 collection salvaged"))
        #expect(try command.tansu("count", "mended.tansu", "people").output == "3\n")
        #expect(try command.tansu("repair", "people.tansu", "mended.tansu").status == 73)
        #expect(try command.tansu("repair", "none.tansu", "new.tansu").status == 66)
    }

    @Test("what was lost is told, and the command does not end with 0")
    func lost() throws {
        let command = try Command.withPeople()
        try command.tansu("save", "people.tansu", "people", "{\"_id\": \"dan\", \"needle\": null}")
        // The type of the field: null becomes a regular expression without text.
        try command.damage("people.tansu", at: "\nneedle")
        let result = try command.tansu("repair", "people.tansu", "mended.tansu", "--json")
        #expect(result.status == 1)
        #expect(try result.json()["documents"]?.intValue == 3)
        #expect(try result.json()["problemCount"]?.intValue ?? 0 > 0)
        #expect(try result.json()["lostCommits"]?.intValue == 1)
        #expect(try result.json()["lostDocuments"]?.intValue == 1)
    }

    @Test("a database is compacted")
    func compact() throws {
        let command = try Command.withPeople()
        try command.tansu("remove", "people.tansu", "people", "--all")
        let answer = try command.tansu("compact", "people.tansu", "--json").json()
        #expect(answer["ok"] == true && answer["bytesAfter"] != nil)
        #expect(try command.tansu("compact", "none.tansu").status == 66)
    }
}
