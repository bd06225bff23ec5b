import ArgumentParser
import Foundation
import Tansu
import TansuBSON

struct ImportCommand: Subcommand, DatabaseTarget {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports documents from JSON, CSV, TSV or another database.",
        discussion: """
            A JSON file has one object after another, each on one line or on several, or one array of objects; also \
            extended JSON of version 1 or 2. A CSV or TSV file has a header with the names of the fields; a name such \
            as address.city makes a nested document. Its values are text unless --infer-types or --dates says \
            otherwise, and an empty value is no field. The file can be compressed with gzip or zstd.

            --ejdb, --sqlite and --mongodump read all collections or tables of another database, with their indexes; \
            --collection and --table select one. docs/command-line.md says how types and keys are converted.

            The command creates the database if it does not exist. It skips invalid documents, reports them with \
            the numbers of their lines, and exits with 1 at the end; --rejects keeps them in a file that can be mended. \
            Documents are committed in batches. Each batch is an atomic and durable transaction. Ctrl-C ends the import \
            after the batch that was read, and --after goes on behind it. With --drop the old collection is replaced at \
            the end of the import, and is kept when the import fails. The new one has its compression, references and \
            timestamps; documents that refer to it are not changed by delete rules. A replicated collection is not replaced.

            EXAMPLES:
              tansu import people.tansu people.ndjson
              tansu import people.tansu people.json.gz --collection crowd --id name
              tansu import people.tansu - --collection crowd --drop --yes < people.ndjson
              tansu import people.tansu towns.csv --infer-types --mode skip
              tansu import people.tansu towns.txt --delimiter ';' --encoding windows-1252
              tansu import people.tansu towns.txt --format csv --dates founded
              tansu import people.tansu people.ndjson --compression lz4
              tansu import people.tansu towns.csv --dry-run
              tansu import people.tansu --ejdb old/addressbook
              tansu import people.tansu --sqlite shop.db --table orders
              tansu import people.tansu --mongodump dump/shop
            """
    )

    @Argument(help: "The database's folder.", completion: .directory)
    var database: String
    @Argument(help: "The file, or - for standard input.", completion: .file())
    var file: String?
    @Option(
        help: ArgumentHelp(
            "The collection. The default is the file's name up to its first dot.", valueName: "name"))
    var collection: String?
    @OptionGroup(title: "Other databases") var foreign: ForeignOptions
    @OptionGroup(title: "Format of the file") var input: InputOptions
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
    @Option(
        help: ArgumentHelp(
            "Go on after the document that begins on this line, which an interrupted import names; "
                + "3:2 is the second one on line 3.", valueName: "line"))
    var after: ImportPlace?
    @Option(
        help: ArgumentHelp(
            "A new file for the invalid documents, in the format of the input, each with its place and the reason.",
            valueName: "file"),
        completion: .file())
    var rejects: String?
    @Flag(help: "Only read the documents, and print how many there are and the types of their fields.")
    var dryRun = false
    @OptionGroup var compression: CompressionOption
    @Flag(help: "Report every commit on standard error.") var verbose = false
    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(database, of: "database")
        if let collection, collection.isEmpty { throw ValidationError("The name of the collection is empty") }
        if !(1...1_000_000).contains(batch) {
            throw ValidationError("\"--batch\" must be between 1 and 1000000, not \(batch)")
        }
        if after != nil, drop { throw ValidationError("\"--after\" cannot be combined with \"--drop\"") }
        if let rejects { try checkPath(rejects, of: "file of rejected documents") }
        guard let file else {
            guard foreign.isGiven else { throw ValidationError("Name a file, or - for standard input") }
            if id != nil || after != nil { throw ValidationError("\"--id\" and \"--after\" are for files") }
            return try input.rejectAny()
        }
        if foreign.isGiven { throw ValidationError("Name either a file or another database") }
        try checkPath(file, of: "file")
        if collection == nil, ImportJob.collectionName(forFile: file) == nil {
            throw ValidationError("The collection has no name; give one with \"--collection\"")
        }
    }

    func execute() throws -> CommandExitCode {
        if let foreign = try foreign.database(collection, wait: opening.timeout) { return try importDatabase(foreign) }
        let file = file ?? "-"
        let name = collection ?? ImportJob.collectionName(forFile: file) ?? ""
        try CommandLimits.check(name)
        // Opening the file first ensures that a wrong file neither drops a collection nor creates a database.
        let reader = try input.reader(of: file)
        if !output.json {
            reader.onGuess = {
                writeError("tansu: The values are separated by \($0); \"--delimiter\" names another character")
            }
        }
        reader.keepsText = rejects != nil
        let rejects = try rejects.map { try RejectsFile(path: $0) { reader.header } }
        let label = file == "-" ? "standard input" : (file as NSString).lastPathComponent
        let log = ImportLog(
            label: label, unit: reader.unit, isVerbose: verbose, asJSON: output.json, rejects: rejects)
        if dryRun {
            let preview = try Interruption.handled { try log.preview(reader, id: id, after: after) }
            try log.close()
            if output.json {
                try printResult(log.result(of: preview, collection: name), text: "", asJSON: true)
            } else {
                try log.print(preview, collection: name)
            }
            return preview.rejected == 0 ? .success : .incomplete
        }
        return try OpenDatabase.with(self, .create) { opened in
            if drop { try confirmReplacing([name], in: opened, isAnswered: file == "-") }
            let job = try Interruption.handled {
                try run(reader, into: name, compression.compression, log, opened)
            }
            if job.documents == 0 {
                let place = after.map { "after line \($0) of" } ?? "in"
                writeError(TextTable.printable("tansu: Warning: There is no document \(place) \(label)"))
            }
            try printResult(
                log.result(of: job, collection: name), text: log.text(of: job, collection: name), asJSON: output.json)
            return job.rejected == 0 ? .success : .incomplete
        }
    }

    /// Asks before collections are replaced.
    func confirmReplacing(_ names: [String], in opened: OpenDatabase, isAnswered: Bool) throws {
        let existing = try names.filter { try opened.hasCollection($0) }
        for name in existing { try opened.rejectReplacing(name) }
        guard !existing.isEmpty else { return }
        let list = existing.map { "\"\($0)\"" }.joined(separator: ", ")
        try Confirmation.ask(
            "Replace collection\(existing.count == 1 ? "" : "s") \(list)?", yes: confirmation.yes || isAnswered)
    }

    /// Imports the documents of a source into a collection, and shows the progress.
    /// - Returns: The import that was done.
    func run(
        _ source: any DocumentSource, into name: String, _ codec: Database.CollectionCompression?, _ log: ImportLog,
        _ opened: OpenDatabase
    ) throws -> ImportJob {
        let replacing = drop ? try ReplacingImport(opened.database, of: name) : nil
        var settings = ImportJob.Settings(mode: mode, batchSize: batch, idField: id, isStrict: strict)
        settings.isStaged = replacing != nil
        settings.after = after
        settings.finalName = name
        settings.isReplicated = try opened.isReplicated(name)
        let target = replacing?.temporaryName ?? name
        let isNew = try replacing == nil && !opened.hasCollection(name)
        // A collection that is replaced keeps its options; its references it gets when it is complete.
        if let codec = codec ?? replacing?.compression {
            try opened.database.ensureCollection(target, compression: codec)
        }
        if let timestamps = replacing?.timestamps {
            try opened.database.setTimestamps(timestamps, of: target)
        }
        let job = ImportJob(database: opened.database, collection: target, settings: settings)
        log.follow(job)
        defer {
            log.finish(rejected: job.rejected)
            // After an error the import says what it is.
            try? log.close()
            if isNew, job.imported == 0 { _ = try? opened.database.dropCollection(name) }
        }
        try replacing?.run(job, source) ?? job.run(source)
        try log.close()
        return job
    }
}

extension ImportJob.Mode: ExpressibleByArgument {}
