import ArgumentParser
import Tansu
import TansuBSON

struct VerifyCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks everything that a database stores.",
        discussion: """
            It reads the log, every document and every index, and compares indexes with documents. \
            Problems are listed on standard error, and the command then exits with 72. The database is \
            not changed; `tansu repair` salvages what can be read into a new one.

            EXAMPLE:
              tansu verify people.tansu
            """
    )

    @OptionGroup var target: DatabaseArgument
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        try Store.with(target.database, .read) { store in
            do {
                let report = try ProgressLine.telling(label: target.database) { progress in
                    try store.database.verify(progress: progress)
                }
                try printAnswer(
                    answer(report),
                    text: "All is well: \(Numbers.count(report.documents, "document")) and "
                        + "\(Numbers.count(report.entries, "index entry", "index entries")) checked",
                    asJSON: output.json)
                return .success
            } catch let error as TansuError {
                guard let report = error.verifyReport else { throw error }
                if output.json {
                    try printAnswer(answer(report), text: "", asJSON: true)
                } else {
                    ReportText.tell(report.problems, of: report.problemCount)
                    writeError(
                        "tansu: The database is damaged: \(Numbers.count(report.problemCount, "problem")), "
                            + "\(Numbers.count(report.damagedDocuments, "damaged document")).")
                }
                return .damaged
            }
        }
    }

    private func answer(_ report: Database.VerifyReport) -> BSONDocument {
        [
            "ok": .bool(report.problemCount == 0), "segments": BSONValue(report.segments),
            "frames": BSONValue(report.frames), "records": BSONValue(report.records),
            "documents": BSONValue(report.documents), "entries": BSONValue(report.entries),
            "damagedDocuments": BSONValue(report.damagedDocuments),
            "problems": ReportText.documents(report.problems), "problemCount": BSONValue(report.problemCount),
        ]
    }
}
