import TansuBSON
import Testing

@testable import TansuCommand

@Suite("Tables with a header")
struct TableImportTests {
    /// The documents of a table, and the messages of invalid rows with their lines.
    private func documents(
        _ text: String, separator: Character = ",", infersTypes: Bool = false, piece: Int = 7
    ) throws -> (documents: [BSONDocument], problems: [String]) {
        let parser = RowParser(separator: try #require(separator.asciiValue), infersTypes: infersTypes)
        let reader = DocumentReader(PieceSource(text, piece: piece), table: parser, capacity: 16, maximumLength: 1000)
        var result: (documents: [BSONDocument], problems: [String]) = ([], [])
        while let raw = try reader.next() {
            switch reader.parse(raw) {
            case .success(let document): result.documents.append(document)
            case .failure(let problem): result.problems.append("\(raw.line): \(problem.message)")
            }
        }
        return result
    }

    @Test("rows are documents of text, and an empty value is no field", arguments: [1, 3, 64])
    func rows(piece: Int) throws {
        let text = "\u{FEFF}name,age,note\r\nAnn,41,\r\n\r\nBob,,\"\"\r\nCem,33,x y"
        let expected: [BSONDocument] = [
            ["name": "Ann", "age": "41"], ["name": "Bob", "note": ""], ["name": "Cem", "age": "33", "note": "x y"],
        ]
        #expect(try documents(text, piece: piece).documents == expected)
    }

    @Test("quotes protect separators, quotes and newlines (RFC 4180)", arguments: [1, 3, 64])
    func quotes(piece: Int) throws {
        let text = "a,\"b\"\n\"1,2\",\"3\"\"4\"\n\"5\n6\",\"\"\"\"\n7\"8,\"9\"\n"
        let result = try documents(text, piece: piece)
        #expect(
            result.documents == [["a": "1,2", "b": "3\"4"], ["a": "5\n6", "b": "\""], ["a": "7\"8", "b": "9"]])
        #expect(result.problems.isEmpty)
    }

    @Test("tabs separate the values of TSV")
    func tabs() throws {
        #expect(try documents("a\tb\n1,2\t\"x\ty\"\n", separator: "\t").documents == [["a": "1,2", "b": "x\ty"]])
    }

    @Test("types are inferred when asked, and never of quoted values")
    func types() throws {
        let text = "a,b,c,d,e\n1,-2.5,true,null,007\n\"1\",1e3,TRUE,x,9007199254740993\n"
        #expect(
            try documents(text, infersTypes: true).documents == [
                ["a": 1, "b": -2.5, "c": true, "d": .null, "e": "007"],
                ["a": "1", "b": 1000.0, "c": "TRUE", "d": "x", "e": 9_007_199_254_740_993],
            ])
    }

    @Test("names with dots make nested documents")
    func nested() throws {
        let text = "a.b,c,a.d.e\n1,2,3\n,2,\n"
        #expect(
            try documents(text).documents == [
                ["a": ["b": "1", "d": ["e": "3"]], "c": "2"], ["c": "2"],
            ])
    }

    @Test("an invalid row is skipped, and the rows after it are read", arguments: [1, 3, 64])
    func invalidRows(piece: Int) throws {
        let text = "a,b\n1\n1,2,3\n\"1\"x,2\n" + String(repeating: "y", count: 2000) + ",1\n5,6\n7,\"8\n"
        let result = try documents(text, piece: piece)
        #expect(result.documents == [["a": "5", "b": "6"]])
        #expect(
            result.problems == [
                "2: The row has 1 value, and the header has 2", "3: The row has 3 values, and the header has 2",
                "4: There is text after the quoted value at byte 1 of the row; double the quotes inside a value",
                "5: The row is longer than 1000 bytes", "7: The quoted value at byte 3 of the row does not end",
            ])
    }

    @Test(
        "a header with an empty name, or with a name twice, is an error",
        arguments: ["a,\n", "a,a\n", "a,a.b\n", "a.b,a\n", "a..b\n"])
    func header(text: String) throws {
        #expect(throws: CommandError.self) { try documents(text + "1,2\n") }
    }

    @Test("a table without rows, and an empty file, have no documents", arguments: ["", "\n", "a,b\n"])
    func empty(text: String) throws {
        #expect(try documents(text).documents.isEmpty)
    }

    @Test("a file is a table by its extension, and anything by --format")
    func formats() throws {
        let command = try Command()
        try command.write("a.csv", "_id,n\n1,1\n2,x\n")
        try command.write("b.tsv.gz", gzipped("_id\tn\n3\t2\n"))
        try command.write("c.txt", "_id,n\n4,2\n")
        for words in [["a.csv"], ["b.tsv.gz"], ["c.txt", "--format", "csv"]] {
            let result = try command.tansu(["import", "db", "--collection", "c", "--infer-types"] + words, input: [])
            #expect(result.status == 0, "\(result.error)")
        }
        let expected: [BSONDocument] = [
            ["_id": 1, "n": 1], ["_id": 2, "n": "x"], ["_id": 3, "n": 2], ["_id": 4, "n": 2],
        ]
        #expect(try command.tansu("find", "db", "c").documents() == expected)
        let bad = try command.tansu("import", "db", "-", "--collection", "c", "--format", "csv", input: "a\n1\n2,3\n")
        #expect(bad.status == 1 && bad.error == "standard input:3: The row has 2 values, and the header has 1\n")
        #expect(try command.tansu("import", "db", "a.csv", "--format", "xml").status == 64)
    }
}
