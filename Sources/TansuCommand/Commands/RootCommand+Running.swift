import ArgumentParser

extension RootCommand {
    /// Runs the command line. An error of its usage is JSON with --json, as any other error.
    static func runCommandLine() {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            var command = try parseAsRoot(ArgumentWords.prepared(words))
            try command.run()
        } catch {
            // An exit code comes from a command that has reported its error.
            guard !(error is ExitCode), exitCode(for: error) == .validationFailure else { exit(withError: error) }
            let suggestion = Suggestion(for: words, in: self)
            let message = suggestion?.message ?? firstLine(message(for: error))
            if words.prefix(while: { $0 != "--" }).contains("--json") {
                CommandError(code: "USAGE", message: message, remedy: suggestion?.remedy ?? "").report(asJSON: true)
            } else {
                var lines = fullMessage(for: error).split(separator: "\n", omittingEmptySubsequences: false)
                if let suggestion { lines[0] = "Error: \(message); \(suggestion.remedy)" }
                writeError(lines.joined(separator: "\n"))
            }
            exit(withError: ExitCode.validationFailure)
        }
    }

    private static func firstLine(_ text: String) -> String {
        String(text.prefix { $0 != "\n" })
    }
}
