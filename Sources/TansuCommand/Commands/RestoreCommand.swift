import ArgumentParser
import Tansu
import TansuBSON

struct RestoreCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Creates a database from a backup.",
        discussion: """
            The backup is a folder or a file that `tansu backup` created. The command verifies all checksums. \
            It creates no database when the backup is corrupt. An encrypted backup becomes an encrypted database with \
            the same key; nothing is decrypted to the disk.

            EXAMPLES:
              tansu restore people.backup restored.tansu
              tansu restore safe.backup safe.tansu --passphrase-file new.txt
            """
    )

    @Argument(help: "The backup's folder or file.", completion: .file())
    var from: String
    @Argument(help: "The folder of the new database. It must not exist.", completion: .directory)
    var to: String
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(from, of: "backup")
        try checkPath(to, of: "new database")
    }

    func execute() throws -> CommandExitCode {
        let kind = FileKind(path: from)
        let isExpected = [.backup, .encrypted, .database].contains(kind)
        if !isExpected, let error = kind.error(for: from, wanted: "a backup") { throw error }
        let given = try key.source.key()
        let report: Database.BackupReport
        do {
            report = try restore(given)
        } catch let error as CommandError where error.code == TansuError.Code.encrypted.description {
            report = try restore(key.source.keyOrAsked(of: "Backup", from))
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

    private func restore(_ key: DatabaseKey?) throws -> Database.BackupReport {
        try ProgressBar.showing(label: to) { progress in
            try creatingDestination(to) { try Database.restore(from: from, to: to, key: key, progress: progress) }
        }
    }
}
