import ArgumentParser
import Tansu
import TansuBSON

/// The command `tansu`, which contains all subcommands.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tansu",
        abstract: "Queries, changes and maintains Tansu databases.",
        discussion: """
            Tansu is an embedded JSON document database. A database is a folder with collections of documents. \
            Queries, hints and documents are JSON. `tansu demo` demonstrates the commands in a few seconds.

            Results go to standard output, and errors go to standard error. With --json a result is one JSON \
            object, and an error is an object {"ok": false, "error": {…}}. Commands that only read work on \
            a database that another process writes; --wait says how long others wait for it. A command whose changes \
            are committed succeeds, with a warning if the checkpoint at its end fails, as on a full disk.

            EXIT CODES:
            \(CommandExitCode.helpText)
            """,
        version: VersionText.text,
        subcommands: [
            DemoCommand.self, ImportCommand.self, ExportCommand.self, FindCommand.self, CountCommand.self,
            GetCommand.self,
            DistinctCommand.self, AggregateCommand.self, SaveCommand.self, UpdateCommand.self,
            RemoveCommand.self, IndexCommand.self, CollectionsCommand.self, StatsCommand.self,
            ExplainCommand.self, BackupCommand.self, RestoreCommand.self, DumpCommand.self,
            LoadCommand.self, VerifyCommand.self, RepairCommand.self, CompactCommand.self,
            EncryptCommand.self, DecryptCommand.self, RekeyCommand.self, SearchCommand.self, CompleteCommand.self,
            SuggestCommand.self, AnalyzeCommand.self, ShellCommand.self, ExecCommand.self, WatchCommand.self,
            SchemaCommand.self, DiffCommand.self, CopyCommand.self, BenchCommand.self, InspectCommand.self,
            ServeCommand.self,
            ReplicateCommand.self,
        ]
    )
}

// MARK: - Running

extension RootCommand {
    /// Runs the command line. An error of its usage is JSON with --json, as any other error.
    static func runCommandLine() {
        let words = Array(CommandLine.arguments.dropFirst())
        let isJSON = words.prefix { $0 != "--" }.contains { $0.hasPrefix("--json") }
        do {
            try checkBytes()
            // The parser shows the help of all for a subcommand that does not exist.
            if words.first == "help", let unknown = Suggestion(for: Array(words.dropFirst()), in: self) {
                throw CommandError(code: "USAGE", message: unknown.message, remedy: unknown.remedy)
            }
            var command = try parseAsRoot(ArgumentWords.prepared(words))
            try command.run()
        } catch let error as CommandError {
            error.report(asJSON: isJSON)
            exit(withError: ExitCode(error.status.rawValue))
        } catch {
            // An exit code comes from a command that has reported its error.
            if error is ExitCode { exit(withError: error) }
            guard exitCode(for: error) == .validationFailure else { finish(with: error, asJSON: isJSON) }
            let suggestion = Suggestion(for: words, in: self)
            let message = suggestion?.message ?? firstLine(message(for: error))
            let isValue = message.hasPrefix("Missing value for")
            let remedy = suggestion?.remedy ?? Suggestion.minus(in: words, isValue: isValue)
            if isJSON {
                CommandError(code: "USAGE", message: message, remedy: remedy ?? "").report(asJSON: true)
            } else {
                var lines = fullMessage(for: error).split(separator: "\n", omittingEmptySubsequences: false)
                if let remedy { lines[0] = Substring(TextTable.printable("Error: \(message); \(remedy)")) }
                writeError(lines.joined(separator: "\n"))
            }
            exit(withError: ExitCode.validationFailure)
        }
    }

    /// Prints the help, or what else the parser answers itself.
    private static func finish(with answer: any Error, asJSON: Bool) -> Never {
        guard exitCode(for: answer) == .success else { exit(withError: answer) }
        do {
            let text = fullMessage(for: answer)
            if !text.isEmpty { try printLine(text) }
        } catch {
            let failure = CommandError(error)
            failure.report(asJSON: asJSON)
            exit(withError: ExitCode(failure.status.rawValue))
        }
        exit(withError: ExitCode.success)
    }

    /// - Throws: `CommandError` for a word that is no UTF-8: Swift would replace its bytes, and another file would be meant.
    private static func checkBytes() throws {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = CommandLine.unsafeArgv[index], String(validatingCString: word) == nil else { continue }
            throw CommandError(
                code: "USAGE", message: "Argument \(index) \"\(String(cString: word))\" is not valid UTF-8",
                remedy: "rename what it names, or give a document on standard input")
        }
    }

    private static func firstLine(_ text: String) -> String {
        String(text.prefix { $0 != "\n" })
    }
}

// MARK: - Subcommand

/// A subcommand whose `execute()` returns the exit status of the process.
protocol Subcommand: ParsableCommand {
    var output: OutputOptions { get }

    /// Executes the command.
    /// - Returns: The exit status.
    /// - Throws: Any error. It is converted to a `CommandError` and reported.
    func execute() throws -> CommandExitCode
}

extension Subcommand {
    mutating func run() throws {
        let status: CommandExitCode
        do {
            status = try execute()
        } catch let error as ValidationError {
            // The argument parser reports it together with the usage.
            throw error
        } catch {
            let failure = CommandError(error)
            failure.report(asJSON: output.json)
            throw ExitCode(failure.status.rawValue)
        }
        if status != .success { throw ExitCode(status.rawValue) }
    }
}
