import ArgumentParser
import Tansu
import TansuBSON

struct DemoCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Shows the database at work on 34,006 cities.",
        discussion: """
            Makes a database, imports the cities, creates a compound index, asks a query, shows its answer \
            and the plan that served it, and says what to type next. The database stays. Run again, it \
            starts afresh; it replaces nothing that it did not make itself.

            The cities are GeoNames' (geonames.org), CC BY 4.0.

            EXAMPLES:
              tansu demo
              tansu demo --path elsewhere.tansu
            """
    )

    @Option(help: ArgumentHelp("The folder for the database.", valueName: "folder"), completion: .directory)
    var path = "./tansu-demo.tansu"
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let cities = try BundledCities.path()
        return try Store.with(path, .create) { store in
            output.json ? try runForPrograms(store, cities: cities) : try runForPeople(store, cities: cities)
            return .success
        }
    }

    private func runForPeople(_ store: Store, cities: String) throws {
        let printer = DemoPrinter()
        let state = try DemoStore.prepare(store)
        try printer.title(path: path)
        if state == .startsAfresh {
            try printer.note("The folder has the cities of an earlier run: they are removed, it starts afresh.")
        }

        try printer.step(1, "Import the cities, 1,000 a commit, each safe against power loss")
        let demo = Demo(store: store)
        let progress = ProgressLine(label: "cities.ndjson.gz")
        defer { progress.clear() }
        let (imported, importTime) = try demo.importCities(cities) { progress.update(documents: $0, fraction: $1) }
        progress.clear()
        let rate = Numbers.perSecond(imported, importTime)
        try printer.done("\(Numbers.count(imported, "document")) in \(Numbers.duration(importTime)), \(rate)")

        try printer.step(2, "Create a compound index")
        try printer.detail("\(DemoQuery.indexName) over \(DemoQuery.indexKeys)")
        try printer.done("built in \(Numbers.duration(try demo.createIndex()))")

        try printer.step(3, "Ask for the largest cities of Brazil")
        try printer.question(DemoQuery.query, hints: DemoQuery.hints)
        try printer.table(try demo.answerTable())

        try printer.step(4, "How it was answered")
        let plan = PlanText(try demo.plan(), terminal: .output) { keys in
            Store.indexCommand(path, DemoQuery.collection, keys: keys)
        }
        try printer.plan(plan.lines())

        let program = ProgramName.current()
        try printer.next(DemoQuery.nextCommands(program: program, path: path), path: path)
    }

    private func runForPrograms(_ store: Store, cities: String) throws {
        _ = try DemoStore.prepare(store)
        let demo = Demo(store: store)
        let (imported, _) = try demo.importCities(cities) { _, _ in }
        _ = try demo.createIndex()
        let next = DemoQuery.nextCommands(program: ProgramName.current(), path: path)
        try printAnswer(
            [
                "path": .string(path), "imported": BSONValue(imported),
                "index": .string(DemoQuery.indexName),
                "documents": BSONValue(try demo.answer().map { .document($0) }),
                "plan": .document(try demo.plan()),
                "next": BSONValue(next.map { .string($0.command) }),
            ],
            text: "", asJSON: true)
    }
}
