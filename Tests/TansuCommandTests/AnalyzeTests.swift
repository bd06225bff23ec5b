import Tansu
import Testing

@Suite("tansu analyze")
struct AnalyzeTests {
    @Test("prints positions, bytes and terms")
    func lines() throws {
        let command = try Command()
        #expect(
            try command.tansu("analyze", "Café foo_bar").output == """
                0\t0-5\tcafe
                1\t6-13\tfoo_bar
                1\t6-9\tfoo
                2\t10-13\tbar

                """)
        #expect(try command.tansu("analyze", "東京都", "--search").output == "0\t0-6\t東京\n1\t3-9\t京都\n")
    }

    @Test("prints one JSON object")
    func json() throws {
        let answer = try Command().tansu("analyze", "é", "--json").json()
        #expect(answer == ["ok": true, "terms": [["term": "e", "position": 0, "start": 0, "end": 2]]])
    }

    @Test("a text without terms is exit code 1, an unknown language 65")
    func failures() throws {
        let command = try Command()
        #expect(try command.tansu("analyze", "!?").status == 1)
        let unknown = try command.tansu("analyze", "x", "--language", "klingon")
        #expect(unknown.status == (Database.engineLibraries.contains("libstemmer") ? 65 : 69))
    }
}
