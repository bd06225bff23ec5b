import ArgumentParser
import Tansu
import TansuBSON

struct BackupCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Creates a backup of a snapshot of a database.",
        discussion: """
            The backup is a database folder that can be opened directly or, with --file, one compressed file \
            for `tansu restore`. When the exit code is 0, the backup is complete and durable. A command \
            that fails or is interrupted leaves nothing under that name. That of an encrypted database is encrypted, and \
            opens with the key that the database has at that moment, unless there is a new one or --plain.

            EXAMPLES:
              tansu backup people.tansu saved.tansu
              tansu backup people.tansu people.backup --file
              tansu backup people.tansu safe.backup --file --new-passphrase-file new.txt
            """
    )

    @OptionGroup var target: DatabaseArgument
    @Argument(help: "The new folder or file of the backup.", completion: .file())
    var to: String
    @Flag(help: "Create one compressed file instead of a folder.") var file = false
    @Flag(help: "Do not encrypt it, though the database may be encrypted.") var plain = false
    @OptionGroup var encryption: EncryptionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(to, of: "backup")
        if plain, encryption.isGiven { throw ValidationError("\"--plain\" is for a backup without a key") }
    }

    func execute() throws -> CommandExitCode {
        // A new key that is none is found before the old one is asked for.
        let key = try encryption.key()
        return try OpenDatabase.with(target, .read) { opened in
            let report = try ProgressBar.showing(label: to) { progress in
                try creatingDestination(to) {
                    try opened.database.backup(
                        to: to, form: file ? .file : .folder,
                        encryption: plain ? .none : key.map { .key($0) } ?? .asDatabase, progress: progress)
                }
            }
            let bytes = Int64(report.bytes ?? 0)
            try printResult(
                [
                    "to": .string(to), "sequence": BSONValue(report.sequence),
                    "documents": BSONValue(report.documents), "bytes": BSONValue(Int(bytes)),
                ],
                text:
                    "\(NumberFormat.count(report.documents, "document")) saved in \(to) (\(NumberFormat.bytes(bytes)))",
                asJSON: output.json, done: "\"\(to)\" is complete")
            return .success
        }
    }
}
