import Testing

@testable import TansuCommand

/// The documents of an input in the form "line:text" or "line!problem".
private func documents(
    _ text: String, piece: Int = 7, capacity: Int = 16, maximumLength: Int = 1 << 20
) throws -> [String] {
    let reader = DocumentReader(
        PieceSource(text, piece: piece), capacity: capacity, maximumLength: maximumLength)
    var result: [String] = []
    while let raw = try reader.next() {
        let text = reader.withText(of: raw) { String(decoding: $0, as: UTF8.self) }
        result.append(raw.problem.map { "\(raw.line)!\($0)" } ?? "\(raw.line):\(text)")
    }
    return result
}

@Suite("Splitting an input into documents")
struct RecordReaderTests {
    @Test("a line is a document, with the number of its line", arguments: [1, 2, 7, 64])
    func lines(piece: Int) throws {
        #expect(try documents("{\"a\":1}\n{\"b\":2}\n", piece: piece) == ["1:{\"a\":1}", "2:{\"b\":2}"])
    }

    @Test("the last line needs no newline")
    func lastLine() throws {
        #expect(try documents("{}\n{\"b\":2}") == ["1:{}", "2:{\"b\":2}"])
    }

    @Test("blank lines are skipped but counted")
    func blankLines() throws {
        #expect(try documents("\n\n{}\n   \n\t\n{}\n") == ["3:{}", "6:{}"])
    }

    @Test("carriage returns and a byte order mark are skipped")
    func carriageReturns() throws {
        #expect(try documents("\u{FEFF}{\"a\":1}\r\n{\"b\":2}\r\n") == ["1:{\"a\":1}", "2:{\"b\":2}"])
    }

    @Test("an empty input has no documents", arguments: ["", "\n", "  \n ", "[]", " [ \n ] \n"])
    func empty(text: String) throws {
        #expect(try documents(text).isEmpty)
    }

    @Test("a line that is too long is one invalid document")
    func longLine() throws {
        let long = String(repeating: "x", count: 500)
        let result = try documents("{}\n\(long)\n{\"c\":3}\n", maximumLength: 100)
        #expect(result == ["1:{}", "2!The line is longer than 100 bytes", "3:{\"c\":3}"])
    }

    @Test("a line of the maximum length is not too long")
    func longestLine() throws {
        let longest = String(repeating: "x", count: 100)
        #expect(try documents("\(longest)\n{}\n", piece: 10, maximumLength: 100) == ["1:\(longest)", "2:{}"])
    }

    @Test("an object can span several lines, as jq and json.dumps write it", arguments: [1, 3, 64])
    func severalLines(piece: Int) throws {
        let indented = "{\n  \"a\": {\n    \"b\": 1\n  },\n  \"c\": \"}{\"\n}"
        let flat = "{\n\"a\": [\n{\n\"b\": 1\n},\n{\n\"b\": 2\n}\n]\n}"
        let expected = ["1:\(indented)", "7:\(flat)", "17:{\"d\": 4}", "18:{\"a\":{\"b\":1}\n}"]
        let text = "\(indented)\n\(flat)\n{\"d\": 4}\n{\"a\":{\"b\":1}\n}\n"
        #expect(try documents(text, piece: piece) == expected)
        #expect(try documents(text.replacing("\n", with: "\r\n"), piece: piece).count == 4)
    }

    @Test("a document that does not end leaves the next one intact", arguments: [1, 3, 64])
    func broken(piece: Int) throws {
        let text = "{\"a\": 1\n{\"b\": 2}\n{\"c\": 3,\n{\"d\": \"4\n{\"e\": 5}\n{\"f\": {\n"
        #expect(
            try documents(text, piece: piece) == [
                "1:{\"a\": 1", "2:{\"b\": 2}", "3:{\"c\": 3,", "4:{\"d\": \"4", "5:{\"e\": 5}", "6:{\"f\": {",
            ])
    }

    @Test("an object on several lines that is too long is one invalid document")
    func longObject() throws {
        let long = "{\n" + String(repeating: "\"x\": 1,\n", count: 50) + "\"y\": 2}"
        let result = try documents("{}\n\(long)\n{\"c\":3}\n", maximumLength: 100)
        #expect(result.first == "1:{}" && result.last == "54:{\"c\":3}")
        #expect(result.contains("2!The line is longer than 100 bytes"))
    }

    @Test("the elements of an array are documents, with the line on which each begins", arguments: [1, 3, 64])
    func array(piece: Int) throws {
        let text = "[\n  {\"a\": [1, {\"x\": 2}]},\n  {\n    \"b\": 2\n  }\n, {}]\n"
        let expected = ["2:{\"a\": [1, {\"x\": 2}]}", "3:{\n    \"b\": 2\n  }", "6:{}"]
        #expect(try documents(text, piece: piece) == expected)
    }

    @Test("brackets, commas and quotes inside strings are text", arguments: [1, 5, 64])
    func strings(piece: Int) throws {
        let element = #"{"a": "], [{\"\\", "b": "}"}"#
        #expect(try documents("[\(element),\(element)]", piece: piece) == ["1:\(element)", "1:\(element)"])
    }

    @Test("an invalid element is one document")
    func badElement() throws {
        #expect(try documents("[{}, nonsense, {\"b\":2}]") == ["1:{}", "1:nonsense", "1:{\"b\":2}"])
        #expect(try documents("[}, {\"b\":2}]") == ["1:}", "1:{\"b\":2}"])
    }

    @Test("an array without its closing bracket is an error")
    func unclosed() throws {
        #expect(try documents("[{},\n{}") == ["1:{}", "2!The array does not end with \"]\""])
    }

    @Test("a trailing comma is an invalid element")
    func danglingComma() throws {
        #expect(try documents("[{},]") == ["1:{}", "1:"])
    }

    @Test("text after the array is an error")
    func trailing() throws {
        #expect(
            try documents("[{}]\n{}") == ["1:{}", "2!There is text after the end of the array"])
    }

    @Test("an element that is too long is one invalid document")
    func longElement() throws {
        let long = "{\"x\": \"" + String(repeating: ",", count: 500) + "\"}"
        let result = try documents("[{},\n\(long),\n{\"c\":3}]", maximumLength: 100)
        #expect(result == ["1:{}", "2!The element is longer than 100 bytes", "3:{\"c\":3}"])
    }

    @Test("memory is bounded for inputs of any length")
    func bounded() throws {
        let line = "{\"a\": \"0123456789\"}\n"
        let reader = DocumentReader(
            PieceSource(String(repeating: line, count: 20_000), piece: 4096), capacity: 4096)
        var count = 0
        while try reader.next() != nil {
            count += 1
            try #require(reader.buffer.count <= 4096)
        }
        #expect(count == 20_000)
    }
}
