import ArgumentParser
import Tansu
import TansuBSON

struct DumpCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Writes collections as text, one JSON object a line.",
        discussion: """
            Every type of value survives `tansu dump` and `tansu load`, and indexes do too. The text goes \
            to standard output unless --output names a file. It is the database as of one moment.

            EXAMPLES:
              tansu dump people.tansu > people.dump
              tansu dump people.tansu --collection people --output only-people.dump
            """
    )

    @OptionGroup var target: DatabaseArgument
    @Option(help: ArgumentHelp("A collection to write; may be repeated. All unless given.", valueName: "name"))
    var collection: [String] = []
    @Option(help: ArgumentHelp("Only documents that match, of one collection.", valueName: "query"))
    var query: String?
    @Flag(help: "Leave out the definitions of indexes.") var noIndexes = false
    @Option(
        name: [.short, .customLong("output")], help: ArgumentHelp("The new file to write to.", valueName: "file"),
        completion: .file())
    var outputFile: String?
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let options = Database.DumpOptions(
            collections: collection.isEmpty ? nil : collection,
            query: try query.map { try JSONArguments.document($0, name: "--query") }, indexes: !noIndexes)
        return try Store.with(target.database, .read) { store in
            let label = target.database
            guard let file = outputFile else {
                let writer = OutputWriter()
                try ProgressLine.telling(label: label, counted: "document") { progress in
                    _ = try store.database.dump(options, into: { try writer.write(bytes: $0) }, progress: progress)
                }
                try writer.flush()
                return .success
            }
            let report = try ProgressLine.telling(label: label, counted: "document") { progress in
                try creating(file) { try store.database.dump(to: file, options, progress: progress) }
            }
            try printAnswer(
                [
                    "output": .string(file), "collections": BSONValue(report.collections),
                    "documents": BSONValue(report.documents), "indexes": BSONValue(report.indexes),
                    "bytes": BSONValue(report.bytes),
                ],
                text: "\(Numbers.count(report.documents, "document")) of "
                    + "\(Numbers.count(report.collections, "collection")) written to \(file)",
                asJSON: output.json)
            return .success
        }
    }
}
