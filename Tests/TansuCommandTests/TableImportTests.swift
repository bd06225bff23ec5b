import TansuBSON
import Testing

@testable import TansuCommand

@Suite("Tables with a header")
struct TableImportTests {
    /// The documents of a table, and the messages of invalid rows with their lines.
    private func documents(
        _ text: String, separator: UInt8? = nil, infersTypes: Bool = false, piece: Int = 7
    ) throws -> (documents: [BSONDocument], problems: [String]) {
        try documents(text, TableOptions(separator: separator, infersTypes: infersTypes), piece: piece)
    }

    private func documents(
        _ text: String, _ options: TableOptions, piece: Int = 7
    ) throws -> (documents: [BSONDocument], problems: [String]) {
        let parser = RowParser(options)
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

    @Test("only the beginning of a file has a byte order mark: in a value it is a character", arguments: [1, 64])
    func byteOrderMarkInValue(piece: Int) throws {
        let text = "\u{FEFF}a,b\n\u{FEFF}x,\"\u{FEFF}y\"\n"
        let found = try documents(text, piece: piece).documents
        #expect(found.map(\.bytes) == [(["a": "\u{FEFF}x", "b": "\u{FEFF}y"] as BSONDocument).bytes])
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
        #expect(
            try documents("a\tb\n1,2\t\"x\ty\"\n", separator: UInt8(ascii: "\t")).documents == [
                ["a": "1,2", "b": "x\ty"]
            ])
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

    @Test(
        "a row ends with a newline, a carriage return, or both in either order",
        arguments: ["\n", "\r", "\r\n", "\n\r"], [1, 2, 3, 64])
    func lineEnds(end: String, piece: Int) throws {
        let text = ["a,b", "1,2", "", "\"3\(end)4\",5", "6", "7,8"].joined(separator: end)
        for last in ["", end] {
            let result = try documents(text + last, piece: piece)
            #expect(
                result.documents == [
                    ["a": "1", "b": "2"], ["a": .string("3\(end)4"), "b": "5"], ["a": "7", "b": "8"],
                ])
            #expect(result.problems == ["6: The row has 1 value, and the header has 2"])
        }
    }

    @Test(
        "the separator is the one of the header: a comma, or else a semicolon, a tab or a bar",
        arguments: [
            ("a,b;c\n1,2\n", ["a": "1", "b;c": "2"]), ("a;b\n1;2,5\n", ["a": "1", "b": "2,5"]),
            ("a\tb\n1\t2\n", ["a": "1", "b": "2"]), ("a|b\n1|2\n", ["a": "1", "b": "2"]),
            ("\"a,x\";b\n1;2\n", ["a,x": "1", "b": "2"]), ("a\n1;2\n", ["a": "1;2"]),
            ("sep=;\r\na,b;c\r\n1;2\r\n", ["a,b": "1", "c": "2"]),
            ("\u{FEFF}\"sep=|\"\na;b|c\n1|2\n", ["a;b": "1", "c": "2"]),
        ] as [(String, BSONDocument)])
    func separators(text: String, expected: BSONDocument) throws {
        #expect(try documents(text).documents == [expected])
        #expect(try documents(text).problems.isEmpty)
    }

    @Test("integers keep their digits, as decimals or else as text")
    func largeIntegers() throws {
        let text = """
            9223372036854775807,9223372036854775808,-12345678901234567890123456789012345,\
            1234567890123456789012345678901234,1e400,-0.5,18446744073709551616.5
            """
        let table = "a,b,c,d,e,f,g\n\(text)\n"
        let document = try #require(try documents(table, infersTypes: true).documents.first)
        #expect(document["a"] == .int64(.max))
        #expect(document["b"] == Decimal128("9223372036854775808").map { .decimal128($0) })
        #expect(document["c"] == "-12345678901234567890123456789012345")
        #expect(document["d"] == Decimal128("1234567890123456789012345678901234").map { .decimal128($0) })
        #expect(document["e"] == "1e400" && document["f"] == -0.5 && document["g"] == "18446744073709551616.5")
    }

    @Test("the header can be replaced, completed or missing")
    func headers() throws {
        let text = "a,,a,,x.,a\n1,2,3,4,5,6\n"
        var options = TableOptions(columns: ["p", "q", "r.s", "t", "u", "v"])
        #expect(
            try documents(text, options).documents
                == [["p": "1", "q": "2", "r": ["s": "3"], "t": "4", "u": "5", "v": "6"]])
        options = TableOptions(fixesHeader: true)
        #expect(
            try documents(text, options).documents
                == [["a": "1", "column2": "2", "a_2": "3", "column4": "4", "x": "5", "a_3": "6"]])
        options = TableOptions(fixesHeader: true)
        #expect(
            try documents("a.b,a,a_2\n1,2,3\n", options).documents == [["a": ["b": "1"], "a_2": "2", "a_2_2": "3"]])
        options = TableOptions(hasHeader: false)
        #expect(
            try documents("1,2\n3,4\n", options).documents
                == [["column1": "1", "column2": "2"], ["column1": "3", "column2": "4"]])
        options = TableOptions(columns: ["x", "y"], hasHeader: false)
        #expect(try documents("1;2", options, piece: 1).documents == [["x": "1", "y": "2"]])
        options = TableOptions(columns: ["x"])
        #expect(throws: CommandError.self) { try documents("a,b\n1,2\n", options) }
    }

    @Test("names that look the same and have other bytes are different columns")
    func canonicallyEqualNames() throws {
        let document = try #require(try documents("\u{E9},e\u{301}\n1,2\n").documents.first)
        #expect(document.count == 2 && document["\u{E9}"] == "1" && document["e\u{301}"] == "2")
        let nested = try #require(try documents("a.\u{301}b\n1\n").documents.first)
        #expect(nested == ["a": ["\u{301}b": "1"]])
    }

    @Test("a table of very many columns is read, with a field and a name for each")
    func manyColumns() throws {
        let columns = 20_000
        let names = (0..<columns).map { "c\($0)" }.joined(separator: ",")
        let nested = (0..<columns).map { "n.c\($0)" }.joined(separator: ",")
        let same = Array(repeating: "c", count: columns).joined(separator: ",")
        let row = Array(repeating: "1", count: columns).joined(separator: ",")
        for header in [names, nested, same] {
            let reader = DocumentReader(
                PieceSource("\(header)\n\(row)\n", piece: 65_536), table: RowParser(TableOptions(fixesHeader: true)))
            let raw = try #require(try reader.next())
            let document = try reader.parse(raw).get()
            #expect((document["n"]?.documentValue ?? document).count == columns)
        }
    }

    @Test("columns of dates have dates, and other text there is an error")
    func dates() throws {
        var options = TableOptions(dates: ["d"])
        let text = """
            d,e
            2012-12-24,2012-12-24
            2012-12-24 12:15,
            2012-12-24T12:15:30.501+01:00,
            "2012-12-24 12:15:30",
            ,
            2012-13-24,
            tomorrow,

            """
        let result = try documents(text, options)
        let day: Int64 = 1_356_307_200_000
        #expect(
            result.documents == [
                ["d": .date(day), "e": "2012-12-24"], ["d": .date(day + 44_100_000)],
                ["d": .date(day + 40_530_501)], ["d": .date(day + 44_130_000)], [:],
            ])
        #expect(
            result.problems.count == 2 && result.problems[0].hasPrefix("7: \"2012-13-24\" in column 1 is not a date"))
        options.dateFormat = "dd.MM.yyyy"
        #expect(try documents("d\n24.12.2012\n", options).documents == [["d": .date(day)]])
        #expect(try documents("d\n31.02.2012\n", options).problems.count == 1)
        options.dates = ["absent"]
        #expect(throws: CommandError.self) { try documents("d\n1\n", options) }
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

    @Test("a file has the encoding of its byte order mark, or that of --encoding")
    func encodings() throws {
        let command = try Command()
        let text = "_id,n\n1,\u{E9}\u{20AC}\n"
        func utf16(_ text: String, swapped: Bool) -> [UInt8] {
            text.utf16.flatMap { swapped ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        }
        let files: [(bytes: [UInt8], encoding: String?)] = [
            (Array("\u{FEFF}\(text)".utf8), nil), (utf16("\u{FEFF}\(text)", swapped: false), nil),
            (utf16("\u{FEFF}\(text)", swapped: true), nil), (utf16(text, swapped: false), "utf-16"),
            (utf16(text, swapped: true), "UTF-16BE"),
            (utf16(text, swapped: true), "utf-16"),
            (Array("_id,n\n1,".utf8) + [0xE9, 0x80] + Array("\n".utf8), "windows-1252"),
        ]
        for (bytes, encoding) in files {
            try command.write("c.csv", bytes)
            let words = ["import", "db", "c.csv", "--drop"] + (encoding.map { ["--encoding", $0] } ?? [])
            let result = try command.tansu(words, input: [])
            #expect(result.status == 0, "\(result.error)")
            #expect(try command.tansu("find", "db", "c").documents() == [["_id": "1", "n": "\u{E9}\u{20AC}"]])
        }
        try command.write("c.csv", Array("n\n".utf8) + [0xE9, 0x0A])
        let plain = try command.tansu("import", "db", "c.csv")
        #expect(plain.status == 1 && plain.error.contains("\"--encoding\""))
        try command.write("c.csv", [0xFF, 0xFE, 0x61, 0x00, 0x00, 0xD8])
        #expect(try command.tansu("import", "db", "c.csv").error.contains("not valid UTF-16"))
        // A high surrogate without a low one, and the other way round.
        for unit in [[0x00, 0xD8], [0x00, 0xDC], [0xFF, 0xDB]] as [[UInt8]] {
            let bytes: [UInt8] = [0xFF, 0xFE, 0x61, 0x00, 0x0A, 0x00] + unit + [0x0A, 0x00]
            for words in [
                ["import", "db", "-", "--collection", "c"], ["load", "db", "--collection", "c"], ["save", "db", "c"],
            ] {
                let result = try command.tansu(words, input: bytes)
                #expect(result.status == 65 && result.error.contains("INVALID_TEXT"), "\(words) \(result.error)")
            }
        }
        try command.write("c.json", utf16("\u{FEFF}[{\"_id\": 5}]", swapped: false))
        #expect(try command.tansu("load", "db", "c.json", "--collection", "l").status == 65)
        #expect(try command.tansu("import", "db", "c.json", "--collection", "j").status == 0)
    }

    @Test("options of tables say csv, and are checked")
    func tableOptions() throws {
        let command = try Command()
        let words = [
            "save", "db", "c", "--delimiter", "tab", "--no-header", "--columns", "_id,\"x,y\"", "--infer-types",
        ]
        let result = try command.tansu(words, input: Array("1\ta\n2\tb\n".utf8))
        #expect(result.status == 0, "\(result.error)")
        #expect(try command.tansu("find", "db", "c").documents() == [["_id": 1, "x,y": "a"], ["_id": 2, "x,y": "b"]])
        for wrong in [
            ["--delimiter", "ab"], ["--delimiter", "\""], ["--delimiter", "\u{E9}"], ["--encoding", "ebcdic"],
            ["--format", "json", "--no-header"], ["--format", "json", "--infer-types"], ["--date-format", "yyyy"],
            ["--columns", "\"a"],
        ] {
            #expect(try command.tansu(["import", "db", "-", "--collection", "c"] + wrong, input: []).status == 64)
        }
    }

    @Test("a header that cannot be used says which options help, and they do")
    func headerRemedy() throws {
        let command = try Command()
        try command.write("a.csv", "id,,id\n1,2,3\n")
        let result = try command.tansu("import", "db", "a.csv")
        #expect(result.status == 65 && result.error.contains("--columns") && result.error.contains("--fix-header"))
        try command.succeed("import", "db", "a.csv", "--fix-header", "--id", "id")
        #expect(
            try command.tansu("get", "db", "a", "\"1\"").documents()
                == [["_id": "1", "id": "1", "column2": "2", "id_2": "3"]])
        try command.succeed("import", "db", "a.csv", "--columns", "_id,b,c")
        #expect(try command.tansu("get", "db", "a", "\"1\"").documents() == [["_id": "1", "b": "2", "c": "3"]])
    }

    @Test("a number that no type has with its digits stays text")
    func exactNumbers() throws {
        let expected: [(text: String, value: BSONValue)] = [
            ("-0", "-0"), ("-0.0", .double(-0.0)), ("0.0", 0.0), ("0e5", 0.0), ("1e-400", "1e-400"),
            ("9007199254740993.0", "9007199254740993.0"), ("9007199254740992.0", 9_007_199_254_740_992.0),
            ("0.1", 0.1), ("0.10000000000000001", 0.1), ("1.50", 1.5), ("-2.5e-3", -0.0025),
            ("5e-324", .double(.leastNonzeroMagnitude)),
            ("3.14159265358979323846", "3.14159265358979323846"), ("1E3", 1000.0),
        ]
        for (text, value) in expected {
            let documents = try documents("a\n\(text)\n", infersTypes: true).documents
            #expect(documents == [["a": value]], "\(text)")
        }
    }

    @Test("a pattern of dates that cannot be meant is refused, and a year of two digits is no year of antiquity")
    func datePatterns() throws {
        let command = try Command()
        try command.write("a.csv", "_id,d\n1,24.12.2012\n2,1.1.24\n3,1.1.0024\n")
        for pattern in ["foo", "%d.%m.%Y", "DD.MM.yyyy", "dd.mm.yyyy", "dd.MM.YYYY", "dd.MM", ""] {
            let result = try command.tansu("import", "db", "a.csv", "--dates", "d", "--date-format", pattern)
            #expect(result.status == 64 && result.error.contains("--date-format"), "\(pattern) \(result.error)")
        }
        let result = try command.tansu("import", "db", "a.csv", "--dates", "d", "--date-format", "dd.MM.yyyy")
        #expect(result.status == 1 && result.error.contains("a.csv:3: \"1.1.24\""), "\(result.error)")
        #expect(try command.tansu("count", "db", "a").output == "2\n")
        let old = try command.tansu("export", "db", "a", "--format", "csv", "--query", "{\"_id\": \"3\"}").output
        #expect(old == "_id,d\n\"3\",0024-01-01T00:00:00Z\n")
        for pattern in ["yyyy-MM", "yyyy", "dd.MM.yy", "d. MMM yyyy HH:mm", "yyyy-MM-dd'T'HH:mm:ssXXX", "YYYY-'W'ww-e"]
        {
            let result = try command.tansu(
                "import", "db", "-", "--collection", "c", "--dates", "d", "--date-format", pattern)
            #expect(!result.error.contains("--date-format"), "\(pattern) \(result.error)")
        }
    }

    @Test("a header with an operator or an empty name within says so, and --fix-header helps")
    func headerNames() throws {
        let command = try Command()
        try command.write("a.csv", "a..b,$c,a.$d\n1,2,3\n")
        let result = try command.tansu("import", "db", "a.csv")
        #expect(result.status == 65 && result.error.contains("\"a..b\", has an empty name before or after a dot"))
        try command.write("b.csv", "$c\n1\n")
        #expect(try command.tansu("import", "db", "b.csv").error.contains("\"$c\", begins with $"))
        try command.succeed("import", "db", "a.csv", "--fix-header", "--id", "c")
        #expect(
            try command.tansu("get", "db", "a", "\"2\"").documents() == [
                ["_id": "2", "a_b": "1", "c": "2", "a_d": "3"]
            ])
    }

    @Test(
        "JSON in a file whose name says CSV is refused",
        arguments: ["{\"a\": \"x,y\"}\n", "[\n {\"a\": 1},\n {\"a\": 2}]"])
    func jsonAsTable(text: String) throws {
        let command = try Command()
        try command.write("a.csv", text)
        let result = try command.tansu("import", "db", "a.csv")
        #expect(result.status == 65 && result.error.contains("--format json"), "\(result.error)")
        try command.succeed("import", "db", "a.csv", "--format", "json")
        try command.write("b.csv", "[a],[b]\n")
        let empty = try command.tansu("import", "db", "b.csv")
        #expect(empty.status == 0 && empty.error == "tansu: Warning: There is no document in b.csv\n")
    }
}
