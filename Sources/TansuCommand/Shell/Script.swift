import TansuBSON

/// The running of statements that come line by line.
enum Script {
    /// Runs the statements of a file, and ends with the first that fails.
    /// - Returns: Whether the shell goes on.
    static func run(_ source: any ByteSource, in shell: Shell) throws -> Bool {
        let editor = LineEditor(isInteractive: false, source: source, history: nil) { _, _ in [] }
        return try run(editor, in: shell, isInteractive: false) { throw $0 }
    }

    /// Runs the statements that an editor reads.
    ///
    /// - Parameter failed: Receives the error of a statement. What it throws ends the script.
    /// - Returns: Whether the shell goes on.
    static func run(
        _ editor: LineEditor, in shell: Shell, isInteractive: Bool, failed: (any Error) throws -> Void
    ) throws -> Bool {
        var text = ""
        while true {
            let prompt = text.isEmpty ? "tansu\(shell.transaction == nil ? "" : "*")> " : "  ...> "
            let line: LineEditor.Input
            do { line = try editor.read(prompt: isInteractive ? prompt : nil) } catch {
                // After other errors the next line can be read.
                guard (error as? CommandError)?.status == .invalidInput else { throw error }
                try failed(error)
                continue
            }
            let isLast: Bool
            switch line {
            case .interrupted:
                text = ""
                continue
            case .line(let line):
                // An empty line ends a statement whose brackets are still open.
                isLast = line.trimmingSpaces.isEmpty && !text.isEmpty
                text += line + "\n"
            case .end: isLast = true
            }
            let (statements, rest) = split(text, isLast: isLast)
            text = rest
            if isInteractive, text.isEmpty, !statements.isEmpty { editor.remember(statements.joined(separator: "; ")) }
            for statement in statements {
                do { if try !shell.run(statement) { return false } } catch { try failed(error) }
            }
            if line == .end { return true }
        }
    }

    /// The statements of a text. A command that begins with a dot, and a comment, is its line, whatever it has.
    private static func split(_ text: String, isLast: Bool) -> (complete: [String], rest: String) {
        let start = text.trimmingSpaces
        if [".", "#", "//"].contains(where: { start.hasPrefix($0) }) {
            return (text.parts(separatedBy: "\n", omittingEmpty: true), "")
        }
        return RelaxedScanner.statements(in: text, isLast: isLast)
    }
}
