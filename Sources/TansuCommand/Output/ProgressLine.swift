import Foundation

/// One line on a terminal that is written over as work goes on; silent when nobody looks.
final class ProgressLine {
    private let terminal: Terminal
    private let label: String
    private let counted: String?
    private let started = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?
    private var isVisible = false

    /// - Parameter counted: What is counted, in the singular; nothing when `nil`.
    init(label: String, counted: String? = "document", terminal: Terminal = .error) {
        self.label = label
        self.counted = counted
        self.terminal = terminal
    }

    var elapsed: Duration { started.duration(to: .now) }

    /// Draws the state, ten times a second at most.
    ///
    /// - Parameters:
    ///   - documents: Documents, or whatever is counted, so far.
    ///   - fraction: How much of the input is read, 0 to 1, or nil when its size is not known.
    func update(documents: Int, fraction: Double?) {
        guard terminal.isInteractive else { return }
        let now = ContinuousClock.now
        if let drawn, drawn.duration(to: now) < .milliseconds(100) { return }
        drawn = now
        isVisible = true
        let line = ProgressLine.text(
            label: label, counted: counted, documents: documents, fraction: fraction, elapsed: elapsed,
            width: terminal.width ?? 80)
        write("\r\u{1B}[2K\(line)")
    }

    /// Takes the line away, so that other lines can be printed.
    func clear() {
        guard isVisible else { return }
        isVisible = false
        drawn = nil
        write("\r\u{1B}[2K")
    }

    /// The line as it is drawn, no longer than the terminal is wide.
    static func text(
        label: String, counted: String? = "document", documents: Int, fraction: Double?, elapsed: Duration, width: Int
    ) -> String {
        var tail = counted.map { Numbers.count(documents, $0) } ?? ""
        if counted != nil, elapsed > .milliseconds(50) { tail += "  \(Numbers.perSecond(documents, elapsed))" }
        var head = "  \(TextTable.printable(label))  "
        if let fraction {
            let percent = "\(Int(min(max(fraction, 0), 1) * 100))%"
            let padding = String(repeating: " ", count: 4 - percent.count)
            let room = width - DisplayWidth.of(head) - 4 - 4 - DisplayWidth.of(tail) - 1
            if room >= 8 { head += bar(fraction, width: min(room, 32)) + " " }
            head += "\(padding)\(percent)  "
        }
        return TextTable.truncated(head + tail, width: max(1, width - 1))
    }

    /// A bar that fills from left to right.
    static func bar(_ fraction: Double, width: Int) -> String {
        let filled = Int((Double(width) * min(max(fraction, 0), 1)).rounded(.down))
        return String(repeating: "━", count: filled) + String(repeating: "┈", count: width - filled)
    }

    private func write(_ text: String) {
        let writer = OutputWriter(descriptor: STDERR_FILENO)
        try? writer.write(text)
        try? writer.flush()
    }
}
