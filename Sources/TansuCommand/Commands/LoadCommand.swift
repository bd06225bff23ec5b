import ArgumentParser
import Tansu
import TansuBSON

struct LoadCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Reads what `tansu dump` wrote into a database.",
        discussion: """
            The text comes from a file or from standard input, and may be compressed with gzip. The \
            database is made if it is not there. A text of plain JSON objects, one a line, needs \
            --collection. The first bad line ends the work; documents that are committed by then stay, \
            unless --atomic is given.

            EXAMPLES:
              tansu load copy.tansu people.dump
              tansu dump people.tansu | tansu load other.tansu
              tansu load copy.tansu people.dump --mode save
            """
    )

    @Argument(help: "The database's folder.", completion: .directory)
    var database: String
    @Argument(help: "The file, or - for standard input.", completion: .file())
    var file: String = "-"
    @Option(help: ArgumentHelp("Where plain documents go.", valueName: "name"))
    var collection: String?
    @Option(
        help: ArgumentHelp(
            "Documents whose _id is taken: \"insert\" refuses them, \"save\" replaces, \"skip\" leaves them out.",
            valueName: "mode"))
    var mode: Database.LoadOptions.Mode = .insert
    @Flag(help: "Load all or nothing, as one commit.") var atomic = false
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        // The file comes first: a slip in its name must not make a database.
        let source = try openByteSource(path: file)
        let options = Database.LoadOptions(collection: collection, mode: mode, atomic: atomic)
        return try Store.with(database, .create) { store in
            let label = file == "-" ? "standard input" : file
            let report = try ProgressLine.telling(label: label, counted: "line") { progress in
                try store.database.load(options, from: { try source.chunk() }, progress: progress)
            }
            let skipped = report.skipped == 0 ? "" : ", \(Numbers.grouped(report.skipped)) left out"
            try printAnswer(
                [
                    "collections": BSONValue(report.collections), "documents": BSONValue(report.documents),
                    "skipped": BSONValue(report.skipped), "indexes": BSONValue(report.indexes),
                    "lines": BSONValue(report.lines),
                ],
                text: "\(Numbers.count(report.documents, "document")) loaded into "
                    + "\(Numbers.count(report.collections, "collection"))\(skipped)",
                asJSON: output.json)
            return .success
        }
    }
}

extension Database.LoadOptions.Mode: ExpressibleByArgument {}

extension ByteSource {
    /// The next bytes, none at the end.
    fileprivate func chunk() throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: 1 << 16) { memory, count in
            count = try read(into: UnsafeMutableRawBufferPointer(memory))
        }
    }
}
