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
        /// The place of the last document that an import before this one saved.
        var after: ImportPlace?
    }

    /// A document that is invalid or that the database rejected.
    struct RejectedDocument: Equatable {
        /// Its position in the source, such as the line on which it begins.
        var line: Int
        var message: String
        /// Its text, if the source has one that is to be kept, or its JSON.
        var text: [UInt8]?
    }

    private struct Entry {
        var line: Int
        var number: Int
        var document: BSONDocument
        var text: [UInt8]?
    }

    let database: Database
    private let collectionName: String
    private let settings: Settings
    private var batch: [Entry] = []
    private var batchBytes = 0
    /// What positions count.
    private var unit = "line"
    /// Whether several documents can be on one line, as the elements of an array.
    private var sharesLines = false
    /// Whether a rejected document, before or after the last one that is saved, could not be reported.
    private var hasUnreported = false

    /// The number of committed documents.
    private(set) var imported = 0
    /// The number of them that replaced a document with the same `_id`.
    private(set) var replaced = 0
    /// The number of documents that were skipped because their `_id` exists.
    private(set) var skipped = 0
    /// The number of rejected documents.
    private(set) var rejected = 0
    /// The place of the last document that is saved, if any.
    private(set) var lastPlace: ImportPlace?
    /// The number of documents that are not before the place at which the import begins.
    private(set) var documents = 0

    /// Called for each rejected document.
    var onRejection: (RejectedDocument) throws -> Void = { _ in }
    /// Called after each commit with the place of its last document.
    var onCommit: (ImportPlace) -> Void = { _ in }
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

    /// Imports all documents of a source.
    /// - Throws: `CommandError` when a read or a commit fails, when the user interrupts the import, or for a rejected
    ///   document if the import is strict. Earlier commits are kept.
    func run(_ source: any DocumentSource) throws {
        unit = source.unit
        let reader = source as? DocumentReader
        var number = 0
        var place = ImportPlace.Counter()
        do {
            while let next = try source.nextDocument() {
                number += 1
                if number.isMultiple(of: 256) {
                    try Interruption.check()
                    onProgress(imported + batch.count, source.fraction)
                }
                place.count(next.position)
                if let after = settings.after, after.covers(place) { continue }
                documents += 1
                sharesLines = reader?.format == .array
                switch next.content {
                case .success(let document):
                    try add(Entry(line: place.line, number: place.number, document: document, text: next.text))
                case .failure(let problem):
                    try report(
                        RejectedDocument(line: next.position, message: problem.message, text: next.text))
                }
            }
        } catch {
            // The documents before the error are saved.
            if !settings.isStaged { try commit() }
            var failure = CommandError(error)
            if failure.remedy.isEmpty {
                failure.remedy = savedSummary
            } else if imported > 0, !settings.isStaged, failure.code != Self.strictCode {
                failure.remedy += "; " + savedSummary
            }
            if Self.canGoOn(after: failure), !hasUnreported, !settings.isStaged, reader != nil, let lastPlace {
                failure.remedy += "; go on with \"--after \(lastPlace)\""
            }
            throw failure
        }
        try commit()
    }

    /// The error of a strict import, which says itself what is saved.
    private static let strictCode = "BAD_LINE"

    /// Whether the same input can be read to its end when the cause of an error is gone.
    private static func canGoOn(after error: CommandError) -> Bool {
        [.interrupted, .inputOutput, .temporary, .system].contains(error.status)
    }

    private func add(_ entry: Entry) throws {
        var entry = entry
        func reject(_ message: String) throws {
            let text = entry.text ?? Self.text(entry.document)
            try report(RejectedDocument(line: entry.line, message: message, text: text))
        }
        if let field = settings.idField {
            guard let id = entry.document[field] ?? entry.document[path: field] else {
                return try reject("The document has no field \"\(field)\" for its _id")
            }
            if entry.document["_id"] == nil { entry.document = entry.document.withID(id) }
        }
        do {
            entry.document = try CommandLimits.here.stored(
                entry.document, in: settings.finalName ?? collectionName)
            if settings.isReplicated { try SyncLayer.check(entry.document, in: collectionName) }
        } catch {
            return try reject(CommandError(error).message)
        }
        batch.append(entry)
        batchBytes += entry.document.bytes.count + (entry.text?.count ?? 0)
        if batch.count >= settings.batchSize || batchBytes >= settings.batchBytes { try commit() }
    }

    /// The text of a document that comes from no text.
    private static func text(_ document: BSONDocument) -> [UInt8] { document.extendedJSONBytes(.canonical) }

    private func report(_ document: RejectedDocument) throws {
        rejected += 1
        if settings.isStrict {
            // The documents before it are saved.
            if !settings.isStaged { try commit() }
            throw CommandError(
                code: Self.strictCode, message: document.message, path: "\(unit) \(document.line)",
                remedy: savedSummary, status: .invalidInput)
        }
        do { try onRejection(document) } catch {
            hasUnreported = true
            throw error
        }
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
        let place = ImportPlace(line: last.line, number: sharesLines ? last.number : nil)
        lastPlace = place
        onCommit(place)
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
    private func saveOneByOne(_ documents: [Entry]) throws {
        var problems: [RejectedDocument] = []
        var (saved, added, existing) = (0, 0, 0)
        try database.write { transaction in
            (problems, saved, existing) = ([], 0, 0)
            let collection = try transaction.collection(collectionName)
            let before = try collection.count()
            for entry in documents {
                let document = entry.document
                do {
                    _ = try settings.mode == .replace ? collection.save(document) : collection.insert(document)
                    saved += 1
                } catch let error as TansuError where error.isCausedByDocument {
                    if error.code == .exists, settings.mode == .skip {
                        existing += 1
                        continue
                    }
                    problems.append(
                        RejectedDocument(
                            line: entry.line, message: message(for: error, of: document),
                            text: entry.text ?? Self.text(document)))
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

/// The search for what a load must not bring into replicated collections, before anything is loaded.
struct LoadCheck {
    private let replicated: Set<BytewiseText>
    /// The collection of the next document.
    private var collection: String

    /// - Parameters:
    ///   - collection: That of plain documents.
    ///   - replicated: The replicated collections of the database.
    init(collection: String?, replicated: Set<BytewiseText>) {
        self.collection = collection ?? ""
        self.replicated = replicated
    }

    /// - Parameter file: The name for messages.
    /// - Throws: `CommandError` for revisions of a collection that has its own already, and for a document that cannot be replicated.
    mutating func run(_ source: any ByteSource, of file: String) throws {
        let reader = DocumentReader(source, maximumLength: 128 << 20)
        while let raw = try reader.next() {
            try Interruption.check()
            // What is no JSON is refused when it is loaded.
            guard raw.problem == nil, let document = try? reader.withText(of: raw, { try parsed($0) }) else { continue }
            do { try check(document) } catch var error as CommandError {
                error.path = "\(file), line \(raw.line)"
                if error.remedy.isEmpty { error.remedy = "nothing was changed" }
                throw error
            }
        }
    }

    /// A line that matters.
    private func parsed(_ text: UnsafeRawBufferPointer) throws -> BSONDocument? {
        let isControl = Self.isControl(text)
        guard
            isControl || collection == CommandLimits.replicationStates || replicated.contains(BytewiseText(collection))
        else { return nil }
        return isControl
            ? try BSONDocument(extendedJSON: String(decoding: text, as: UTF8.self)) : try BSONDocument(storedJSON: text)
    }

    private mutating func check(_ document: BSONDocument) throws {
        if let name = document["$collection"]?.documentValue?["name"]?.stringValue {
            collection = name
            for prefix in Self.prefixes {
                if let owner = name.dropping(prefix: prefix) { try rejectRevisions(of: owner) }
            }
        } else if collection == CommandLimits.replicationStates {
            if let owner = document["_id"]?.stringValue { try rejectRevisions(of: owner) }
        } else if replicated.contains(BytewiseText(collection)) {
            try SyncLayer.check(document, in: collection)
        }
    }

    private func rejectRevisions(of owner: String) throws {
        guard replicated.contains(BytewiseText(owner)) else { return }
        throw CommandError(
            code: "REPLICATED",
            message: "The dump has revisions of the collection \"\(owner)\", which is replicated already",
            remedy:
                "load the dump into a new database, and copy from there with \"tansu replicate\"; nothing was changed",
            status: .invalidInput)
    }

    private static let prefixes = ["tansu.revisions.", "tansu.bodies.", "tansu.local.", "tansu.attachments."]

    /// Whether the first key begins with a dollar sign, which may be written as an escape.
    private static func isControl(_ line: UnsafeRawBufferPointer) -> Bool {
        let key = line.dropFirst().drop { $0.isJSONBlank }
        return key.starts(with: "\"$".utf8) || key.starts(with: "\"\\".utf8)
    }
}

/// An import that replaces a collection: the documents go into another collection, which takes the name when all of them
/// are there. The old collection is kept until then.
struct ReplacingImport {
    private let database: Database
    private let collection: String

    /// The name of the collection until the import is complete. An import that was killed leaves it, and the next one
    /// drops it.
    let temporaryName: String

    /// The compression of the collection.
    let compression: Database.CollectionCompression

    /// The fields by which its documents are dated.
    let timestamps: Database.Timestamps?

    /// - Returns: Nil when there is no such collection.
    init?(_ database: Database, of collection: String) throws {
        guard let old = try Session(database).collectionInfo(collection) else { return nil }
        compression = old.compression
        timestamps = old.timestamps
        self.database = database
        self.collection = collection
        let name = collection + ".tansu-part"
        temporaryName = name.utf8.count <= 120 ? name : "import.tansu-part"
        try database.dropCollection(temporaryName)
    }

    /// Runs the import into the temporary collection, and replaces the old one if there was no error.
    /// - Throws: `CommandError` for an error of the import, and for an import without documents. Nothing is changed then.
    func run(_ job: ImportJob, _ source: any DocumentSource) throws {
        do {
            try job.run(source)
            guard job.imported > 0 else {
                throw CommandError(
                    code: "NO_INPUT", message: "There is no document to import", path: collection,
                    remedy: "collection \"\(collection)\" was not dropped", status: .noInput)
            }
            try database.write { transaction in
                try transaction.replacing(collection) {
                    try transaction.dropCollection(collection)
                    try transaction.renameCollection(temporaryName, to: collection)
                }
            }
        } catch {
            _ = try? database.dropCollection(temporaryName)
            throw error
        }
    }
}
