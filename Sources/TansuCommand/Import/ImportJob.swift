import Tansu
import TansuBSON

/// Brings an input's documents into a collection, batch by batch, one commit each.
final class ImportJob {
    struct Settings {
        /// Documents a commit.
        var batchSize = 1000
        /// Bytes after which a batch is committed even if it holds fewer documents.
        var batchBytes = 8 << 20
        /// The field whose value becomes the `_id`, if any.
        var idField: String?
        /// The first bad document ends the import.
        var isStrict = false
    }

    /// A document that could not be imported.
    struct BadRecord: Equatable {
        var line: Int
        var message: String
    }

    private let database: Database
    private let collectionName: String
    private let settings: Settings
    private var batch: [(line: Int, document: BSONDocument)] = []
    private var batchBytes = 0

    /// Documents that are committed.
    private(set) var imported = 0
    /// Documents that were bad.
    private(set) var bad = 0

    /// Told of each bad document.
    var onBad: (BadRecord) -> Void = { _ in }
    /// Told after each commit, with the line on which the newest document began.
    var onCommit: (_ line: Int) -> Void = { _ in }
    /// Told now and then of how much is read, 0 to 1.
    var onProgress: (_ documents: Int, _ fraction: Double?) -> Void = { _, _ in }

    init(database: Database, collection: String, settings: Settings) {
        self.database = database
        collectionName = collection
        self.settings = settings
    }

    /// Imports everything that the reader has.
    /// - Throws: `CommandFailure` when reading or committing fails, or for a bad document if the import is strict;
    ///   the commits so far stay.
    func run(_ reader: RecordReader) throws {
        do {
            while let record = try reader.next() {
                switch reader.document(of: record) {
                case .success(let document): try add(document, line: record.line)
                case .failure(let problem):
                    try report(BadRecord(line: record.line, message: problem.message))
                }
                if (imported + batch.count).isMultiple(of: 256) {
                    onProgress(imported + batch.count, reader.fraction)
                }
            }
        } catch {
            // What was read well is kept, whatever is wrong with the rest.
            try commit()
            var failure = CommandFailure(error)
            if failure.remedy.isEmpty { failure.remedy = "\(kept)." }
            throw failure
        }
        try commit()
    }

    private func add(_ document: BSONDocument, line: Int) throws {
        var document = document
        if let field = settings.idField, document["_id"] == nil {
            guard let id = document[field] else {
                return try report(
                    BadRecord(line: line, message: "The document has no field \"\(field)\" for its _id."))
            }
            document = document.withID(id)
        }
        batch.append((line, document))
        batchBytes += document.bytes.count
        if batch.count >= settings.batchSize || batchBytes >= settings.batchBytes { try commit() }
    }

    private func report(_ record: BadRecord) throws {
        bad += 1
        if settings.isStrict {
            // The documents before it belong to those that are kept.
            try commit()
            throw CommandFailure(
                code: "BAD_LINE", message: record.message, path: "line \(record.line)",
                remedy: "The import stopped there; \(kept).",
                status: .badData)
        }
        onBad(record)
    }

    private var kept: String {
        "\(Numbers.count(imported, "document")) before it \(imported == 1 ? "is" : "are") kept"
    }

    private func commit() throws {
        guard let last = batch.last else { return }
        let documents = batch
        batch.removeAll(keepingCapacity: true)
        batchBytes = 0
        do {
            try database.collection(collectionName).save(documents.map(\.document))
            imported += documents.count
        } catch let error as TansuError where error.isAboutDocument {
            try saveOneByOne(documents)
        }
        onCommit(last.line)
    }

    /// Saves a batch that holds a bad document: each alone, all the good ones in one commit still.
    private func saveOneByOne(_ documents: [(line: Int, document: BSONDocument)]) throws {
        var problems: [BadRecord] = []
        var saved = 0
        try database.write { transaction in
            problems = []
            saved = 0
            let collection = try transaction.collection(collectionName)
            for (line, document) in documents {
                do {
                    try collection.save(document)
                    saved += 1
                } catch let error as TansuError where error.isAboutDocument {
                    let failure = CommandFailure(error)
                    problems.append(BadRecord(line: line, message: failure.message))
                    if settings.isStrict { break }
                }
            }
        }
        imported += saved
        for problem in problems { try report(problem) }
    }
}

extension TansuError {
    /// Whether a document is at fault, so that others may be saved all the same.
    fileprivate var isAboutDocument: Bool {
        [.invalidBSON, .invalidDocument, .invalidID, .tooLarge, .notUnique, .exists].contains(code)
    }
}
