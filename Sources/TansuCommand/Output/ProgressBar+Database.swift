import Tansu

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
