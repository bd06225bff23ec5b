import ArgumentParser
import Tansu
import TansuBSON

struct CompactCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Compacts a database to reclaim disk space.",
        discussion: """
            Compaction reclaims the space of removed and replaced documents. It relocates live records and then \
            deletes the log segments that have only dead bytes.

            EXAMPLE:
              tansu compact people.tansu
            """
    )

    @OptionGroup var target: DatabaseArgument
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        try OpenDatabase.with(target, .write) { opened in
            let report = try ProgressBar.showing(label: target.database) { progress in
                try opened.database.compact(progress: progress)
            }
            try printResult(
                [
                    "bytesBefore": BSONValue(report.bytesBefore), "bytesAfter": BSONValue(report.bytesAfter),
                    "segments": BSONValue(report.segments), "records": BSONValue(report.records),
                ],
                text: "\(NumberFormat.bytes(Int64(report.bytesBefore))) before, "
                    + "\(NumberFormat.bytes(Int64(report.bytesAfter))) now",
                asJSON: output.json)
            return .success
        }
    }
}
