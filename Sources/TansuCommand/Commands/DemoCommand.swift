import ArgumentParser
import Tansu
import TansuBSON

struct DemoCommand: Subcommand, DatabaseTarget {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Demonstrates the database with 34,006 cities.",
        discussion: """
            The demo creates a database, imports the cities, creates a compound index, runs a query, prints its \
            result and its plan, and suggests next commands. It keeps the database. Another run drops the \
            collection of the earlier run. It drops nothing when that collection has \
            a document that the demo did not save, or that was changed since.

            The cities are GeoNames' (geonames.org), CC BY 4.0.

            EXAMPLES:
              tansu demo
              tansu demo --path elsewhere.tansu
            """
    )

    @Option(help: ArgumentHelp("The folder of the database.", valueName: "folder"), completion: .directory)
    var path = "./tansu-demo.tansu"
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var output: OutputOptions

    var database: String { path }

    func validate() throws { try checkPath(path, of: "database") }

    func execute() throws -> CommandExitCode {
        let cities = try DemoData.path()
        return try OpenDatabase.with(self, .create) { opened in
            let demo = Demo(opened: opened)
            output.json ? try runAsJSON(demo, cities: cities) : try runAsText(demo, cities: cities)
            return .success
        }
    }

    private func runAsText(_ demo: Demo, cities: String) throws {
        let printer = DemoPrinter()
        let hasRunBefore = try demo.dropEarlierRun(cities)
        try printer.title(path: path)
        if hasRunBefore {
            try printer.note("The collection of an earlier run was dropped.")
        }

        try printer.step(1, "Import the cities, 1,000 documents per durable commit")
        let progress = ProgressBar(label: "cities.ndjson.gz")
        defer { progress.clear() }
        let (imported, importTime) = try demo.importCities(cities) { progress.update(documents: $0, fraction: $1) }
        progress.clear()
        let rate = NumberFormat.perSecond(imported, importTime)
        try printer.done("\(NumberFormat.count(imported, "document")) in \(NumberFormat.duration(importTime)), \(rate)")

        try printer.step(2, "Create a compound index")
        try printer.detail("\(DemoQuery.indexName) over \(DemoQuery.indexKeys)")
        try printer.done("built in \(NumberFormat.duration(try demo.createIndex()))")

        try printer.step(3, "Find the largest cities of Brazil")
        try printer.query(DemoQuery.query, hints: DemoQuery.hints)
        try printer.table(try demo.resultTable())

        try printer.step(4, "Explain the query plan")
        let plan = PlanFormatter(try demo.plan(), terminal: .output) { keys in
            OpenDatabase.indexCommand(path, DemoQuery.collection, keys: keys)
        }
        try printer.plan(plan.lines())

        let program = ProgramName.current()
        try printer.next(DemoQuery.nextCommands(program: program, path: path), path: path)
    }

    private func runAsJSON(_ demo: Demo, cities: String) throws {
        _ = try demo.dropEarlierRun(cities)
        let (imported, _) = try demo.importCities(cities) { _, _ in }
        _ = try demo.createIndex()
        let next = DemoQuery.nextCommands(program: ProgramName.current(), path: path)
        try printResult(
            [
                "path": .string(path), "imported": BSONValue(imported),
                "index": .string(DemoQuery.indexName),
                "documents": BSONValue(try demo.results().map { .document($0) }),
                "plan": .document(try demo.plan()),
                "next": BSONValue(next.map { .string($0.command) }),
            ],
            text: "", asJSON: true)
    }
}
