/// The statements of lines, each with the number of the line where it begins.
struct NumberedStatements {
    struct Statement: Equatable {
        let text: String
        let line: Int
    }

    private var splitter = StatementSplitter()
    /// The number of the last line, counted from 1.
    private(set) var line = 0
    /// Where the statement began whose brackets are open.
    private var begin = 0

    /// Whether there is no beginning of a statement.
    var isEmpty: Bool { splitter.isEmpty }

    /// Adds a line, and returns the statements that end with it. An empty line ends one whose brackets are still open.
    mutating func add(_ text: String) -> [Statement] {
        line += 1
        if splitter.isEmpty { begin = line }
        if text.trimmingSpaces.isEmpty { return end() }
        // Only the first can have begun on a line before.
        let statements = splitter.add(text).enumerated().map { number, text in
            Statement(text: text, line: number == 0 ? begin : line)
        }
        if !statements.isEmpty { begin = line }
        return statements
    }

    /// Counts a line that cannot be read.
    mutating func skipLine() { line += 1 }

    /// Ends the statement that was begun, and returns it.
    mutating func end() -> [Statement] { splitter.end().map { Statement(text: $0, line: begin) } }

    /// Forgets the statement that was begun.
    mutating func cancel() { splitter = StatementSplitter() }
}
