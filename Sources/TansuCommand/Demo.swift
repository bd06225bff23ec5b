import Foundation
import Tansu
import TansuBSON

/// The steps of the demo.
struct Demo {
    let opened: OpenDatabase

    /// The field that becomes the _id: GeoNames' number of the city.
    static let idField = "geonameid"

    /// Imports the cities.
    /// - Returns: The number of documents and the duration.
    func importCities(
        _ path: String, progress: @escaping (_ documents: Int, _ fraction: Double?) -> Void
    ) throws -> (imported: Int, elapsed: Duration) {
        let started = ContinuousClock.now
        var settings = ImportJob.Settings()
        settings.idField = Demo.idField
        settings.isStrict = true
        let job = ImportJob(
            database: opened.database, collection: DemoQuery.collection, settings: settings)
        job.onProgress = progress
        let reader = DocumentReader(try openByteSource(path: path))
        try Interruption.handled { try job.run(reader) }
        return (job.imported, started.duration(to: .now))
    }

    /// Creates the index.
    /// - Returns: The duration.
    func createIndex() throws -> Duration {
        let started = ContinuousClock.now
        _ = try opened.createIndex(
            DemoQuery.indexName, on: DemoQuery.collection, keys: DemoQuery.indexKeys)
        return started.duration(to: .now)
    }

    /// The results of the query.
    func results() throws -> [BSONDocument] {
        try cities().find(DemoQuery.query, hints: DemoQuery.hints).all()
    }

    /// The results of the query as a table.
    func resultTable() throws -> TextTable {
        let documents = try results()
        let columns = documents.first?.keys ?? []
        var table = TextTable(headings: columns)
        table.rows = documents.map { document in
            columns.map { column in
                guard let value = document[column] else { return TextTable.Cell("") }
                guard let number = value.int64Value else { return TextTable.Cell(value) }
                return TextTable.Cell(NumberFormat.grouped(number), alignment: .right)
            }
        }
        return table
    }

    /// The plan of the query.
    func plan() throws -> BSONDocument {
        try cities().find(DemoQuery.query, hints: DemoQuery.hints).explain().document
    }

    private func cities() throws -> Database.Collection<BSONDocument> {
        try opened.database.collection(DemoQuery.collection)
    }
}

/// The bundled data set of `tansu demo`.
enum DemoData {
    static let count = 34_006
    static let attribution =
        "34,006 cities from GeoNames (geonames.org), CC BY 4.0"

    /// The path of the file.
    ///
    /// `Bundle.module` terminates the process when the resource folder is missing, for example after the program was
    /// copied elsewhere. This function throws an error instead.
    static func path(executable: String? = Bundle.main.executablePath) throws -> String {
        let executable = URL(fileURLWithPath: executable ?? CommandLine.arguments[0])
        let folders = [
            executable.deletingLastPathComponent(),
            executable.resolvingSymlinksInPath().deletingLastPathComponent(),
        ]
        for folder in folders {
            for suffix in ["resources", "bundle", "bundle/Contents/Resources"] {
                let file = folder.appendingPathComponent("tansu_TansuCommand.\(suffix)")
                    .appendingPathComponent("cities.ndjson.gz")
                if FileManager.default.isReadableFile(atPath: file.path) { return file.path }
            }
        }
        throw CommandError(
            code: "NO_INPUT", message: "The data of the demo is missing",
            path: "tansu_TansuCommand.resources/cities.ndjson.gz",
            remedy: "copy that folder from the build folder to the folder of the program", status: .noInput)
    }
}

/// The index, the query and the next commands of the demo.
enum DemoQuery {
    static let collection = "cities"
    static let indexName = "by_country_and_population"
    static let indexKeys: BSONDocument = ["countrycode": 1, "population": -1]
    static let query: BSONDocument = ["countrycode": "BR", "population": ["$gte": 1_000_000]]
    static let hints: BSONDocument = [
        "$orderby": ["population": -1],
        "$fields": ["name": 1, "population": 1, "timezone": 1, "_id": 0],
        "$max": 10,
    ]

    /// The suggested next commands with their purposes. Each can be run as printed.
    static func nextCommands(program: String, path: String) -> [(purpose: String, command: String)] {
        let target = "\(shellQuoted(path)) \(collection)"
        return [
            (
                "Find a city by any of its names, in any script",
                "\(program) find \(target) '{\"alternatenames\": \"東京\"}' "
                    + "--fields name,countrycode,population --table"
            ),
            (
                "Create an index for this query, and explain the new plan",
                "\(program) index create \(target) alternatenames"
            ),
            ("", "\(program) explain \(target) '{\"alternatenames\": \"東京\"}'"),
            (
                "Save a document, and print the statistics of the database",
                "\(program) save \(shellQuoted(path)) notes "
                    + "'{\"text\": \"Visit Tokyo\", \"done\": false}'"
            ),
            ("", "\(program) stats \(shellQuoted(path))"),
            ("List all commands", "\(program) --help"),
        ]
    }
}

/// The printer of the demo's steps. It flushes every line, so that the output shows the progress.
struct DemoPrinter {
    private let writer = OutputWriter()
    private let terminal: Terminal

    init(terminal: Terminal = .output) {
        self.terminal = terminal
    }

    func title(path: String) throws {
        try line()
        try line("  \(terminal.bold("Tansu")) is an embedded JSON document database.")
        try line()
        try labeledValues([
            ("Folder", path),
            ("Data", DemoData.attribution),
        ])
    }

    func note(_ text: String) throws {
        try line("  \(terminal.dim(text))")
    }

    /// Prints the heading of a step: "1  Import the cities".
    func step(_ number: Int, _ title: String) throws {
        try line()
        try line("  \(terminal.cyan(String(number)))  \(terminal.bold(title))")
    }

    /// Prints a line of a step.
    func detail(_ text: String) throws {
        try line("     \(text)")
    }

    /// Prints the result of a step.
    func done(_ text: String) throws {
        try line("     \(terminal.green("✓")) \(text)")
    }

    /// Prints a query and its hints, one hint per line, so that they fit into a narrow terminal.
    func query(_ query: BSONDocument, hints: BSONDocument) throws {
        try detail("query  \(query)")
        let texts = hints.map { "\(jsonText($0.key)):\($0.value)" }
        for (number, text) in texts.enumerated() {
            let start = number == 0 ? "hints  {" : "        "
            try detail(start + text + (number == texts.count - 1 ? "}" : ","))
        }
    }

    func table(_ table: TextTable) throws {
        try line()
        for row in table.lines(maximumWidth: terminal.width.map { $0 - 5 }, style: terminal) {
            try detail(row)
        }
    }

    func plan(_ lines: [String]) throws {
        for text in lines { try detail(text) }
    }

    func next(_ commands: [(purpose: String, command: String)], path: String) throws {
        try line()
        try line("  \(terminal.bold("Next commands"))")
        for (purpose, command) in commands {
            if !purpose.isEmpty {
                try line()
                try line("  \(terminal.dim("# " + purpose))")
            }
            try line("  \(command)")
        }
        try line()
        try line("  The database remains in \(path). Delete that folder when you no longer need it.")
        try line()
    }

    private func labeledValues(_ values: [(label: String, value: String)]) throws {
        for text in LabeledValues.lines(values, terminal: terminal) { try line("  \(text)") }
    }

    private func line(_ text: String = "") throws {
        try writer.writeLine(text)
        try writer.flush()
    }
}

// MARK: - Earlier run

extension Demo {
    /// Drops the collection that an earlier run of the demo created. It never drops documents of others.
    ///
    /// - Parameter data: The file with the cities.
    /// - Returns: Whether there was an earlier run.
    /// - Throws: `CommandError` when the collection has other documents. Nothing is changed then.
    func dropEarlierRun(_ data: String) throws -> Bool {
        guard try opened.database.collectionNames().contains(DemoQuery.collection) else { return false }
        let cities = try opened.database.collection(DemoQuery.collection)
        guard try cities.count() == countUnchanged(in: cities, data) else {
            throw CommandError(
                code: "EXISTS",
                message: "Collection \"\(DemoQuery.collection)\" has documents that the demo did not save",
                path: opened.path, remedy: "choose another folder with --path, nothing was changed",
                status: .cannotCreate)
        }
        try opened.database.dropCollection(DemoQuery.collection)
        return true
    }

    /// The number of documents of the collection that are as the demo saves them.
    private func countUnchanged(in cities: Database.Collection<BSONDocument>, _ data: String) throws -> Int {
        let reader = DocumentReader(try openByteSource(path: data))
        var count = 0
        while let raw = try reader.next() {
            guard case .success(let city) = reader.parse(raw), let id = city[Demo.idField] else { continue }
            if try cities.get(id) == city.withID(id) { count += 1 }
        }
        return count
    }
}
