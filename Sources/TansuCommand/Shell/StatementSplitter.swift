import TansuBSON

/// Splits lines where statements end: at a semicolon outside of brackets, or at the end of a line when all brackets are
/// closed. A line is looked at once, however many of them a statement has.
struct StatementSplitter {
    /// The beginning of a statement whose brackets are open.
    private var pending: [UInt8] = []
    private var depth = 0
    /// The last byte that is not a space.
    private var previous = UInt8(ascii: " ")

    /// Whether there is no beginning of a statement.
    var isEmpty: Bool { pending.isEmpty }

    /// Adds a line without its end, and returns the statements that end with it. A command that begins with a dot, and a
    /// comment, is its whole line.
    mutating func add(_ line: String) -> [String] {
        if isEmpty, [".", "#", "//"].contains(where: { line.trimmingSpaces.hasPrefix($0) }) { return [line] }
        let bytes = Array(line.utf8)
        var (statements, start, index) = ([String](), 0, 0)
        while index < bytes.count {
            let byte = bytes[index]
            let isRegularExpression = byte == UInt8(ascii: "/") && depth > 0 && "{[(:,".utf8.contains(previous)
            if byte > 0x20 { previous = byte }
            if RelaxedScanner.isQuote(byte) || isRegularExpression {
                index = Self.end(of: bytes, from: index)
                continue
            }
            if "{[(".utf8.contains(byte) { depth += 1 }
            if "}])".utf8.contains(byte) { depth -= 1 }
            if byte == UInt8(ascii: ";"), depth <= 0 {
                pending += bytes[start..<index]
                statements += end()
                start = index + 1
            }
            index += 1
        }
        pending += bytes[start...]
        if depth <= 0 { return statements + end() }
        pending.append(UInt8(ascii: "\n"))
        return statements
    }

    /// Ends the statement that was begun, and returns it.
    mutating func end() -> [String] {
        defer { self = StatementSplitter() }
        return pending.contains { $0 > 0x20 } ? [String(decoding: pending, as: UTF8.self)] : []
    }

    /// The index after a text in quotes or a regular expression; these end with their line.
    private static func end(of bytes: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count {
            if bytes[index] == bytes[start] { return index + 1 }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return bytes.count
    }
}
