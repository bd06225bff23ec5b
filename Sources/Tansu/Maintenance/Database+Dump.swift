import Foundation

extension Database {
    /// What a dump holds.
    public struct DumpOptions: Sendable, Hashable {
        /// The collections that are in it; all when `nil`.
        public var collections: [String]?

        /// Which documents, for a dump of one collection; all when `nil`.
        public var query: BSONDocument?

        /// Whether the indexes' definitions are in it.
        public var indexes: Bool

        /// Makes options; every one has a default.
        public init(collections: [String]? = nil, query: BSONDocument? = nil, indexes: Bool = true) {
            self.collections = collections
            self.query = query
            self.indexes = indexes
        }

        var document: BSONDocument {
            var document: BSONDocument = ["indexes": .bool(indexes)]
            if let collections { document["collections"] = BSONValue(collections.map { .string($0) }) }
            if let query { document["query"] = .document(query) }
            return document
        }
    }

    /// The result of a dump.
    public struct DumpReport: Sendable, Hashable {
        /// How many collections are in it.
        public let collections: Int

        /// How many documents are in it.
        public let documents: Int

        /// How many definitions of indexes are in it.
        public let indexes: Int

        /// How long the text is.
        public let bytes: Int

        init(_ document: BSONDocument) {
            collections = document["collections"]?.intValue ?? 0
            documents = document["documents"]?.intValue ?? 0
            indexes = document["indexes"]?.intValue ?? 0
            bytes = document["bytes"]?.intValue ?? 0
        }
    }

    /// Writes a snapshot of collections as text: one JSON object per line, which preserves every type.
    ///
    /// - Parameters:
    ///   - options: What is in it.
    ///   - write: Takes the next bytes of the text. An error that it throws ends the dump and is rethrown.
    ///   - progress: Called on this thread with the number of documents written. An error that it throws ends the dump.
    /// - Returns: What is in the dump.
    /// - Throws: ``TansuError`` with `.notFound` (a collection), `.invalidQuery`, `.io`, `.corrupt` or `.closed`; what
    ///   the closures throw.
    @discardableResult
    public func dump(
        _ options: DumpOptions = DumpOptions(), into write: ([UInt8]) throws -> Void,
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> DumpReport {
        DumpReport(try engine.dump(options.document, into: write, progress: progress))
    }

    /// Writes a snapshot of collections as text into a new file. It gets its name when it is complete, so that neither
    /// an error nor the end of the process leaves a part of a dump there.
    ///
    /// - Parameters:
    ///   - path: The file to write; nothing may exist there.
    ///   - options: What is in it.
    ///   - progress: Called on this thread with the number of documents written. An error that it throws ends the dump.
    /// - Returns: What is in the dump.
    /// - Throws: As the variant with a closure, `.exists` (something is at `path`), `.full`, `.busy` (another call writes
    ///   it), and `.invalidArgument` (`path` is in the folder of a database).
    @discardableResult
    public func dump(
        to path: String, _ options: DumpOptions = DumpOptions(), progress: (Progress) throws -> Void = { _ in }
    ) throws -> DumpReport {
        let file = try StagedFile(path: path)
        do {
            let report = try dump(options, into: { try file.handle.write(contentsOf: $0) }, progress: progress)
            try file.publish()
            return report
        } catch {
            file.discard()
            throw error.asFileError(path)
        }
    }
}

extension Error {
    /// Foundation's errors of files as the library's own.
    func asFileError(_ path: String) -> any Error {
        guard let error = self as? CocoaError else { return self }
        let system = (error.underlying ?? error) as NSError
        let number = system.domain == NSPOSIXErrorDomain ? Int32(system.code) : nil
        let isFull = error.code == .fileWriteOutOfSpace || [ENOSPC, EDQUOT, EFBIG].contains(number)
        let reason = number.map { ": \(String(cString: strerror($0)))" } ?? ""
        return TansuError(
            isFull ? .full : number == ENOENT ? .notFound : .io,
            "The file \"\(path)\" could not be read or written\(reason)", context: path, systemErrno: number)
    }
}
