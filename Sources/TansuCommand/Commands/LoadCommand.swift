import ArgumentParser
import Foundation
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
            line stops the command. A dump names its collections and their compression; --collection and --compression are \
            for plain JSON objects. Documents that are committed before the invalid line are kept, unless --atomic is given. Of a \
            collection that is replicated already, a dump with revisions is refused.

            EXAMPLES:
              tansu load copy.tansu people.dump
              tansu dump people.tansu | tansu load other.tansu
              tansu load copy.tansu people.dump --mode save
              tansu load copy.tansu safe.dump --mode skip --dump-passphrase-file new.txt
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
    @OptionGroup(title: "Key of the dump") var dumpKey: DumpKeyOptions
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(database, of: "database")
        try checkPath(file, of: "dump")
        if let collection, collection.isEmpty { throw ValidationError("The name of the collection is empty") }
        if compression.compression != nil, collection == nil {
            throw ValidationError("\"--compression\" needs \"--collection\"; a dump names the compression itself")
        }
    }

    func execute() throws -> CommandExitCode {
        if let collection { try CommandLimits.check(collection) }
        // Opening the file first ensures that a wrong name does not create a database.
        var known = try dumpKey.source.key()
        let key = {
            let key = try known ?? dumpKey.source.keyOrAsked(of: "Dump", file)
            known = key
            return key
        }
        var source = try openSource(key)
        let options = Database.LoadOptions(collection: collection, mode: mode, atomic: atomic)
        return try OpenDatabase.with(self, .create) { opened in
            let label = file == "-" ? "standard input" : file
            let replicated = try opened.replicatedCollections()
            let isOfOthers = collection.map { !replicated.contains(BytewiseText($0)) } ?? false
            if !replicated.isEmpty, !isOfOthers {
                var check = LoadCheck(collection: collection, replicated: replicated)
                source = try Interruption.handled { try readable(source, key, after: { try check.run($0, of: label) }) }
            }
            let lines = AccountLines(source, collection: collection)
            // Standard input is a dump or not by its first bytes.
            var first: [UInt8]? = try lines.next()
            if collection != nil, let bytes = first, FileKind(head: Array(bytes.prefix(FileKind.headCount))) == .dump {
                throw isDump
            }
            if let collection, let codec = compression.compression {
                try opened.database.ensureCollection(collection, compression: codec)
            }
            let report = try ProgressBar.showing(label: label, counted: "line") { progress in
                do {
                    return try opened.database.load(
                        options,
                        from: {
                            defer { first = nil }
                            return try first ?? lines.next()
                        }, progress: progress)
                } catch {
                    var failure = CommandError(error)
                    // The text of a line has one line.
                    if failure.message.hasPrefix("Line ") {
                        failure.message.replace(": Line 1, column ", with: ", column ", maxReplacements: 1)
                    }
                    switch failure.code {
                    case "EXISTS":
                        failure.message = String(failure.message.prefix { $0 != ";" })
                        failure.remedy = "\"--mode save\" replaces it, \"--mode skip\" keeps it"
                    case "INVALID_QUERY" where collection == nil:
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
            if collection == nil { try opened.reviseFromStart(except: replicated) }
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

    private var isDump: CommandError {
        CommandError(
            code: "USAGE", message: "The input is a dump, which names its collections", path: file,
            remedy: "leave out \"--collection\"; nothing was changed")
    }

    /// Reads a source to its end, and returns one with the same bytes: the file once more, or a copy of what cannot be read twice.
    private func readable(
        _ source: any ByteSource, _ key: @escaping () throws -> DatabaseKey, after body: (any ByteSource) throws -> Void
    ) throws -> any ByteSource {
        if file != "-", source.fraction != nil {
            try body(source)
            return try openByteSource(path: file, key: key)
        }
        if source is DecryptingSource {
            throw CommandError(
                code: "REPLICATED", message: "An encrypted dump is not decrypted to a temporary file", path: file,
                remedy: "the database has replicated collections: load the dump from a file", status: .invalidInput)
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tansu-\(UUID().uuidString)").path
        // What was opened is read after its name is gone.
        defer { try? FileManager.default.removeItem(atPath: path) }
        try source.copy(to: path)
        try body(try FileSource(path: path))
        return try FileSource(path: path)
    }

    private func openSource(_ key: @escaping () throws -> DatabaseKey) throws -> any ByteSource {
        // A pipe can be read only once, and a dump in a file says what it is.
        if file != "-" {
            let kind = FileKind(path: file)
            if kind == .dump, collection != nil { throw isDump }
            let isExpected = [.dump, .encrypted, .json, .other].contains(kind)
            if !isExpected, let error = kind.error(for: file, wanted: "a dump") { throw error }
        }
        let source = try openByteSource(path: file, key: key)
        if dumpKey.source.isGiven, !(source is DecryptingSource) {
            throw CommandError(
                code: "INVALID_ARGUMENT", message: "A key was given and the dump is not encrypted", path: file,
                remedy: "if that is what you expect, load it without a key; nothing was changed", status: .usage)
        }
        return source
    }
}

extension Database.LoadOptions.Mode: ExpressibleByArgument {}
