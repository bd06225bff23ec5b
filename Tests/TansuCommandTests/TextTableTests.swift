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

    @Test("columns are as wide as their widest cell, without blanks at the line's end")
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

    @Test("numbers stand to the right, under a heading that does too")
    func numbers() {
        var table = TextTable(headings: ["population"])
        table.rows = [[TextTable.Cell(.int32(5))], [TextTable.Cell(.int64(12_400_232))]]
        #expect(table.lines() == ["population", "──────────", "         5", "  12400232"])
    }

    @Test("wide and combining characters keep the columns straight")
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

    @Test("a table that is too wide is cut where it is widest, with an ellipsis")
    func cut() {
        let long = String(repeating: "long ", count: 30)
        let lines = table(["id", "text"], [["1234567", long]]).lines(maximumWidth: 40)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 40 })
        #expect(lines[2].hasPrefix("1234567  long"))
        #expect(lines[2].hasSuffix("…"))
    }

    @Test("a wide character is never cut in half", arguments: 2...8)
    func cutWide(width: Int) {
        #expect(DisplayWidth.of(TextTable.truncated("東京都庁舎", width: width)) <= width)
    }

    @Test("a document cannot speak to the terminal")
    func control() {
        let cell = TextTable.Cell("a\u{1B}[31m\nb\u{202E}c")
        #expect(cell.text == "a\\u001b[31m\\nb\\u202ec")
    }

    @Test("a table without columns has no lines")
    func empty() {
        #expect(TextTable(headings: []).lines().isEmpty)
    }

    @Test("documents make the rows; a field that one lacks is blank")
    func documents() throws {
        var table = DocumentTable(terminal: .plain)
        let writer = OutputWriter()
        try table.append(["_id": 1, "name": "Ann"], to: writer)
        try table.append(["_id": 2, "tags": ["a", "b"]], to: writer)
        #expect(
            table.table().lines() == [
                "_id  name  tags",
                "───  ────  ─────────",
                "  1  Ann",
                "  2        [\"a\",\"b\"]",
            ])
    }
}

@Suite("Columns that text takes")
struct DisplayWidthTests {
    @Test(
        "East Asian text is twice as wide, combining marks take nothing",
        arguments: [
            ("", 0), ("abc", 3), ("São", 3), ("Sa\u{0303}o", 3), ("東京", 4), ("서울", 4), ("ｶﾅ", 2),
            ("日本 5", 6), ("👩‍👩‍👧", 2), ("🇧🇷", 2), ("☎\u{FE0F}", 2), ("ไทย", 3), ("กรุ", 2), ("a\u{200B}b", 2),
        ])
    func width(text: String, expected: Int) {
        #expect(DisplayWidth.of(text) == expected)
    }
}
