import Foundation
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("Tables in a terminal")
struct TextTableTests {
    private func table(_ headings: [String], _ rows: [[String]]) -> TextTable {
        var table = TextTable(headings: headings)
        table.rows = rows.map { $0.map { TextTable.Cell($0) } }
        return table
    }

    @Test("columns are as wide as their widest cell, without trailing spaces")
    func alignment() {
        let lines = table(["name", "x"], [["Ann", "1"], ["Bartholomew", ""]]).lines()
        #expect(
            lines == [
                "name         x",
                "───────────  ─",
                "Ann          1",
                "Bartholomew",
            ])
    }

    @Test("numbers and their headings are aligned to the right")
    func numbers() {
        var table = TextTable(headings: ["population"])
        table.rows = [[TextTable.Cell(.int32(5))], [TextTable.Cell(.int64(12_400_232))]]
        #expect(table.lines() == ["population", "──────────", "         5", "  12400232"])
    }

    @Test("columns with wide and combining characters are aligned")
    func wideCharacters() {
        let lines = table(
            ["name", "id"],
            [["東京", "1"], ["서울", "2"], ["Sa\u{0303}o Paulo", "3"], ["قاهرة", "4"], ["🇯🇵 flag", "5"]]
        ).lines()
        let columns = lines.dropFirst(2).map { line in
            DisplayWidth.of(String(line.prefix { !("1"..."5").contains($0) }))
        }
        #expect(columns == [11, 11, 11, 11, 11])
    }

    @Test("the widest column of a table that is too wide is truncated with an ellipsis")
    func cut() {
        let long = String(repeating: "long ", count: 30)
        let lines = table(["id", "text"], [["1234567", long]]).lines(maximumWidth: 40)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 40 })
        #expect(lines[2].hasPrefix("1234567  long"))
        #expect(lines[2].hasSuffix("…"))
    }

    @Test("a column is at least four characters wide")
    func minimumWidth() {
        let lines = table(["first", "second"], [["aaaaaaaa", "bbbbbbbb"]]).lines(maximumWidth: 3)
        #expect(lines == ["fir…  sec…", "────  ────", "aaa…  bbb…"])
    }

    @Test("text is truncated between wide characters", arguments: 2...9)
    func cutWide(width: Int) {
        let text = "東京都庁舎"
        let expected = text.prefix((width - 1) / 2) + "…"
        #expect(TextTable.truncated(text, width: width) == expected)
        #expect(TextTable.truncated(text, width: 10) == text)
    }

    @Test("a document cannot control the terminal")
    func control() {
        let cell = TextTable.Cell("a\u{1B}[31m\nb\u{202E}c")
        #expect(cell.text == "a\\u001b[31m\\nb\\u202ec")
    }

    @Test("a table without columns has no lines")
    func empty() {
        #expect(TextTable(headings: []).lines().isEmpty)
    }

    /// The table of documents as it is written to a file.
    private func written(_ documents: [BSONDocument], keptBytes: Int) throws -> (text: String, reads: Int) {
        let command = try Command()
        try command.write("output", "")
        let file = try FileHandle(forWritingTo: command.folder.appendingPathComponent("output"))
        let writer = OutputWriter(descriptor: file.fileDescriptor)
        var table = DocumentTable(terminal: .plain, keptBytes: keptBytes)
        var reads = 0
        let count = try table.write(
            { body in
                reads += 1
                try documents.forEach(body)
            }, to: writer)
        #expect(count == documents.count)
        return (try command.text("output"), reads)
    }

    @Test("a result of any length is one table; a long one is read twice and not kept")
    func longResult() throws {
        let documents = (1...3000).map { ["_id": .int32($0), "field\($0 % 7)": "x"] as BSONDocument }
        let short = try written(documents, keptBytes: 1 << 20)
        let long = try written(documents, keptBytes: 1000)
        #expect(short.reads == 1 && long.reads == 2)
        #expect(short.text == long.text)
        let lines = long.text.split(separator: "\n")
        #expect(lines.count == 3002)
        #expect(lines.filter { $0.contains("_id") }.count == 1)
        #expect(lines.allSatisfy { $0.count <= lines[1].count })
        #expect(try written([], keptBytes: 0).text.isEmpty)
    }

    @Test("documents are rows, and a missing field is an empty cell")
    func documents() throws {
        let documents: [BSONDocument] = [["_id": 1, "name": "Ann"], ["_id": 2, "tags": ["a", "b"]]]
        #expect(
            try written(documents, keptBytes: 1000).text == """
                _id  name  tags
                ───  ────  ─────────
                  1  Ann
                  2        ["a","b"]

                """)
    }
}
