import ArgumentParser
import Tansu
import TansuBSON

struct LoadCommand: Subcommand, DatabaseTarget {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Loads a dump of `tansu dump` into a database.",
        discussion: """
            The dump is a file or standard input, and can be compressed with gzip. The command creates the \
            database if it does not exist. Plain JSON objects (extended JSON of version 1 or 2), one per line, need \
            --collection. The first invalid \
            line stops the command. A dump names the compression of its collections; --compression is for plain \
            JSON objects. Documents that are committed before it are kept, unless --atomic is given.

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
    @Option(help: ArgumentHelp("The collection for plain JSON objects.", valueName: "name"))
    var collection: String?
    @OptionGroup var compression: CompressionOption
    @Option(
        help: ArgumentHelp(
            "For an _id that exists already: \"insert\" fails, \"save\" replaces the document, \"skip\" keeps it.",
            valueName: "mode"))
    var mode: Database.LoadOptions.Mode = .insert
    @Flag(help: "Load everything in one transaction.") var atomic = false
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(database, of: "database")
        try checkPath(file, of: "dump")
        if compression.compression != nil, collection == nil {
            throw ValidationError("\"--compression\" needs \"--collection\"; a dump names the compression itself")
        }
    }

    func execute() throws -> CommandExitCode {
        // Opening the file first ensures that a wrong name does not create a database.
        let source = try openSource()
        let options = Database.LoadOptions(collection: collection, mode: mode, atomic: atomic)
        return try OpenDatabase.with(self, .create) { opened in
            if let collection, let codec = compression.compression {
                try opened.database.ensureCollection(collection, compression: codec)
            }
            let label = file == "-" ? "standard input" : file
            let report = try ProgressBar.showing(label: label, counted: "line") { progress in
                do {
                    return try opened.database.load(options, from: { try source.chunk() }, progress: progress)
                } catch {
                    var failure = CommandError(error)
                    switch failure.code {
                    case "EXISTS":
                        failure.message = String(failure.message.prefix { $0 != ";" })
                        failure.remedy = "\"--mode save\" replaces it, \"--mode skip\" keeps it"
                    case "INVALID_QUERY" where failure.path == "options.collection":
                        failure.message = "Plain JSON objects need a collection"
                        failure.path = label
                        failure.remedy = "name it with \"--collection\""
                    default: break
                    }
                    if failure.remedy.isEmpty {
                        failure.remedy = atomic ? "nothing was changed" : "what was committed before is kept"
                    }
                    throw failure
                }
            }
            let skipped = report.skipped == 0 ? "" : ", \(NumberFormat.grouped(report.skipped)) skipped"
            try printResult(
                [
                    "collections": BSONValue(report.collections), "documents": BSONValue(report.documents),
                    "skipped": BSONValue(report.skipped), "indexes": BSONValue(report.indexes),
                    "lines": BSONValue(report.lines),
                ],
                text: "\(NumberFormat.count(report.documents, "document")) loaded into "
                    + "\(NumberFormat.count(report.collections, "collection"))\(skipped)",
                asJSON: output.json)
            return .success
        }
    }

    private func openSource() throws -> any ByteSource {
        // A pipe can be read only once, and a dump in a file says what it is.
        if file != "-" {
            let kind = FileKind(path: file)
            let isExpected = [.dump, .json, .other].contains(kind)
            if !isExpected, let error = kind.error(for: file, wanted: "a dump") { throw error }
        }
        return try openByteSource(path: file)
    }
}

extension Database.LoadOptions.Mode: ExpressibleByArgument {}

extension ByteSource {
    /// The next bytes, or an empty array at the end.
    fileprivate func chunk() throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: 1 << 16) { memory, count in
            count = try read(into: UnsafeMutableRawBufferPointer(memory))
        }
    }
}
