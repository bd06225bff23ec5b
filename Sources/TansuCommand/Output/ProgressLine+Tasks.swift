import Tansu

extension ProgressLine {
    /// Shows how far `body` is while it goes on, and takes the line away at its end.
    ///
    /// - Parameter counted: What the task counts, such as "document"; nothing is counted when `nil`.
    static func telling<Result>(
        label: String, counted: String? = nil, _ body: ((Database.Progress) -> Void) throws -> Result
    ) throws -> Result {
        let line = ProgressLine(label: label, counted: counted)
        defer { line.clear() }
        return try body { line.update(documents: $0.done, fraction: $0.fraction) }
    }
}
