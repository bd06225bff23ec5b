import Foundation
import Tansu
import TansuBSON

/// An import of documents into a collection, in batches of one commit each.
final class ImportJob {
    /// What happens to a document whose `_id` exists.
    enum Mode: String, CaseIterable, Sendable {
        /// It is rejected.
        case insert
        /// It replaces the one that is there.
        case replace
        /// It is skipped.
        case skip
    }

    struct Settings {
        var mode = Mode.replace
        /// The number of documents per commit.
        var batchSize = 1000
        /// The size in bytes at which a batch is committed even if it has fewer documents.
        var batchBytes = 8 << 20
        /// The field whose value becomes the `_id`, if any.
        var idField: String?
        /// Whether the first rejected document stops the import.
        var isStrict = false
        /// Whether an error discards everything, because the collection is not the final one.
        var isStaged = false
        /// The name of the final collection.
        var finalName: String?
        /// Whether the collection is replicated.
        var isReplicated = false
    }

    /// A document that is invalid or that the database rejected.
    struct RejectedDocument: Equatable {
        var line: Int
        var message: String
    }

    let database: Database
    private let collectionName: String
    private let settings: Settings
    private var batch: [(line: Int, document: BSONDocument)] = []
    private var batchBytes = 0

    /// The number of committed documents.
    private(set) var imported = 0
    /// The number of them that replaced a document with the same `_id`.
    private(set) var replaced = 0
    /// The number of documents that were skipped because their `_id` exists.
    private(set) var skipped = 0
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
    /// - Throws: `CommandError` when a read or a commit fails, when the user interrupts the import, or for a rejected
    ///   document if the import is strict. Earlier commits are kept.
    func run(_ reader: DocumentReader) throws {
        do {
            while let raw = try reader.next() {
                switch reader.parse(raw) {
                case .success(let document): try add(document, line: raw.line)
                case .failure(let problem):
                    try report(RejectedDocument(line: raw.line, message: problem.message))
                }
                if (imported + batch.count).isMultiple(of: 256) {
                    try Interruption.check()
                    onProgress(imported + batch.count, reader.fraction)
                }
            }
        } catch {
            // The documents before the error are saved.
            if !settings.isStaged { try commit() }
            var failure = CommandError(error)
            if failure.remedy.isEmpty { failure.remedy = savedSummary }
            throw failure
        }
        try commit()
    }

    private func add(_ document: BSONDocument, line: Int) throws {
        var document = document
        if let field = settings.idField {
            guard let id = document[field] ?? document[path: field] else {
                return try report(
                    RejectedDocument(line: line, message: "The document has no field \"\(field)\" for its _id"))
            }
            if document["_id"] == nil { document = document.withID(id) }
        }
        do {
            document = try OwnedCollection.stored(document, in: settings.finalName ?? collectionName)
            if settings.isReplicated { try OpenDatabase.checkReplicable(document, in: collectionName) }
        } catch let error as CommandError {
            return try report(RejectedDocument(line: line, message: error.message))
        }
        batch.append((line, document))
        batchBytes += document.bytes.count
        if batch.count >= settings.batchSize || batchBytes >= settings.batchBytes { try commit() }
    }

    private func report(_ document: RejectedDocument) throws {
        rejected += 1
        if settings.isStrict {
            // The documents before it are saved.
            if !settings.isStaged { try commit() }
            throw CommandError(
                code: "BAD_LINE", message: document.message, path: "line \(document.line)",
                remedy: savedSummary, status: .invalidInput)
        }
        onRejection(document)
    }

    private var savedSummary: String {
        if settings.isStaged { return "nothing was changed" }
        return "\(NumberFormat.count(imported, "document")) before it \(imported == 1 ? "is" : "are") saved"
    }

    private func commit() throws {
        guard let last = batch.last else { return }
        let documents = batch
        batch.removeAll(keepingCapacity: true)
        batchBytes = 0
        do {
            try saveTogether(documents.map(\.document))
        } catch let error as TansuError where error.isCausedByDocument {
            try saveOneByOne(documents)
        }
        onCommit(last.line)
    }

    /// Saves a batch with one call, in one commit.
    private func saveTogether(_ documents: [BSONDocument]) throws {
        var added = 0
        try database.write { transaction in
            let collection = try transaction.collection(collectionName)
            let before = try collection.count()
            if settings.mode == .replace {
                try collection.save(documents)
            } else {
                try collection.insert(documents)
            }
            added = try collection.count() - before
        }
        imported += documents.count
        replaced += documents.count - added
    }

    /// Saves a batch of which not all documents can be saved: one call per document, and one commit for the others.
    private func saveOneByOne(_ documents: [(line: Int, document: BSONDocument)]) throws {
        var problems: [RejectedDocument] = []
        var (saved, added, existing) = (0, 0, 0)
        try database.write { transaction in
            (problems, saved, existing) = ([], 0, 0)
            let collection = try transaction.collection(collectionName)
            let before = try collection.count()
            for (line, document) in documents {
                do {
                    _ = try settings.mode == .replace ? collection.save(document) : collection.insert(document)
                    saved += 1
                } catch let error as TansuError where error.isCausedByDocument {
                    if error.code == .exists, settings.mode == .skip {
                        existing += 1
                        continue
                    }
                    problems.append(RejectedDocument(line: line, message: message(for: error, of: document)))
                    if settings.isStrict { break }
                }
            }
            added = try collection.count() - before
        }
        imported += saved
        replaced += saved - added
        skipped += existing
        for problem in problems { try report(problem) }
    }

    private func message(for error: TansuError, of document: BSONDocument) -> String {
        guard error.code == .exists, let id = document["_id"] else { return CommandError(error).message }
        return "A document with the _id \(id) exists; use \"--mode replace\" or \"--mode skip\""
    }
}

extension TansuError {
    /// Whether one document causes the error, so that other documents can be saved.
    fileprivate var isCausedByDocument: Bool {
        [.invalidBSON, .invalidDocument, .invalidID, .tooLarge, .notUnique, .exists].contains(code)
    }
}
