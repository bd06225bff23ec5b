import ArgumentParser
import Tansu
import TansuBSON

struct DumpCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Dumps collections as text, one JSON object per line.",
        discussion: """
            A dump keeps all value types and the index definitions, so that `tansu load` recreates the same \
            collections. The dump is a snapshot of the database. It goes to standard output unless --output \
            names a file. That file gets its name when the dump is complete. With --json the numbers of the dump go to \
            standard error when the dump itself goes to standard output. A dump is readable, also that of an encrypted \
            database, unless it is encrypted with a key of its own.

            EXAMPLES:
              tansu dump people.tansu > people.dump
              tansu dump people.tansu --collection people --output only-people.dump
              tansu dump people.tansu --new-passphrase-file new.txt > safe.dump
            """
    )

    @OptionGroup var target: DatabaseArgument
    @Option(help: ArgumentHelp("A collection to dump. It can be repeated. The default is all.", valueName: "name"))
    var collection: [String] = []
    @Option(help: ArgumentHelp("Dump only the documents of one collection that match.", valueName: "query"))
    var query: String?
    @Flag(help: "Omit the index definitions.") var noIndexes = false
    @Option(
        name: [.short, .customLong("output")], help: ArgumentHelp("The new file for the dump.", valueName: "file"),
        completion: .file())
    var outputFile: String?
    @OptionGroup var encryption: EncryptionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let outputFile { try checkPath(outputFile, of: "dump") }
        if query != nil, collection.count != 1 {
            throw ValidationError("\"--query\" needs exactly one \"--collection\"")
        }
    }

    func execute() throws -> CommandExitCode {
        let options = Database.DumpOptions(
            collections: collection.isEmpty ? nil : collection,
            query: try query.map { try JSONArguments.document($0, name: "--query") }, indexes: !noIndexes)
        // A new key that is none is found before the old one is asked for.
        let key = try encryption.key()
        return try OpenDatabase.with(target, .read) { opened in
            for name in collection { try opened.checkCollection(name) }
            let label = target.database
            guard let file = outputFile else {
                let writer = OutputWriter()
                let report = try ProgressBar.showing(label: label, counted: "document") { progress in
                    try opened.database.dump(
                        options, key: key, into: { try writer.write(bytes: $0) }, progress: progress)
                }
                try writer.flush()
                if output.json { writeError(resultJSON(numbers(of: report))) }
                return .success
            }
            let report = try ProgressBar.showing(label: label, counted: "document") { progress in
                try creatingDestination(file) {
                    try opened.database.dump(to: file, options, key: key, progress: progress)
                }
            }
            var result: BSONDocument = ["output": .string(file)]
            for (key, value) in numbers(of: report) { result[key] = value }
            try printResult(
                result,
                text: "\(NumberFormat.count(report.documents, "document")) of "
                    + "\(NumberFormat.count(report.collections, "collection")) dumped to \(file)",
                asJSON: output.json, done: "\"\(file)\" is complete")
            return .success
        }
    }

    private func numbers(of report: Database.DumpReport) -> BSONDocument {
        [
            "collections": BSONValue(report.collections), "documents": BSONValue(report.documents),
            "indexes": BSONValue(report.indexes), "bytes": BSONValue(report.bytes),
        ]
    }
}
