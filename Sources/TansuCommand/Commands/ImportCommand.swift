import ArgumentParser
import Foundation
import TansuBSON

struct ImportCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports documents from NDJSON or a JSON array.",
        discussion: """
            The file has one JSON object per line or one JSON array of objects. It can be compressed with gzip. \
            The command creates the database if it does not exist. It skips invalid lines, reports them with \
            their numbers, and exits with 1 at the end. Documents are committed in batches. Each batch is an \
            atomic and durable transaction.

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
            "The collection. The default is the file's name up to its first dot.", valueName: "name"))
    var collection: String?
    @Option(
        help: ArgumentHelp(
            "The field whose value becomes the _id, so that another import replaces the documents.",
            valueName: "field"))
    var id: String?
    @Flag(help: "Drop the collection and its indexes first.") var drop = false
    @Flag(help: "Stop at the first invalid line with exit code 65. The documents before it are saved.")
    var strict = false
    @Option(help: ArgumentHelp("The number of documents per commit.", valueName: "n"))
    var batch = 1000
    @Flag(help: "Report every commit on standard error.") var verbose = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !(1...1_000_000).contains(batch) {
            throw ValidationError("\"--batch\" must be between 1 and 1000000, not \(batch)")
        }
        if collection == nil, ImportJob.collectionName(forFile: file) == nil {
            throw ValidationError("The collection has no name; give one with \"--collection\"")
        }
    }

    /// The maximum number of invalid lines that the JSON result lists. All of them are counted.
    private static let listedLineLimit = 1000

    func execute() throws -> CommandExitCode {
        let name = collection ?? ImportJob.collectionName(forFile: file) ?? ""
        // Opening the file first ensures that a wrong name neither drops a collection nor creates a database.
        let reader = DocumentReader(try openByteSource(path: file))
        return try OpenDatabase.with(database, .create) { opened in
            if drop { try opened.database.dropCollection(name) }
            var settings = ImportJob.Settings()
            settings.batchSize = batch
            settings.idField = id
            settings.isStrict = strict
            let job = ImportJob(database: opened.database, collection: name, settings: settings)
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
                    guard listed.count < Self.listedLineLimit else { return }
                    listed.append(["line": BSONValue(rejected.line), "message": .string(rejected.message)])
                } else {
                    progress.clear()
                    writeError("\(TextTable.printable(label)):\(rejected.line): \(rejected.message)")
                }
            }
            defer { progress.clear() }
            try job.run(reader)
            progress.clear()
            try printSummary(job, collection: name, elapsed: progress.elapsed, badLines: listed)
            return job.rejected == 0 ? .success : .incomplete
        }
    }

    private func printSummary(
        _ job: ImportJob, collection: String, elapsed: Duration, badLines: [BSONValue]
    ) throws {
        let skipped = job.rejected == 0 ? "" : ", \(NumberFormat.count(job.rejected, "invalid line")) skipped"
        let count = NumberFormat.count(job.imported, "document")
        try printResult(
            [
                "collection": .string(collection), "imported": BSONValue(job.imported),
                "bad": BSONValue(job.rejected), "badLines": BSONValue(badLines),
            ],
            text: "\(count) imported into \(collection) in \(NumberFormat.duration(elapsed))\(skipped)",
            asJSON: output.json)
    }
}
