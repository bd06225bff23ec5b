import Testing

@Suite("tansu repair and compact")
struct RepairAndCompactTests {
    @Test("an intact database is salvaged completely")
    func sound() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("repair", "people.tansu", "repaired.tansu")
        #expect(result.status == 0 && result.output.hasPrefix("3 documents of 1 collection salvaged"))
        #expect(try command.tansu("count", "repaired.tansu", "people").output == "3\n")
        #expect(try command.tansu("repair", "people.tansu", "repaired.tansu").status == 73)
        #expect(try command.tansu("repair", "none.tansu", "new.tansu").status == 66)
    }

    @Test("losses are reported and the exit code is 1")
    func lost() throws {
        let command = try Command.withPeople()
        try command.succeed("save", "people.tansu", "people", "{\"_id\": \"dan\", \"needle\": null}")
        // The type of the field: null becomes a regular expression without text.
        try command.corrupt("people.tansu", at: "\nneedle")
        let result = try command.tansu("repair", "people.tansu", "repaired.tansu", "--json")
        #expect(result.status == 1)
        #expect(try result.json()["documents"]?.intValue == 3)
        #expect(try result.json()["problemCount"]?.intValue ?? 0 > 0)
        #expect(try result.json()["lostCommits"]?.intValue == 1)
        #expect(try result.json()["lostDocuments"]?.intValue == 1)
    }

    @Test("compaction reclaims the space of removed documents")
    func compact() throws {
        let command = try Command()
        let text = String(repeating: "x", count: 100_000)
        for id in 0..<10 { try command.succeed("save", "db", "c", "{\"_id\": \(id), \"text\": \"\(text)\"}") }
        try command.succeed("remove", "db", "c", "{\"_id\": {\"$gt\": 0}}")
        let result = try command.tansu("compact", "db", "--json").json()
        #expect(result["ok"] == true)
        let before = try #require(result["bytesBefore"]?.intValue)
        let after = try #require(result["bytesAfter"]?.intValue)
        #expect(before > 1_000_000 && after < before / 2)
        #expect(try command.tansu("find", "db", "c", "--fields", "_id").documents() == [["_id": 0]])
        #expect(try command.tansu("compact", "none.tansu").status == 66)
    }
}
