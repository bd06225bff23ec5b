import TansuBSON

/// The collections of an archive of mongodump: documents that describe them, and then blocks of documents of any of them.
struct MongoArchive {
    struct Part {
        var database: String
        var name: String
        /// The options and indexes as JSON.
        var metadata: [UInt8]?
    }

    static let magic: [UInt8] = [0x6D, 0xE2, 0x99, 0x81]

    private(set) var parts: [Part] = []
    private(set) var faults: [String] = []

    /// - Throws: `CommandError` when the head of the archive is damaged, or it has several databases.
    init(path: String) throws {
        var stream = try Self.body(of: path)
        var isFirst = true
        reading: while true {
            switch try stream.next() {
            case .terminator: break reading
            case .document(.success(let document)):
                // The first one describes the archive.
                if !isFirst { add(document) }
                isFirst = false
            case .document(.failure), .damage, .end:
                throw CommandError(
                    code: "WRONG_FILE", message: "The head of the archive \"\(path)\" is damaged", path: path,
                    remedy: "nothing was changed", status: .invalidInput)
            }
        }
        let databases = parts.map(\.database).bytewiseSet.sorted().map(\.text)
        if databases.count > 1 {
            throw CommandError.wrongFile(
                path, "has several databases: \(databases.joined(separator: ", "))",
                remedy: "make an archive of one with mongodump --db; nothing was changed")
        }
    }

    /// What follows the magic number.
    static func body(of path: String) throws -> BSONStream {
        var stream = BSONStream(try openCompressedSource(path: path))
        _ = try stream.take(magic.count)
        return stream
    }

    private mutating func add(_ document: BSONDocument) {
        guard let database = document["db"]?.stringValue, let name = document["collection"]?.stringValue else { return }
        if ["admin", "config", "local"].contains(database) { return }
        if document["type"] == "view" || document["type"] == "timeseries" {
            faults.append("\"\(name)\" is a view or a time series, and was not imported")
            return
        }
        parts.append(
            Part(database: database, name: name, metadata: document["metadata"]?.stringValue.map { Array($0.utf8) }))
    }
}

/// The documents of one collection of an archive, which is read from its beginning.
final class MongoArchiveDocuments: DocumentSource {
    private var stream: BSONStream
    private let part: MongoArchive.Part
    private var isDone = false
    /// Whether the documents of a block are those of the collection.
    private var isInside = false

    init(path: String, _ part: MongoArchive.Part) throws {
        self.part = part
        stream = try MongoArchive.body(of: path)
        while true {
            switch try stream.next() {
            case .terminator: return
            case .document: continue
            case .damage, .end: return
            }
        }
    }

    var unit: String { "byte" }
    var fraction: Double? { stream.fraction }

    /// Whether the next document describes a block.
    private var isAtHead = true

    func nextDocument() throws -> SourceDocument? {
        while !isDone {
            let position = stream.position
            switch try stream.next() {
            case .end, .damage: return damage(position)
            case .terminator: (isAtHead, isInside) = (true, false)
            case .document(let content):
                if isAtHead {
                    guard case .success(let head) = content else { return damage(position) }
                    isInside = head["db"] == .string(part.database) && head["collection"] == .string(part.name)
                    isAtHead = false
                    // The last block of the collection, which has no documents.
                    if isInside, head["EOF"] == true { isDone = true }
                } else if isInside {
                    return SourceDocument(position: position, content: content)
                }
            }
            try Interruption.check()
        }
        return nil
    }

    private func damage(_ position: Int) -> SourceDocument {
        isDone = true
        let fault = InvalidDocument(message: "The archive is damaged or ends too early; the rest of it is left out")
        return SourceDocument(position: position, content: .failure(fault))
    }
}
