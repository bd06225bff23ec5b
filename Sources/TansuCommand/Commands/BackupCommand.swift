import ArgumentParser
import Tansu
import TansuBSON

struct BackupCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies a database to a new folder or file.",
        discussion: """
            The backup is a database folder that can be opened as it is or, with --file, one compressed \
            file for `tansu restore`. It is whole and on the disk when the command ends with 0; otherwise \
            nothing is left of it.

            EXAMPLES:
              tansu backup people.tansu saved.tansu
              tansu backup people.tansu people.backup --file
            """
    )

    @OptionGroup var target: DatabaseArgument
    @Argument(help: "The backup's folder or file, not there yet.", completion: .file())
    var to: String
    @Flag(help: "Make one compressed file instead of a folder.") var file = false
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        try Store.with(target.database, .read) { store in
            let report = try ProgressLine.telling(label: to) { progress in
                try creating(to) { try store.database.backup(to: to, form: file ? .file : .folder, progress: progress) }
            }
            let bytes = Int64(report.bytes ?? 0)
            try printAnswer(
                [
                    "to": .string(to), "sequence": BSONValue(report.sequence),
                    "documents": BSONValue(report.documents), "bytes": BSONValue(Int(bytes)),
                ],
                text: "\(Numbers.count(report.documents, "document")) saved in \(to) (\(Numbers.bytes(bytes)))",
                asJSON: output.json)
            return .success
        }
    }
}

struct RestoreCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Makes a new database out of a backup.",
        discussion: """
            The backup is a folder or a file that `tansu backup` made. All of it is checked; if it is \
            damaged, no database is made.

            EXAMPLE:
              tansu restore people.backup restored.tansu
            """
    )

    @Argument(help: "The backup's folder or file.", completion: .file())
    var from: String
    @Argument(help: "The new database's folder; nothing may be there yet.", completion: .directory)
    var to: String
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let report = try ProgressLine.telling(label: to) { progress in
            try creating(to) { try Database.restore(from: from, to: to, progress: progress) }
        }
        try printAnswer(
            [
                "to": .string(to), "sequence": BSONValue(report.sequence),
                "documents": BSONValue(report.documents),
            ],
            text: "\(Numbers.count(report.documents, "document")) restored to \(to)", asJSON: output.json)
        return .success
    }
}

/// Does what makes something new at a path: that the place is taken is a mistake of its own kind.
func creating<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as TansuError where error.code == .exists {
        var failure = CommandFailure(error)
        failure.path = path
        failure.remedy = "Choose another name; nothing was changed."
        failure.status = .cannotCreate
        throw failure
    }
}
