import ArgumentParser
import TansuBSON

struct StatsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Prints a database's figures.",
        discussion: """
            EXAMPLE:
              tansu stats people.tansu
            """
    )

    @OptionGroup var target: DatabaseArgument
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        try Store.with(target.database, .read) { store in
            let stats = try store.database.stats()
            if output.json {
                try printAnswer(["stats": .document(stats)], text: "", asJSON: true)
            } else {
                try printLine(StatsText.lines(stats, terminal: .output).joined(separator: "\n"))
            }
            return .success
        }
    }
}
