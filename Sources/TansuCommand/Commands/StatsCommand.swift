import ArgumentParser
import TansuBSON

struct StatsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Prints the statistics of a database.",
        discussion: """
            The statistics are those of the files: the newest commit, the sizes of the log and of the index file, \
            the bytes that a compaction can reclaim, and the collections with their indexes.

            With "--storage" it prints what takes the space: the bytes of each collection's documents and about those \
            of its indexes, and each segment of the log with its living and dead bytes.

            EXAMPLES:
              tansu stats people.tansu
              tansu stats people.tansu --storage
            """
    )

    @OptionGroup var target: DatabaseArgument
    @OptionGroup var output: OutputOptions

    @Flag(help: "Print what takes the space, by collection, index and segment of the log.")
    var storage = false

    func execute() throws -> CommandExitCode {
        try OpenDatabase.with(target, .read) { opened in
            if storage {
                let report = try opened.database.storage()
                let lines = StatisticsFormatter.storage(report, terminal: .output)
                try printResult(
                    ["storage": .document(report)], text: lines.joined(separator: "\n"), asJSON: output.json)
                return .success
            }
            let stats = StatisticsFormatter.stored(try opened.database.stats())
            if output.json {
                try printResult(["stats": .document(stats)], text: "", asJSON: true)
            } else {
                try printLine(StatisticsFormatter.lines(stats, terminal: .output).joined(separator: "\n"))
            }
            return .success
        }
    }
}
