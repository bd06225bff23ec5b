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
        var splitter = StatementSplitter()
        var typed: [String] = []
        while true {
            let prompt = splitter.isEmpty ? "tansu\(shell.transaction == nil ? "" : "*")> " : "  ...> "
            let input: LineEditor.Input
            do { input = try editor.read(prompt: isInteractive ? prompt : nil) } catch {
                // After other errors the next line can be read.
                guard (error as? CommandError)?.status == .invalidInput else { throw error }
                try failed(error)
                continue
            }
            var statements: [String] = []
            switch input {
            case .interrupted: splitter = StatementSplitter()
            case .end: statements = splitter.end()
            case .line(let line):
                // An empty line ends a statement whose brackets are still open.
                statements = line.trimmingSpaces.isEmpty ? splitter.end() : splitter.add(line)
                if isInteractive { typed.append(line) }
            }
            if splitter.isEmpty {
                if input != .interrupted { editor.remember(typed.joined(separator: " ")) }
                typed = []
            }
            for statement in statements {
                do { if try !shell.run(statement) { return false } } catch { try failed(error) }
            }
            if input == .end { return true }
        }
    }
}
