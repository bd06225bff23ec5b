import Foundation
import Tansu
import TansuBSON

/// An import of documents into a collection, in batches of one commit each.
final class ImportJob {
    struct Settings {
        /// The number of documents per commit.
        var batchSize = 1000
        /// The size in bytes at which a batch is committed even if it has fewer documents.
        var batchBytes = 8 << 20
        /// The field whose value becomes the `_id`, if any.
        var idField: String?
        /// Whether the first rejected document stops the import.
        var isStrict = false
    }

    /// A document that is invalid or that the database rejected.
    struct RejectedDocument: Equatable {
        var line: Int
        var message: String
    }

    private let database: Database
    private let collectionName: String
    private let settings: Settings
    private var batch: [(line: Int, document: BSONDocument)] = []
    private var batchBytes = 0

    /// The number of committed documents.
    private(set) var imported = 0
    /// The number of rejected documents.
    private(set) var rejected = 0

    /// Called for each rejected document.
    var onRejection: (RejectedDocument) -> Void = { _ in }
    /// Called after each commit with the line on which its last document begins.
    var onCommit: (_ line: Int) -> Void = { _ in }
    /// Called regularly with the fraction of the input that was read, between 0 and 1.
    var onProgress: (_ documents: Int, _ fraction: Double?) -> Void = { _, _ in }

    init(database: Database, collection: String, settings: Settings) {
        self.database = database
        collectionName = collection
        self.settings = settings
    }

    /// The default collection of a file: the file's name up to its first dot, or nil when that is empty.
    static func collectionName(forFile path: String) -> String? {
        guard path != "-" else { return nil }
        let file = (path as NSString).lastPathComponent
        let name = file.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init)
        return name.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Imports all documents of a reader.
    /// - Throws: `CommandError` when a read or a commit fails, or for a rejected document if the import is strict.
    ///   Earlier commits are kept.
    func run(_ reader: DocumentReader) throws {
        do {
            while let raw = try reader.next() {
                switch reader.parse(raw) {
                case .success(let document): try add(document, line: raw.line)
                case .failure(let problem):
                    try report(RejectedDocument(line: raw.line, message: problem.message))
                }
                if (imported + batch.count).isMultiple(of: 256) {
                    onProgress(imported + batch.count, reader.fraction)
                }
            }
        } catch {
            // The documents before the error are saved.
            try commit()
            var failure = CommandError(error)
            if failure.remedy.isEmpty { failure.remedy = savedSummary }
            throw failure
        }
        try commit()
    }

    private func add(_ document: BSONDocument, line: Int) throws {
        var document = document
        if let field = settings.idField, document["_id"] == nil {
            guard let id = document[field] else {
                return try report(
                    RejectedDocument(line: line, message: "The document has no field \"\(field)\" for its _id"))
            }
            document = document.withID(id)
        }
        batch.append((line, document))
        batchBytes += document.bytes.count
        if batch.count >= settings.batchSize || batchBytes >= settings.batchBytes { try commit() }
    }

    private func report(_ document: RejectedDocument) throws {
        rejected += 1
        if settings.isStrict {
            // The documents before it are saved.
            try commit()
            throw CommandError(
                code: "BAD_LINE", message: document.message, path: "line \(document.line)",
                remedy: savedSummary, status: .invalidInput)
        }
        onRejection(document)
    }

    private var savedSummary: String {
        "\(NumberFormat.count(imported, "document")) before it \(imported == 1 ? "is" : "are") saved"
    }

    private func commit() throws {
        guard let last = batch.last else { return }
        let documents = batch
        batch.removeAll(keepingCapacity: true)
        batchBytes = 0
        do {
            try database.collection(collectionName).save(documents.map(\.document))
            imported += documents.count
        } catch let error as TansuError where error.isCausedByDocument {
            try saveOneByOne(documents)
        }
        onCommit(last.line)
    }

    /// Saves a batch that has an invalid document: one call per document, and one commit for the valid ones.
    private func saveOneByOne(_ documents: [(line: Int, document: BSONDocument)]) throws {
        var problems: [RejectedDocument] = []
        var saved = 0
        try database.write { transaction in
            problems = []
            saved = 0
            let collection = try transaction.collection(collectionName)
            for (line, document) in documents {
                do {
                    try collection.save(document)
                    saved += 1
                } catch let error as TansuError where error.isCausedByDocument {
                    let failure = CommandError(error)
                    problems.append(RejectedDocument(line: line, message: failure.message))
                    if settings.isStrict { break }
                }
            }
        }
        imported += saved
        for problem in problems { try report(problem) }
    }
}

extension TansuError {
    /// Whether one document causes the error, so that other documents can be saved.
    fileprivate var isCausedByDocument: Bool {
        [.invalidBSON, .invalidDocument, .invalidID, .tooLarge, .notUnique, .exists].contains(code)
    }
}
