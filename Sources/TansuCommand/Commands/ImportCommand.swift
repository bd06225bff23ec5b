import ArgumentParser
import Foundation
import Tansu
import TansuBSON

struct ImportCommand: Subcommand, DatabaseTarget {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports documents from JSON, CSV or TSV.",
        discussion: """
            A JSON file has one object after another, each on one line or on several, or one array of objects; also \
            extended JSON of version 1 or 2. A CSV or TSV file has a header with the names of the fields; a name such \
            as address.city makes a nested document. Its values are text unless --infer-types or --dates says \
            otherwise, and an empty value is no field. The file can be compressed with gzip.

            The command creates the database if it does not exist. It skips invalid documents, reports them with \
            the numbers of their lines, and exits with 1 at the end. Documents are committed in batches. Each batch \
            is an atomic and durable transaction. Ctrl-C ends the import after the batch that was read. With --drop \
            the old collection is replaced at the end of the import, and is kept when the import fails. The new one has its \
            compression, references and timestamps; documents that refer to it are not changed by delete rules. A replicated collection \
            is not replaced.

            EXAMPLES:
              tansu import people.tansu people.ndjson
              tansu import people.tansu people.json.gz --collection crowd --id name
              cat people.ndjson | tansu import people.tansu - --collection crowd --drop --yes
              tansu import people.tansu towns.csv --infer-types --mode skip
              tansu import people.tansu towns.txt --delimiter ';' --encoding windows-1252
              tansu import people.tansu towns.txt --format csv --dates founded
              tansu import people.tansu people.ndjson --compression lz4
            """
    )

    @Argument(help: "The database's folder.", completion: .directory)
    var database: String
    @Argument(help: "The file, or - for standard input.", completion: .file())
    var file: String
    @Option(
        help: ArgumentHelp(
            "The collection. The default is the file's name up to its first dot.", valueName: "name"))
    var collection: String?
    @OptionGroup var input: InputOptions
    @Option(
        help: ArgumentHelp(
            "The field whose value becomes the _id of documents without one, so that another import replaces them. All must "
                + "have it.",
            valueName: "field"))
    var id: String?
    @Option(
        help: ArgumentHelp(
            "For an _id that exists already: \"insert\" rejects the document, \"replace\" replaces the old one, "
                + "\"skip\" keeps it.", valueName: "mode"))
    var mode = ImportJob.Mode.replace
    @Flag(help: "Replace the collection and its indexes by the documents of the file.") var drop = false
    @Flag(help: "Stop at the first invalid document with exit code 65. The documents before it are saved.")
    var strict = false
    @Option(help: ArgumentHelp("The number of documents per commit.", valueName: "n"))
    var batch = 1000
    @OptionGroup var compression: CompressionOption
    @Flag(help: "Report every commit on standard error.") var verbose = false
    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(database, of: "database")
        try checkPath(file, of: "file")
        if let collection, collection.isEmpty { throw ValidationError("The name of the collection is empty") }
        if !(1...1_000_000).contains(batch) {
            throw ValidationError("\"--batch\" must be between 1 and 1000000, not \(batch)")
        }
        if collection == nil, ImportJob.collectionName(forFile: file) == nil {
            throw ValidationError("The collection has no name; give one with \"--collection\"")
        }
    }

    func execute() throws -> CommandExitCode {
        let name = collection ?? ImportJob.collectionName(forFile: file) ?? ""
        try OwnedCollection.check(name)
        // Opening the file first ensures that a wrong file neither drops a collection nor creates a database.
        let reader = try input.reader(of: file)
        return try OpenDatabase.with(self, .create) { opened in
            if drop { try opened.rejectReplacing(name) }
            let replacing = drop ? try ReplacingImport(opened.database, of: name) : nil
            if replacing != nil {
                try Confirmation.ask("Replace collection \"\(name)\"?", yes: confirmation.yes || file == "-")
            }
            var settings = ImportJob.Settings(mode: mode, batchSize: batch, idField: id, isStrict: strict)
            settings.isStaged = replacing != nil
            settings.finalName = name
            settings.isReplicated = try opened.isReplicated(name)
            let target = replacing?.temporaryName ?? name
            let isNew = try replacing == nil && !opened.hasCollection(name)
            // A collection that is replaced keeps its options; its references it gets when it is complete.
            if let codec = compression.compression ?? replacing?.compression {
                try opened.database.ensureCollection(target, compression: codec)
            }
            if let timestamps = replacing?.timestamps {
                try opened.database.setTimestamps(timestamps, of: target)
            }
            let job = ImportJob(
                database: opened.database, collection: target, settings: settings)
            defer { if isNew, job.imported == 0 { _ = try? opened.database.dropCollection(name) } }
            return try Interruption.handled {
                try run(job, into: name) { try replacing?.run(job, reader) ?? job.run(reader) }
            }
        }
    }

    /// The maximum number of invalid documents that the JSON result lists, and that standard error has. All of them are
    /// counted.
    private static let listedLimit = 1000
    private static let shownLimit = 20

    /// Runs an import, and shows its progress and its result.
    private func run(_ job: ImportJob, into name: String, _ body: () throws -> Void) throws -> CommandExitCode {
        let label = file == "-" ? "standard input" : (file as NSString).lastPathComponent
        let progress = ProgressBar(label: label)
        var listed: [BSONValue] = []
        job.onProgress = { progress.update(documents: $0, fraction: $1) }
        job.onCommit = { line in
            if verbose {
                progress.clear()
                writeError("committed \(job.imported) documents, up to line \(line)")
            }
        }
        job.onRejection = { rejected in
            if output.json {
                guard listed.count < Self.listedLimit else { return }
                listed.append(["line": BSONValue(rejected.line), "message": .string(rejected.message)])
            } else if job.rejected <= Self.shownLimit {
                progress.clear()
                writeError("\(TextTable.printable(label)):\(rejected.line): \(rejected.message)")
            }
        }
        defer {
            progress.clear()
            if !output.json, job.rejected > Self.shownLimit {
                let more = NumberFormat.count(job.rejected - Self.shownLimit, "more invalid document")
                writeError("tansu: \(more) not shown")
            }
        }
        try body()
        progress.clear()
        if job.imported + job.skipped + job.rejected == 0 {
            writeError(TextTable.printable("tansu: Warning: There is no document in \(label)"))
        }
        try printSummary(job, collection: name, elapsed: progress.elapsed, badLines: listed)
        return job.rejected == 0 ? .success : .incomplete
    }

    private func printSummary(
        _ job: ImportJob, collection: String, elapsed: Duration, badLines: [BSONValue]
    ) throws {
        var text =
            "\(NumberFormat.count(job.imported, "document")) imported into \(collection) in "
            + NumberFormat.duration(elapsed)
        if job.replaced > 0 { text += ", \(NumberFormat.grouped(job.replaced)) of them replaced others" }
        if job.skipped > 0 { text += ", \(NumberFormat.count(job.skipped, "existing document")) skipped" }
        if job.rejected > 0 { text += ", \(NumberFormat.count(job.rejected, "invalid document")) skipped" }
        try printResult(
            [
                "collection": .string(collection), "imported": BSONValue(job.imported),
                "replaced": BSONValue(job.replaced), "skipped": BSONValue(job.skipped),
                "bad": BSONValue(job.rejected), "badLines": BSONValue(badLines),
            ],
            text: text, asJSON: output.json)
    }
}

extension ImportJob.Mode: ExpressibleByArgument {}
