import ArgumentParser
import Tansu
import TansuBSON

struct CompactCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Gives the room of removed documents back to the disk.",
        discussion: """
            EXAMPLE:
              tansu compact people.tansu
            """
    )

    @OptionGroup var target: DatabaseArgument
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        try Store.with(target.database, .write) { store in
            let report = try ProgressLine.telling(label: target.database) { progress in
                try store.database.compact(progress: progress)
            }
            try printAnswer(
                [
                    "bytesBefore": BSONValue(report.bytesBefore), "bytesAfter": BSONValue(report.bytesAfter),
                    "segments": BSONValue(report.segments), "records": BSONValue(report.records),
                ],
                text: "\(Numbers.bytes(Int64(report.bytesBefore))) before, "
                    + "\(Numbers.bytes(Int64(report.bytesAfter))) now",
                asJSON: output.json)
            return .success
        }
    }
}
