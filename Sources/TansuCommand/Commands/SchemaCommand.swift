import ArgumentParser
import Tansu
import TansuBSON

struct SchemaCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Describes the documents of a collection: fields, types and values.",
        discussion: """
            The command reads a random sample of documents, or with --all every one. For each field, nested ones and the \
            items of arrays ("pets[].species") as well, it prints how many documents (or objects, or arrays) have it, its \
            types, about how many distinct values there are apart from objects and arrays ("~" before an estimate), the \
            least and the greatest number, \
            date or short text, and examples. With --json-schema it prints a JSON Schema that the documents of the sample \
            satisfy (docs/json-schema.md). The exit code is 1 when there is no document.

            EXAMPLES:
              tansu schema people.tansu people
              tansu schema people.tansu people --all --json-schema
            """
    )

    @OptionGroup var target: CollectionArgument
    @Option(help: ArgumentHelp("How many documents are read, at most; 1000 by default.", valueName: "n"))
    var sample: Int?
    @Flag(help: "Read all documents.") var all = false
    @Flag(help: "Print a JSON Schema.") var jsonSchema = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let sample, sample < 1 { throw ValidationError("\"--sample\" must be 1 or more, not \(sample)") }
        if sample != nil, all { throw ValidationError("\"--sample\" cannot be combined with \"--all\"") }
    }

    func execute() throws -> CommandExitCode {
        try OpenDatabase.with(target, .read) { opened in
            try opened.checkCollection(target.collection)
            let sample = try opened.schemaSample(of: target.collection, all ? nil : sample ?? 1000)
            if jsonSchema {
                let schema = sample.jsonSchema()
                try printResult(
                    ["schema": .document(schema)], text: schema.extendedJSON(pretty: true), asJSON: output.json)
            } else if output.json {
                try printResult(sample.document, text: "", asJSON: true)
            } else {
                for line in sample.text(.output) { try printLine(line) }
            }
            return sample.documents == 0 ? .incomplete : .success
        }
    }
}

extension OpenDatabase {
    /// Reads some documents of a collection, all when no number is given.
    func schemaSample(of collection: String, _ count: Int?) throws -> SchemaSample {
        var sample = SchemaSample()
        try Interruption.handled {
            try database.read { snapshot in
                let documents = try snapshot.collection(collection)
                let add = { (document: BSONDocument) in
                    try Interruption.check()
                    sample.add(document)
                }
                guard let count, try documents.count() > count else { return try documents.find().forEach(add) }
                let stage: BSONDocument = ["$sample": ["size": BSONValue(count)]]
                try documents.aggregate(Database.Pipeline(documents: [stage])).forEach(add)
            }
        }
        return sample
    }
}

extension SchemaSample {
    /// The sample as text: a table of the paths.
    func text(_ terminal: Terminal) -> [String] {
        var table = TextTable(headings: ["field", "in", "types", "distinct", "least", "greatest", "examples"])
        table.rows = lines().map { line in
            let share = line.total == 0 ? 0 : 100 * Double(line.node.count) / Double(line.total)
            let range = line.node.range
            return [
                TextTable.Cell(line.path), TextTable.Cell(Self.percent(share), alignment: .right),
                TextTable.Cell(line.node.typeNames.joined(separator: ", ")),
                TextTable.Cell(line.node.distinctText, alignment: .right),
                range.map { TextTable.Cell($0.least) } ?? TextTable.Cell(""),
                range.map { TextTable.Cell($0.most) } ?? TextTable.Cell(""),
                TextTable.Cell(line.node.examples.map(\.description).joined(separator: ", ")),
            ]
        }
        let head = "\(NumberFormat.count(documents, "document"))\(isCut ? ", with more fields than are shown" : "")"
        return [head] + (documents == 0 ? [] : table.lines(maximumWidth: terminal.width, style: terminal))
    }

    /// The sample as a document.
    var document: BSONDocument {
        let fields = lines().map { line -> BSONValue in
            var field: BSONDocument = [
                "path": .string(line.path), "count": BSONValue(line.node.count), "of": BSONValue(line.total),
                "types": .document(
                    BSONDocument(line.node.sortedTypes.map { ($0.key.description, BSONValue($0.value)) })),
            ]
            if !line.node.distinctText.isEmpty {
                field["distinct"] = BSONValue(line.node.distinct.estimate)
                field["distinctIsExact"] = .bool(line.node.distinct.isExact && line.node.hasOnlySimpleValues)
            }
            if let range = line.node.range { (field["least"], field["greatest"]) = (range.least, range.most) }
            if !line.node.examples.isEmpty { field["examples"] = BSONValue(line.node.examples) }
            return .document(field)
        }
        return ["documents": BSONValue(documents), "fields": BSONValue(fields), "isCut": .bool(isCut)]
    }

    /// 100 as "100 %", what is less but nearly all as "99.9 %".
    private static func percent(_ share: Double) -> String {
        let isWhole = share == share.rounded()
        return isWhole ? "\(Int(share)) %" : "\(NumberFormat.decimals(min(max(share, 0.1), 99.9), 1)) %"
    }
}

extension SchemaSample.Node {
    /// The types, the most frequent one first.
    var sortedTypes: [(key: BSONType, value: Int)] {
        types.sorted { ($1.value, $0.key.description) < ($0.value, $1.key.description) }
    }

    /// Whether all values are counted as distinct ones: objects and arrays are not.
    var hasOnlySimpleValues: Bool { types[.document] == nil && types[.array] == nil }

    var typeNames: [String] { sortedTypes.map(\.key.description) }

    /// How many distinct values there are; empty for objects and arrays alone.
    var distinctText: String {
        let number = distinct.estimate
        return number == 0 ? "" : (distinct.isExact ? "" : "~") + NumberFormat.grouped(number)
    }
}
