import Foundation
import TansuBSON

/// What an import tells the user: its progress, its commits, the documents that it rejected, and its result.
final class ImportLog {
    /// The maximum number of invalid documents that the JSON result lists, and that standard error has. All of them are
    /// counted.
    private static let listedLimit = 1000
    private static let shownLimit = 20

    private let label: String
    private let unit: String
    private let isVerbose: Bool
    private let asJSON: Bool
    private let rejects: RejectsFile?
    /// The progress bar.
    let progress: ProgressBar
    private var listed: [BSONValue] = []

    /// - Parameters:
    ///   - label: The name of the source.
    ///   - unit: What its positions count.
    ///   - rejects: The file for rejected documents.
    init(label: String, unit: String, isVerbose: Bool, asJSON: Bool, rejects: RejectsFile?) {
        (self.label, self.unit, self.isVerbose, self.asJSON) = (label, unit, isVerbose, asJSON)
        self.rejects = rejects
        progress = ProgressBar(label: label)
    }

    /// Follows an import until `finish(rejected:)`.
    func follow(_ job: ImportJob) {
        job.onProgress = { [progress] in progress.update(documents: $0, fraction: $1) }
        job.onCommit = { [unowned self, unowned job] place in
            guard isVerbose else { return }
            progress.clear()
            writeError("committed \(job.imported) documents, up to \(unit) \(place)")
        }
        job.onRejection = { [unowned self, unowned job] in try note($0, number: job.rejected) }
    }

    /// Notes a rejected document.
    /// - Parameter number: How many there were with it.
    func note(_ rejected: ImportJob.RejectedDocument, number: Int) throws {
        try rejects?.add(rejected, place: place(rejected.line))
        if asJSON {
            guard listed.count < Self.listedLimit else { return }
            listed.append([unit: BSONValue(rejected.line), "message": .string(rejected.message)])
        } else if number <= Self.shownLimit {
            progress.clear()
            writeError(TextTable.printable("\(place(rejected.line)): \(rejected.message)"))
        }
    }

    private func place(_ position: Int) -> String {
        unit == "line" ? "\(label):\(position)" : "\(label), \(unit) \(position)"
    }

    /// Ends the display of the progress.
    /// - Parameter rejected: The number of rejected documents.
    func finish(rejected: Int) {
        progress.clear()
        guard !asJSON, rejected > Self.shownLimit else { return }
        let more = NumberFormat.count(rejected - Self.shownLimit, "more invalid document")
        writeError("tansu: \(more) not shown")
    }

    /// The result as a line of text.
    func text(of job: ImportJob, collection: String) -> String {
        var text =
            "\(NumberFormat.count(job.imported, "document")) imported into \(TextTable.printable(collection)) in "
            + NumberFormat.duration(progress.elapsed)
        if job.replaced > 0 { text += ", \(NumberFormat.grouped(job.replaced)) of them replaced others" }
        if job.skipped > 0 { text += ", \(NumberFormat.count(job.skipped, "existing document")) skipped" }
        if job.rejected > 0 { text += ", \(NumberFormat.count(job.rejected, "invalid document")) skipped" }
        return text
    }

    /// Writes the file of rejected documents to its end.
    func close() throws { try rejects?.flush() }

    /// The result as an object.
    func result(of job: ImportJob, collection: String) -> BSONDocument {
        [
            "collection": .string(collection), "imported": BSONValue(job.imported),
            "replaced": BSONValue(job.replaced), "skipped": BSONValue(job.skipped),
            "bad": BSONValue(job.rejected), "badLines": BSONValue(listed),
        ]
    }

    /// Reads a source without importing it.
    func preview(_ source: any DocumentSource, id: String?, after: ImportPlace? = nil) throws -> ImportPreview {
        var preview = ImportPreview()
        defer { finish(rejected: preview.rejected) }
        try preview.read(source, id: id, after: after, progress: progress) { try note($0, number: $1) }
        return preview
    }

    /// Prints what an import would do.
    func print(_ preview: ImportPreview, collection: String) throws {
        var text = "\(NumberFormat.count(preview.documents, "document")) would be imported into \(collection)"
        if preview.rejected > 0 { text += ", \(NumberFormat.count(preview.rejected, "invalid document")) skipped" }
        try printLine(TextTable.printable(text))
        if !preview.rows.isEmpty { try printTable(preview.rows, columns: ["field", "types"]) }
        if preview.hasMore { writeError("tansu: There are more fields") }
    }

    /// What an import would do as an object.
    func result(of preview: ImportPreview, collection: String) -> BSONDocument {
        [
            "collection": .string(collection), "documents": BSONValue(preview.documents),
            "bad": BSONValue(preview.rejected), "badLines": BSONValue(listed),
            "fields": BSONValue(preview.fields.map { .document($0) }),
        ]
    }
}
