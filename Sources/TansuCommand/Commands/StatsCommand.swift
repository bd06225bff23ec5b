import ArgumentParser
import TansuBSON

struct StatsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Prints the statistics of a database.",
        discussion: """
            The statistics are those of the files: the newest commit, the sizes of the log and of the index file, \
            the bytes that a compaction can reclaim, and the collections with their indexes.

            EXAMPLE:
              tansu stats people.tansu
            """
    )

    @OptionGroup var target: DatabaseArgument
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        try OpenDatabase.with(target, .read) { opened in
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
