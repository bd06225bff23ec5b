import Foundation

/// A question before something is removed that cannot be brought back.
enum Confirmation {
    /// Asks on a terminal. A script, whose input or errors are no terminal, is not asked.
    ///
    /// - Parameter yes: Whether the user has answered already.
    /// - Throws: `CommandError` when the answer is not yes.
    static func ask(_ question: String, yes: Bool) throws {
        guard !yes, isatty(STDIN_FILENO) == 1, Terminal.error.isInteractive else { return }
        let writer = OutputWriter(descriptor: STDERR_FILENO)
        try writer.write("\(TextTable.printable(question)) [y/N] ")
        try writer.flush()
        let answer = readLine()?.lowercased() ?? ""
        guard ["y", "yes"].contains(answer) else {
            throw CommandError(
                code: "NOT_CONFIRMED", message: "The answer was not yes",
                remedy: "nothing was changed; \"--yes\" answers in advance", status: .incomplete)
        }
    }
}
