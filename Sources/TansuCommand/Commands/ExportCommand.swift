import ArgumentParser
import Foundation
import Tansu
import TansuBSON

struct ExportCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Exports a collection's documents as JSON, CSV, TSV or Markdown.",
        discussion: """
            Other programs read what this command writes; `tansu dump` is for moving collections to another database. The \
            documents go to standard output unless --output names a new file, which gets its name when it is complete, and \
            which is compressed if it ends with .gz or .zst. The documents are those of one snapshot.

            A table has a column for each field, and for those of nested documents, such as address.city; the documents \
            are read twice, first for the names of the columns. Arrays and values that have no other text are JSON in \
            their cell. Spreadsheets take text that begins with =, +, - or @ for a formula: --spreadsheet puts an \
            apostrophe before it, and a byte order mark at the beginning.

            EXAMPLES:
              tansu export people.tansu people > copy.ndjson
              tansu export people.tansu people --fields name,age -o people.csv
              tansu export people.tansu people --sort -age --format markdown
              tansu export people.tansu people --canonical -o exact.json.gz
            """
    )

    @OptionGroup var target: CollectionArgument
    @Option(
        help: ArgumentHelp(
            "\"ndjson\" (one object per line), \"json\" (one array), \"csv\", \"tsv\" or \"markdown\". The default is that "
                + "of the output's extension, otherwise ndjson.", valueName: "format"))
    var format: ExportFormat?
    @Option(help: ArgumentHelp("Export only the documents that match.", valueName: "query"))
    var query = "{}"
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Export only these fields, in this order: \"name,age\", all except some: \"-tags\", or a JSON object.",
            valueName: "fields"))
    var fields: String?
    @OptionGroup var order: OrderOption
    @OptionGroup var range: RangeOptions
    @Option(
        name: [.short, .customLong("output")], help: ArgumentHelp("The new file.", valueName: "file"),
        completion: .file())
    var outputFile: String?
    @Flag(help: "Write canonical extended JSON, which preserves the types of numbers.") var canonical = false
    @Flag(help: "Write tables for spreadsheets, which are not to take text for formulas.") var spreadsheet = false
    @OptionGroup var output: OutputOptions

    private var resolvedFormat: ExportFormat { format ?? outputFile.flatMap { ExportFormat(file: $0) } ?? .ndjson }

    func validate() throws {
        if let outputFile { try checkPath(outputFile, of: "output") }
        if canonical, resolvedFormat.isTable {
            throw ValidationError("\"--canonical\" is for \"--format json\" and \"--format ndjson\"")
        }
        if spreadsheet, ![.csv, .tsv].contains(resolvedFormat) {
            throw ValidationError("\"--spreadsheet\" is for \"--format csv\" and \"--format tsv\"")
        }
    }

    func execute() throws -> CommandExitCode {
        let query = try JSONArguments.document(query, name: "--query")
        var hints = BSONDocument()
        try range.add(to: &hints)
        try order.add(to: &hints)
        let fields = try fields.map { try JSONArguments.fields($0) }
        if let fields { hints["$fields"] = .document(fields) }
        if let outputFile { try checkNewFile(outputFile) }
        return try OpenDatabase.with(target, .read) { opened in
            try opened.checkCollection(target.collection)
            let result = try Interruption.handled {
                func write(_ writer: OutputWriter) throws -> ExportResult {
                    try exported(opened, query, hints, order: Self.columns(of: fields ?? [:]), to: writer)
                }
                if let outputFile { return try writingFile(outputFile, write) }
                let writer = OutputWriter()
                let result = try write(writer)
                try writer.flush()
                return result
            }
            if result.formulas > 0, !spreadsheet {
                writeError(
                    "tansu: Warning: \(NumberFormat.count(result.formulas, "value")) that a spreadsheet may take for a "
                        + "formula; \"--spreadsheet\" prevents that")
            }
            try report(result)
            return .success
        }
    }

    /// The names of the columns of a table with these fields; none when the fields only leave others out.
    private static func columns(of fields: BSONDocument) -> [String] {
        let included = fields.filter { $0.value != false && $0.value.intValue != 0 }.map(\.key)
        return included.isEmpty || fields.contains(key: "_id") ? included : ["_id"] + included
    }

    private func exported(
        _ opened: OpenDatabase, _ query: BSONDocument, _ hints: BSONDocument, order: [String], to writer: OutputWriter
    ) throws -> ExportResult {
        let progress = ProgressBar(label: target.collection)
        defer { progress.clear() }
        let isAll = query.isEmpty && range.skip == nil && range.max == nil
        return try opened.database.read { snapshot in
            let collection = try snapshot.collection(target.collection)
            let total = isAll ? try collection.count() : nil
            let passes = resolvedFormat.isTable ? 2 : 1
            var done = 0
            let source: DocumentTable.Source = { body in
                try collection.find(query, hints: hints).forEach { document in
                    done += 1
                    if done.isMultiple(of: 256) {
                        try Interruption.check()
                        progress.update(
                            documents: done / passes,
                            fraction: total.map { Double(done) / Double(max(1, $0 * passes)) })
                    }
                    try body(document)
                }
            }
            guard resolvedFormat.isTable else { return try writeJSON(source, to: writer) }
            var table = ExportTable(
                format: resolvedFormat, order: order, isForSpreadsheets: spreadsheet,
                isForTerminal: outputFile == nil && Terminal.output.isInteractive)
            return try table.write(source, to: writer)
        }
    }

    private func writeJSON(_ source: DocumentTable.Source, to writer: OutputWriter) throws -> ExportResult {
        var result = ExportResult()
        let isArray = resolvedFormat == .json
        try source { document in
            if isArray { try writer.write(result.documents == 0 ? "[\n" : ",\n") }
            try writer.write(bytes: document.extendedJSONBytes(canonical ? .canonical : .relaxed))
            if !isArray { try writer.write("\n") }
            result.documents += 1
        }
        if isArray { try writer.write(result.documents == 0 ? "[]\n" : "\n]\n") }
        return result
    }

    private func report(_ result: ExportResult) throws {
        var numbers: BSONDocument = ["documents": BSONValue(result.documents)]
        if resolvedFormat.isTable { numbers["columns"] = BSONValue(result.columns) }
        guard let outputFile else {
            if output.json { writeError(resultJSON(numbers)) }
            return
        }
        numbers["output"] = .string(outputFile)
        try printResult(
            numbers, text: "\(NumberFormat.count(result.documents, "document")) exported to \(outputFile)",
            asJSON: output.json, done: "\"\(outputFile)\" is complete")
    }
}

/// A format that documents are exported in.
enum ExportFormat: String, CaseIterable, ExpressibleByArgument {
    case ndjson, json, csv, tsv, markdown

    /// The format by the extension of a file name, without that of a compression; nil for other extensions.
    init?(file path: String) {
        var name = (path as NSString).lastPathComponent.asciiLowercased as NSString
        if ["gz", "zst"].contains(name.pathExtension) { name = name.deletingPathExtension as NSString }
        switch name.pathExtension {
        case "md": self = .markdown
        case "jsonl": self = .ndjson
        case let other: self.init(rawValue: other)
        }
    }

    var isTable: Bool { [.csv, .tsv, .markdown].contains(self) }
}

/// What was exported.
struct ExportResult {
    var documents = 0
    var columns = 0
    /// The number of texts that a spreadsheet would take for formulas.
    var formulas = 0
}
