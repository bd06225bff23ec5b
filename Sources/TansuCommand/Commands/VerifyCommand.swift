import ArgumentParser
import Tansu
import TansuBSON

struct VerifyCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verifies the integrity of a database.",
        discussion: """
            The command verifies the checksums of the log, every document and every index, and compares the \
            indexes with the documents. It lists problems on standard error and exits with 72. It does not change \
            the database. `tansu repair` salvages the readable documents of a corrupt database.

            EXAMPLE:
              tansu verify people.tansu
            """
    )

    @OptionGroup var target: DatabaseArgument
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        try OpenDatabase.with(target, .read) { opened in
            do {
                let report = try ProgressBar.showing(label: target.database) { progress in
                    try opened.database.verify(progress: progress)
                }
                try printResult(
                    answer(report),
                    text: "No corruption found: \(NumberFormat.count(report.documents, "document")) and "
                        + "\(NumberFormat.count(report.entries, "index entry", "index entries")) verified",
                    asJSON: output.json)
                return .success
            } catch let error as TansuError {
                guard let report = error.verifyReport else { throw error }
                if output.json {
                    try printResult(answer(report), text: "", asJSON: true)
                } else {
                    for line in ProblemFormatter.lines(report.problems, of: report.problemCount) {
                        writeError("tansu: \(line)")
                    }
                    writeError(
                        "tansu: The database is corrupt: \(NumberFormat.count(report.problemCount, "problem")), "
                            + "\(NumberFormat.count(report.damagedDocuments, "corrupt document"))")
                }
                return .corrupt
            }
        }
    }

    private func answer(_ report: Database.VerifyReport) -> BSONDocument {
        [
            "ok": .bool(report.problemCount == 0), "segments": BSONValue(report.segments),
            "frames": BSONValue(report.frames), "records": BSONValue(report.records),
            "documents": BSONValue(report.documents), "entries": BSONValue(report.entries),
            "damagedDocuments": BSONValue(report.damagedDocuments),
            "problems": ProblemFormatter.documents(report.problems), "problemCount": BSONValue(report.problemCount),
        ]
    }
}
