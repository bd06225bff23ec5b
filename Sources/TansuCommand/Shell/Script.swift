import TansuBSON

/// The running of statements that come line by line.
enum Script {
    /// Runs the statements of a file, and ends with the first that fails.
    /// - Returns: Whether the shell goes on.
    static func run(_ source: any ByteSource, in shell: Shell) throws -> Bool {
        let editor = LineEditor(isInteractive: false, source: source, history: nil) { _, _ in [] }
        return try run(editor, named: source.name, in: shell, isInteractive: false) { throw $0 }
    }

    /// Runs the statements that an editor reads.
    ///
    /// - Parameters:
    ///   - name: What errors call the script; nil where lines have no numbers.
    ///   - failed: Receives the error of a statement. What it throws ends the script.
    /// - Returns: Whether the shell goes on.
    static func run(
        _ editor: LineEditor, named name: String?, in shell: Shell, isInteractive: Bool,
        failed: (any Error) throws -> Void
    ) throws -> Bool {
        var lines = NumberedStatements()
        var typed: [String] = []
        while true {
            let prompt = lines.isEmpty ? "tansu\(shell.transaction == nil ? "" : "*")> " : "  ...> "
            let input: LineEditor.Input
            do { input = try editor.read(prompt: isInteractive ? prompt : nil) } catch {
                // After other errors the next line can be read.
                guard (error as? CommandError)?.status == .invalidInput else { throw error }
                lines.skipLine()
                try failed(placed(error, name, lines.line))
                continue
            }
            var statements: [NumberedStatements.Statement] = []
            switch input {
            case .interrupted: lines.cancel()
            case .end: statements = lines.end()
            case .line(let line):
                statements = lines.add(line)
                if isInteractive { typed.append(line) }
            }
            if lines.isEmpty {
                if input != .interrupted { editor.remember(typed.joined(separator: " ")) }
                typed = []
            }
            for statement in statements {
                do {
                    if try !shell.run(statement.text, firstLine: name == nil ? 1 : statement.line) { return false }
                } catch { try failed(placed(error, name, statement.line)) }
            }
            if input == .end { return true }
        }
    }

    /// An error with the place of its statement, unless it has that of one in another file.
    private static func placed(_ error: any Error, _ name: String?, _ line: Int) -> any Error {
        guard let name else { return error }
        var failure = CommandError(error)
        if failure.place.isEmpty { failure.place = "\(name), line \(line)" }
        return failure
    }
}
