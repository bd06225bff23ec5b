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
    ///   - key: The key that the text is encrypted with; it is not when `nil`.
    ///   - write: Takes the next bytes of the text. An error that it throws ends the dump and is rethrown.
    ///   - progress: Called on this thread with the number of documents written. An error that it throws ends the dump.
    /// - Returns: What is in the dump.
    /// - Throws: ``TansuError`` with `.notFound` (a collection), `.invalidQuery`, `.io`, `.corrupt` or `.closed`; what
    ///   the closures throw.
    @discardableResult
    public func dump(
        _ options: DumpOptions = DumpOptions(), key: DatabaseKey? = nil, into write: ([UInt8]) throws -> Void,
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> DumpReport {
        DumpReport(try engine.dump(options.document, key: key, into: write, progress: progress))
    }

    /// Writes a snapshot of collections as text into a new file. It gets its name when it is complete, so that neither
    /// an error nor the end of the process leaves a part of a dump there.
    ///
    /// - Parameters:
    ///   - path: The file to write; nothing may exist there.
    ///   - options: What is in it.
    ///   - key: The key that the text is encrypted with; it is not when `nil`.
    ///   - progress: Called on this thread with the number of documents written. An error that it throws ends the dump.
    /// - Returns: What is in the dump.
    /// - Throws: As the variant with a closure, `.exists` (something is at `path`), `.full`, `.busy` (another call writes
    ///   it), and `.invalidArgument` (`path` is in the folder of a database).
    @discardableResult
    public func dump(
        to path: String, _ options: DumpOptions = DumpOptions(), key: DatabaseKey? = nil,
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> DumpReport {
        let file = try StagedFile(path: path)
        do {
            let report = try dump(
                options, key: key, into: { try file.handle.write(contentsOf: $0) }, progress: progress)
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

// MARK: - Load

extension Database {
    /// How a dump is read.
    public struct LoadOptions: Sendable, Hashable {
        /// What happens to a document whose `_id` exists.
        public enum Mode: String, Sendable, Hashable, CaseIterable {
            /// It is an error.
            case insert

            /// It replaces the one that is there.
            case save

            /// It is skipped.
            case skip
        }

        /// The collection for plain lines, which do not name one; required for those.
        public var collection: String?

        /// What happens to a document whose `_id` exists.
        public var mode: Mode

        /// Whether everything is one commit, within the limit of a transaction. Otherwise there is one commit for every
        /// few thousand documents, and those before an invalid line stay.
        public var atomic: Bool

        /// Makes options; every one has a default.
        public init(collection: String? = nil, mode: Mode = .insert, atomic: Bool = false) {
            self.collection = collection
            self.mode = mode
            self.atomic = atomic
        }

        var document: BSONDocument {
            var document: BSONDocument = ["mode": .string(mode.rawValue), "atomic": .bool(atomic)]
            if let collection { document["collection"] = .string(collection) }
            return document
        }
    }

    /// The result of a load.
    public struct LoadReport: Sendable, Hashable {
        /// How many collections it had.
        public let collections: Int

        /// How many documents were saved.
        public let documents: Int

        /// How many documents were skipped because their `_id` exists.
        public let skipped: Int

        /// How many indexes were created.
        public let indexes: Int

        /// How many lines were read.
        public let lines: Int

        init(_ document: BSONDocument) {
            collections = document["collections"]?.intValue ?? 0
            documents = document["documents"]?.intValue ?? 0
            skipped = document["skipped"]?.intValue ?? 0
            indexes = document["indexes"]?.intValue ?? 0
            lines = document["lines"]?.intValue ?? 0
        }
    }

    /// Reads what `dump(_:key:into:progress:)` wrote, or plain JSON documents, one a line.
    ///
    /// A dump with the revisions of a replicated collection belongs into a database without that collection: those that are there would
    /// be mixed with them.
    ///
    /// - Parameters:
    ///   - options: How it is read.
    ///   - key: The key of a dump that is encrypted. Damage of it is noticed when the damaged part is read.
    ///   - read: Gives the next bytes of the text, none at its end. An error that it throws ends the load and is
    ///     rethrown.
    ///   - progress: Called on this thread with the number of lines read. An error that it throws ends the load.
    /// - Returns: What was loaded.
    /// - Throws: ``TansuError`` with `.invalidJSON` and others with the line's number in the message and as
    ///   ``TansuError/offset``, `.exists` (an `_id` exists), `.busy`, `.encrypted` (and there is no `key`), `.wrongKey`,
    ///   `.corrupt` (an encrypted dump) or what a commit can throw; what the closures throw.
    @discardableResult
    public func load(
        _ options: LoadOptions = LoadOptions(), key: DatabaseKey? = nil, from read: () throws -> [UInt8],
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> LoadReport {
        try rejectInsideOwnWrite()
        return LoadReport(try engine.load(options.document, key: key, from: read, progress: progress))
    }

    /// Reads the file that `dump(to:_:key:progress:)` wrote, or a file of plain JSON documents, one a line.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - options: How it is read.
    ///   - key: The key of a dump that is encrypted. Damage of it is noticed when the damaged part is read.
    ///   - progress: Called on this thread with the number of lines read. An error that it throws ends the load.
    /// - Returns: What was loaded.
    /// - Throws: As the variant with a closure, and `.notFound` (no such file).
    @discardableResult
    public func load(
        from path: String, _ options: LoadOptions = LoadOptions(), key: DatabaseKey? = nil,
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> LoadReport {
        let path = try path.systemPath()
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            let read = { Array(try file.read(upToCount: 1 << 16) ?? Data()) }
            return try load(options, key: key, from: read, progress: progress)
        } catch let error as CocoaError where error.code == .fileNoSuchFile || error.code == .fileReadNoSuchFile {
            throw TansuError(.notFound, "The file \"\(path)\" does not exist; check the path", context: path)
        } catch {
            throw error.asFileError(path)
        }
    }
}

// MARK: - Async transfer

extension Database {
    /// Writes a snapshot of collections as text: one JSON object per line, which preserves every type.
    ///
    /// - Parameters:
    ///   - options: What is in it.
    ///   - key: The key that the text is encrypted with; it is not when `nil`.
    ///   - write: Takes the next bytes of the text, on a thread of the database.
    ///   - progress: Called on the same thread with the number of documents written. An error that it throws ends the
    ///     dump.
    /// - Returns: What is in the dump.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func dump(
        _ options: DumpOptions = DumpOptions(), key: DatabaseKey? = nil,
        into write: @escaping @Sendable ([UInt8]) throws -> Void,
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> DumpReport {
        try await readers.run { flag in
            try self.dump(options, key: key, into: write) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Writes a snapshot of collections as text into a new file, which gets its name when it is complete.
    ///
    /// - Parameters:
    ///   - path: The file to write; nothing may exist there.
    ///   - options: What is in it.
    ///   - key: The key that the text is encrypted with; it is not when `nil`.
    ///   - progress: Called on a thread of the database with the number of documents written.
    /// - Returns: What is in the dump.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func dump(
        to path: String, _ options: DumpOptions = DumpOptions(), key: DatabaseKey? = nil,
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> DumpReport {
        try await readers.run { flag in
            try self.dump(to: path, options, key: key) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Reads what `dump(_:key:into:progress:)` wrote, or plain JSON documents, one a line. What was committed before the
    /// task was cancelled stays.
    ///
    /// - Parameters:
    ///   - options: How it is read.
    ///   - key: The key of a dump that is encrypted. Damage of it is noticed when the damaged part is read.
    ///   - read: Gives the next bytes of the text, none at its end, on a thread of the database.
    ///   - progress: Called on the same thread with the number of lines read. An error that it throws ends the load.
    /// - Returns: What was loaded.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func load(
        _ options: LoadOptions = LoadOptions(), key: DatabaseKey? = nil,
        from read: @escaping @Sendable () throws -> [UInt8],
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> LoadReport {
        try await Session(self).run(.write) { flag in
            try self.load(options, key: key, from: read) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Reads the file that `dump(to:_:key:progress:)` wrote, or a file of plain JSON documents, one a line. What was
    /// committed before the task was cancelled stays.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - options: How it is read.
    ///   - key: The key of a dump that is encrypted. Damage of it is noticed when the damaged part is read.
    ///   - progress: Called on a thread of the database with the number of lines read.
    /// - Returns: What was loaded.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func load(
        from path: String, _ options: LoadOptions = LoadOptions(), key: DatabaseKey? = nil,
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> LoadReport {
        try await Session(self).run(.write) { flag in
            try self.load(from: path, options, key: key) { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}

// MARK: - StagedFile

/// A file that is written under a temporary name, and gets its own name when it is complete.
///
/// The temporary name is the final one with ".tansu-part" added, as of backups. A lock keeps two writers with the same
/// target apart; the next writer replaces what a killed one left.
package struct StagedFile {
    package let path: String
    package let handle: FileHandle

    private var temporaryPath: String { path + ".tansu-part" }

    /// Creates the empty file under its temporary name.
    ///
    /// - Throws: ``TansuError`` with `.exists` (something is at `path`), `.busy` (another call writes it), `.io`,
    ///   `.full`, `.readOnly` or `.invalidArgument` (such as a path in the folder of a database).
    package init(path: String) throws {
        let path = try path.destinationPath()
        self.path = path
        try StagedFile.checkAbsent(path)
        let descriptor = createFile(path + ".tansu-part")
        guard descriptor >= 0 else { throw TansuError(creating: path, errno) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw TansuError(.busy, "Another call is writing \"\(path)\"; wait until it has ended", context: path)
        }
        // The writer that had the lock until now may have published it.
        try StagedFile.checkAbsent(path)
        guard ftruncate(descriptor, 0) == 0 else { throw TansuError(creating: path, errno) }
    }

    /// Syncs the file and gives it its name.
    ///
    /// - Throws: ``TansuError`` with `.exists`, `.io` or `.full`. Nothing is at `path` then.
    package func publish() throws {
        try handle.synchronize()
        try StagedFile.checkAbsent(path)
        guard rename(temporaryPath, path) == 0 else { throw TansuError(creating: path, errno) }
        // A name that is lost takes the file along. Where folders can't be synced there is nothing to do.
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        if let folder = try? FileHandle(forReadingFrom: folder) { _ = fsync(folder.fileDescriptor) }
        try handle.close()
    }

    /// Removes the incomplete file.
    package func discard() {
        unlink(temporaryPath)
        try? handle.close()
    }

    private static func checkAbsent(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        throw TansuError(.exists, "The file \"\(path)\" exists; choose another name", context: path)
    }
}

extension TansuError {
    fileprivate init(creating path: String, _ number: Int32) {
        let code: Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .full
            case EROFS: .readOnly
            default: .io
            }
        self.init(
            code, "The file \"\(path)\" could not be created: \(String(cString: strerror(number)))", context: path,
            systemErrno: number)
    }
}

/// A file's descriptor, negative if it could not be made; apart because `Database.open` hides the system's.
private func createFile(_ path: String) -> Int32 {
    open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
}
