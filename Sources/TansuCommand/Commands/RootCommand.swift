import ArgumentParser
import Tansu

/// The program: `tansu SUBCOMMAND …`.
@main
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tansu",
        abstract: "Looks into Tansu databases and changes them.",
        discussion: """
            A database is a folder; it holds collections of JSON documents. Queries, hints and documents \
            are JSON; `tansu demo` shows all of it at work in a few seconds.

            Answers go to standard output, as one JSON object when --json is given. Mistakes go to \
            standard error, as an object {"ok": false, "error": {…}} when --json is given.

            EXIT CODES:
            \(Outcome.helpText)
            """,
        version: "tansu \(Database.engineVersion)",
        subcommands: [
            DemoCommand.self, ImportCommand.self, FindCommand.self, CountCommand.self, GetCommand.self,
            DistinctCommand.self, AggregateCommand.self, SaveCommand.self, UpdateCommand.self,
            RemoveCommand.self, IndexCommand.self, CollectionsCommand.self, StatsCommand.self,
            ExplainCommand.self, BackupCommand.self, RestoreCommand.self, DumpCommand.self,
            LoadCommand.self, VerifyCommand.self, RepairCommand.self, CompactCommand.self,
        ]
    )
}

/// A subcommand that does its work in `execute()` and ends with what that came to.
protocol Subcommand: ParsableCommand {
    var output: OutputOptions { get }

    /// Does the work.
    /// - Returns: How the process ends.
    /// - Throws: Any error; it is reported as `CommandFailure` says.
    func execute() throws -> Outcome
}

extension Subcommand {
    mutating func run() throws {
        let status: Outcome
        do {
            status = try execute()
        } catch let error as ValidationError {
            // The argument parser shows the usage with it.
            throw error
        } catch {
            let failure = CommandFailure(error)
            failure.report(asJSON: output.json)
            throw ExitCode(failure.status.rawValue)
        }
        if status != .success { throw ExitCode(status.rawValue) }
    }
}
