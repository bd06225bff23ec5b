import ArgumentParser
import Tansu
import TansuBSON

struct RestoreCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Creates a database from a backup.",
        discussion: """
            The backup is a folder or a file that `tansu backup` created. The command verifies all checksums. \
            It creates no database when the backup is corrupt.

            EXAMPLE:
              tansu restore people.backup restored.tansu
            """
    )

    @Argument(help: "The backup's folder or file.", completion: .file())
    var from: String
    @Argument(help: "The folder of the new database. It must not exist.", completion: .directory)
    var to: String
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(from, of: "backup")
        try checkPath(to, of: "new database")
    }

    func execute() throws -> CommandExitCode {
        let kind = FileKind(path: from)
        let isExpected = [.backup, .database].contains(kind)
        if !isExpected, let error = kind.error(for: from, wanted: "a backup") { throw error }
        let report = try ProgressBar.showing(label: to) { progress in
            try creatingDestination(to) { try Database.restore(from: from, to: to, progress: progress) }
        }
        try printResult(
            [
                "to": .string(to), "sequence": BSONValue(report.sequence),
                "documents": BSONValue(report.documents),
            ],
            text: "\(NumberFormat.count(report.documents, "document")) restored to \(to)", asJSON: output.json,
            done: "\"\(to)\" is complete")
        return .success
    }
}
