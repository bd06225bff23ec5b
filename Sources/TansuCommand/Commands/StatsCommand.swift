import ArgumentParser
import TansuBSON

struct StatsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Prints the statistics of a database.",
        discussion: """
            EXAMPLE:
              tansu stats people.tansu
            """
    )

    @OptionGroup var target: DatabaseArgument
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        try OpenDatabase.with(target.database, .read) { opened in
            let stats = try opened.database.stats()
            if output.json {
                try printResult(["stats": .document(stats)], text: "", asJSON: true)
            } else {
                try printLine(StatisticsFormatter.lines(stats, terminal: .output).joined(separator: "\n"))
            }
            return .success
        }
    }
}
