import ArgumentParser
import Tansu

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
        version: "tansu \(Database.engineVersion)",
        subcommands: [
            DemoCommand.self, ImportCommand.self, FindCommand.self, CountCommand.self, GetCommand.self,
            DistinctCommand.self, AggregateCommand.self, SaveCommand.self, UpdateCommand.self,
            RemoveCommand.self, IndexCommand.self, CollectionsCommand.self, StatsCommand.self,
            ExplainCommand.self, BackupCommand.self, RestoreCommand.self, DumpCommand.self,
            LoadCommand.self, VerifyCommand.self, RepairCommand.self, CompactCommand.self,
            ServeCommand.self, ReplicateCommand.self,
        ]
    )
}
