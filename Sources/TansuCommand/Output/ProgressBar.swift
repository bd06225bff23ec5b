import Foundation
import Tansu

/// A progress bar on one line of a terminal. It prints nothing when the output is not a terminal.
final class ProgressBar {
    private let terminal: Terminal
    private let label: String
    private let counted: String?
    private let started = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?
    private var isVisible = false

    /// - Parameter counted: The noun for the counted items in the singular, or `nil` to show no count.
    init(label: String, counted: String? = "document", terminal: Terminal = .error) {
        self.label = label
        self.counted = counted
        self.terminal = terminal
    }

    var elapsed: Duration { started.duration(to: .now) }

    /// Draws the state, ten times per second at most.
    ///
    /// - Parameters:
    ///   - documents: The number of documents or other items so far.
    ///   - fraction: The fraction of the work that is done, between 0 and 1, or nil when the total is not known.
    func update(documents: Int, fraction: Double?) {
        guard terminal.isInteractive else { return }
        let now = ContinuousClock.now
        if let drawn, drawn.duration(to: now) < .milliseconds(100) { return }
        drawn = now
        isVisible = true
        let line = ProgressBar.text(
            label: label, counted: counted, documents: documents, fraction: fraction, elapsed: elapsed,
            width: terminal.width ?? 80)
        write("\r\u{1B}[2K\(line)")
    }

    /// Clears the line, so that other lines can be printed.
    func clear() {
        guard isVisible else { return }
        isVisible = false
        drawn = nil
        write("\r\u{1B}[2K")
    }

    /// The text of the line, truncated to the width of the terminal.
    static func text(
        label: String, counted: String? = "document", documents: Int, fraction: Double?, elapsed: Duration, width: Int
    ) -> String {
        var tail = counted.map { NumberFormat.count(documents, $0) } ?? ""
        if counted != nil, elapsed > .milliseconds(50) { tail += "  \(NumberFormat.perSecond(documents, elapsed))" }
        var head = "  \(TextTable.printable(label))  "
        if let fraction {
            let percent = "\(Int(min(max(fraction, 0), 1) * 100))%"
            let padding = String(repeating: " ", count: 4 - percent.count)
            let available = width - DisplayWidth.of(head) - 4 - 4 - DisplayWidth.of(tail) - 1
            if available >= 8 { head += bar(fraction, width: min(available, 32)) + " " }
            head += "\(padding)\(percent)  "
        }
        return TextTable.truncated(head + tail, width: max(1, width - 1))
    }

    /// The bar of a fraction.
    static func bar(_ fraction: Double, width: Int) -> String {
        let filled = Int((Double(width) * min(max(fraction, 0), 1)).rounded(.down))
        return String(repeating: "━", count: filled) + String(repeating: "┈", count: width - filled)
    }

    private func write(_ text: String) {
        let writer = OutputWriter(descriptor: STDERR_FILENO, controls: true)
        try? writer.write(text)
        try? writer.flush()
    }
}

// MARK: - Database

extension ProgressBar {
    /// Shows the progress of an operation and clears the line at its end. Ctrl-C ends the operation with an error.
    ///
    /// - Parameter counted: The noun for the counted items, such as "document", or `nil` to show no count.
    static func showing<Result>(
        label: String, counted: String? = nil, _ body: ((Database.Progress) throws -> Void) throws -> Result
    ) throws -> Result {
        let line = ProgressBar(label: label, counted: counted)
        defer { line.clear() }
        return try Interruption.handled {
            try body {
                try Interruption.check()
                line.update(documents: $0.done, fraction: $0.fraction)
            }
        }
    }
}
