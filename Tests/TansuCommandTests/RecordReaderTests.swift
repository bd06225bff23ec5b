import Testing

@testable import TansuCommand

/// Bytes handed out in small pieces, as a pipe may.
private final class PieceSource: ByteSource {
    private var bytes: ArraySlice<UInt8>
    private let piece: Int

    init(_ text: String, piece: Int) {
        bytes = ArraySlice(Array(text.utf8))
        self.piece = piece
    }

    var fraction: Double? { nil }

    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = min(piece, memory.count, bytes.count)
        memory.copyBytes(from: bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        return count
    }
}

/// A record in words: "line:text" or "line!problem".
private func records(
    _ text: String, piece: Int = 7, capacity: Int = 16, maximumLength: Int = 1 << 20
) throws -> [String] {
    let reader = RecordReader(
        PieceSource(text, piece: piece), capacity: capacity, maximumLength: maximumLength)
    var result: [String] = []
    while let record = try reader.next() {
        let text = reader.withText(of: record) { String(decoding: $0, as: UTF8.self) }
        result.append(record.problem.map { "\(record.line)!\($0)" } ?? "\(record.line):\(text)")
    }
    return result
}

@Suite("Cutting an input into documents")
struct RecordReaderTests {
    @Test("a line is a document, with the number of its line", arguments: [1, 2, 7, 64])
    func lines(piece: Int) throws {
        #expect(try records("{\"a\":1}\n{\"b\":2}\n", piece: piece) == ["1:{\"a\":1}", "2:{\"b\":2}"])
    }

    @Test("the last line needs no end")
    func lastLine() throws {
        #expect(try records("{}\n{\"b\":2}") == ["1:{}", "2:{\"b\":2}"])
    }

    @Test("blank lines are no documents, but count as lines")
    func blankLines() throws {
        #expect(try records("\n\n{}\n   \n\t\n{}\n") == ["3:{}", "6:{}"])
    }

    @Test("Windows line ends and a byte order mark are left out")
    func carriageReturns() throws {
        #expect(try records("\u{FEFF}{\"a\":1}\r\n{\"b\":2}\r\n") == ["1:{\"a\":1}", "2:{\"b\":2}"])
    }

    @Test("an empty input has no documents", arguments: ["", "\n", "  \n ", "[]", " [ \n ] \n"])
    func empty(text: String) throws {
        #expect(try records(text).isEmpty)
    }

    @Test("a line that is too long is one bad record, and the next is whole")
    func longLine() throws {
        let long = String(repeating: "x", count: 500)
        let result = try records("{}\n\(long)\n{\"c\":3}\n", maximumLength: 100)
        #expect(result == ["1:{}", "2!The line is longer than 100 bytes", "3:{\"c\":3}"])
    }

    @Test("an array's elements are documents, with the line on which each begins", arguments: [1, 3, 64])
    func array(piece: Int) throws {
        let text = "[\n  {\"a\": [1, {\"x\": 2}]},\n  {\n    \"b\": 2\n  }\n, {}]\n"
        let expected = ["2:{\"a\": [1, {\"x\": 2}]}", "3:{\n    \"b\": 2\n  }", "6:{}"]
        #expect(try records(text, piece: piece) == expected)
    }

    @Test("brackets, commas and quotes inside strings mean nothing", arguments: [1, 5, 64])
    func strings(piece: Int) throws {
        let element = #"{"a": "], [{\"\\", "b": "}"}"#
        #expect(try records("[\(element),\(element)]", piece: piece) == ["1:\(element)", "1:\(element)"])
    }

    @Test("a bad element is one record, and the next is whole")
    func badElement() throws {
        #expect(try records("[{}, nonsense, {\"b\":2}]") == ["1:{}", "1:nonsense", "1:{\"b\":2}"])
    }

    @Test("an array without its end is told")
    func unclosed() throws {
        #expect(try records("[{},\n{}") == ["1:{}", "2!The array is not closed with a ]"])
    }

    @Test("a comma with nothing behind it is a bad element")
    func danglingComma() throws {
        #expect(try records("[{},]") == ["1:{}", "1:"])
    }

    @Test("text behind the array is told")
    func trailing() throws {
        #expect(
            try records("[{}]\n{}") == ["1:{}", "2!There is text behind the end of the array"])
    }

    @Test("an element that is too long is one bad record, and the next is whole")
    func longElement() throws {
        let long = "{\"x\": \"" + String(repeating: ",", count: 500) + "\"}"
        let result = try records("[{},\n\(long),\n{\"c\":3}]", maximumLength: 100)
        #expect(result == ["1:{}", "2!The element is longer than 100 bytes", "3:{\"c\":3}"])
    }

    @Test("memory stays bounded however long the input is")
    func bounded() throws {
        let line = "{\"a\": \"0123456789\"}\n"
        let reader = RecordReader(
            PieceSource(String(repeating: line, count: 20_000), piece: 4096), capacity: 4096)
        var count = 0
        while try reader.next() != nil {
            count += 1
            try #require(reader.buffer.count <= 4096)
        }
        #expect(count == 20_000)
    }
}
