import ArgumentParser
import Foundation
import TansuBSON

struct ImportCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports documents from NDJSON or a JSON array.",
        discussion: """
            The file holds one JSON object a line, or one JSON array of objects; it may be compressed with \
            gzip. The database is made if it is not there. A bad line is reported with its number, counted, \
            and left out; the import goes on, and exits with 1 at its end. Documents are committed in \
            batches, each of them whole or not at all whatever happens meanwhile.

            EXAMPLES:
              tansu import people.tansu people.ndjson
              tansu import people.tansu people.json.gz --collection crowd --id name
              cat people.ndjson | tansu import people.tansu - --collection crowd --drop
            """
    )

    @Argument(help: "The database's folder.", completion: .directory)
    var database: String
    @Argument(help: "The file, or - for standard input.", completion: .file())
    var file: String
    @Option(
        help: ArgumentHelp(
            "The collection; the file's name up to its first dot unless given.", valueName: "name"))
    var collection: String?
    @Option(
        help: ArgumentHelp(
            "Make this field's value the _id, so that importing again replaces instead of adding.",
            valueName: "field"))
    var id: String?
    @Flag(help: "Remove the collection first, with its indexes.") var drop = false
    @Flag(help: "Stop at the first bad line, with exit code 65; what stands before it is kept.")
    var strict = false
    @Option(help: ArgumentHelp("Documents a commit.", valueName: "n"))
    var batch = 1000
    @Flag(help: "Tell of every commit, a line each on standard error.") var verbose = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !(1...1_000_000).contains(batch) {
            throw ValidationError("--batch takes 1 to 1000000, not \(batch).")
        }
        if collection == nil, FileNames.collection(forFile: file) == nil {
            throw ValidationError("The file's name gives no collection: name one with --collection.")
        }
    }

    /// Bad documents that an answer in JSON lists; the others are only counted.
    private static let listedBadLines = 1000

    func execute() throws -> Outcome {
        let name = collection ?? FileNames.collection(forFile: file) ?? ""
        // The file comes first: a slip in its name must not cost a collection or make a database.
        let reader = RecordReader(try openByteSource(path: file))
        return try Store.with(database, .create) { store in
            if drop { try store.database.removeCollection(name) }
            var settings = ImportJob.Settings()
            settings.batchSize = batch
            settings.idField = id
            settings.isStrict = strict
            let job = ImportJob(database: store.database, collection: name, settings: settings)
            let label = file == "-" ? "standard input" : (file as NSString).lastPathComponent
            let progress = ProgressLine(label: label)
            var listed: [BSONValue] = []
            job.onProgress = { progress.update(documents: $0, fraction: $1) }
            job.onCommit = { line in
                if verbose {
                    progress.clear()
                    writeError("committed \(job.imported) documents, up to line \(line)")
                }
            }
            job.onBad = { record in
                if output.json {
                    guard listed.count < Self.listedBadLines else { return }
                    listed.append(["line": BSONValue(record.line), "message": .string(record.message)])
                } else {
                    progress.clear()
                    writeError("\(TextTable.printable(label)):\(record.line): \(record.message)")
                }
            }
            defer { progress.clear() }
            try job.run(reader)
            progress.clear()
            try printSummary(job, collection: name, elapsed: progress.elapsed, badLines: listed)
            return job.bad == 0 ? .success : .incomplete
        }
    }

    private func printSummary(
        _ job: ImportJob, collection: String, elapsed: Duration, badLines: [BSONValue]
    ) throws {
        let bad = job.bad == 0 ? "" : ", \(Numbers.count(job.bad, "bad line")) left out"
        let count = Numbers.count(job.imported, "document")
        try printAnswer(
            [
                "collection": .string(collection), "imported": BSONValue(job.imported),
                "bad": BSONValue(job.bad), "badLines": BSONValue(badLines),
            ],
            text: "\(count) imported into \(collection) in \(Numbers.duration(elapsed))\(bad)",
            asJSON: output.json)
    }
}
