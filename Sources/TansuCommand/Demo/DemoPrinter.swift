import TansuBSON

/// The printer of the demo's steps. It flushes every line, so that the output shows the progress.
struct DemoPrinter {
    private let writer = OutputWriter()
    private let terminal: Terminal

    init(terminal: Terminal = .output) {
        self.terminal = terminal
    }

    func title(path: String) throws {
        try line()
        try line("  \(terminal.bold("Tansu")) is an embedded JSON document database.")
        try line()
        try labeledValues([
            ("Folder", path),
            ("Data", DemoData.attribution),
        ])
    }

    func note(_ text: String) throws {
        try line("  \(terminal.dim(text))")
    }

    /// Prints the heading of a step: "1  Import the cities".
    func step(_ number: Int, _ title: String) throws {
        try line()
        try line("  \(terminal.cyan(String(number)))  \(terminal.bold(title))")
    }

    /// Prints a line of a step.
    func detail(_ text: String) throws {
        try line("     \(text)")
    }

    /// Prints the result of a step.
    func done(_ text: String) throws {
        try line("     \(terminal.green("✓")) \(text)")
    }

    /// Prints a query and its hints, one hint per line, so that they fit into a narrow terminal.
    func query(_ query: BSONDocument, hints: BSONDocument) throws {
        try detail("query  \(query)")
        let texts = hints.map { "\(jsonText($0.key)):\($0.value)" }
        for (number, text) in texts.enumerated() {
            let start = number == 0 ? "hints  {" : "        "
            try detail(start + text + (number == texts.count - 1 ? "}" : ","))
        }
    }

    func table(_ table: TextTable) throws {
        try line()
        for row in table.lines(maximumWidth: terminal.width.map { $0 - 5 }, style: terminal) {
            try detail(row)
        }
    }

    func plan(_ lines: [String]) throws {
        for text in lines { try detail(text) }
    }

    func next(_ commands: [(purpose: String, command: String)], path: String) throws {
        try line()
        try line("  \(terminal.bold("Next commands"))")
        for (purpose, command) in commands {
            if !purpose.isEmpty {
                try line()
                try line("  \(terminal.dim("# " + purpose))")
            }
            try line("  \(command)")
        }
        try line()
        try line("  The database remains in \(path). Delete that folder when you no longer need it.")
        try line()
    }

    private func labeledValues(_ values: [(label: String, value: String)]) throws {
        for text in LabeledValues.lines(values, terminal: terminal) { try line("  \(text)") }
    }

    private func line(_ text: String = "") throws {
        try writer.writeLine(text)
        try writer.flush()
    }
}
