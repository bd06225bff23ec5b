import TansuBSON

/// Prints the demo's steps as they are done, so that something is to be seen all the time.
struct DemoPrinter {
    private let writer = OutputWriter()
    private let terminal: Terminal

    init(terminal: Terminal = .output) {
        self.terminal = terminal
    }

    func title(path: String) throws {
        try line()
        try line("  \(terminal.bold("Tansu")) keeps JSON documents in a folder and finds them again, fast.")
        try line()
        try facts([
            ("Folder", path),
            ("Data", BundledCities.attribution),
        ])
    }

    func note(_ text: String) throws {
        try line("  \(terminal.dim(text))")
    }

    /// Begins a step: "1  Import the cities".
    func step(_ number: Int, _ title: String) throws {
        try line()
        try line("  \(terminal.cyan(String(number)))  \(terminal.bold(title))")
    }

    /// A line that belongs to a step.
    func detail(_ text: String) throws {
        try line("     \(text)")
    }

    /// What a step came to.
    func done(_ text: String) throws {
        try line("     \(terminal.green("✓")) \(text)")
    }

    /// A query and its hints, a hint a line, so that they fit into a narrow terminal.
    func question(_ query: BSONDocument, hints: BSONDocument) throws {
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
        try line("  \(terminal.bold("What to type next"))")
        for (purpose, command) in commands {
            if !purpose.isEmpty {
                try line()
                try line("  \(terminal.dim("# " + purpose))")
            }
            try line("  \(command)")
        }
        try line()
        try line("  The database stays in \(path); remove that folder when you are done.")
        try line()
    }

    private func facts(_ facts: [(label: String, value: String)]) throws {
        for text in Facts.lines(facts, terminal: terminal) { try line("  \(text)") }
    }

    private func line(_ text: String = "") throws {
        try writer.writeLine(text)
        try writer.flush()
    }
}
