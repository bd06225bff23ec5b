import Foundation

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

    /// Reads what `dump(_:into:progress:)` wrote, or plain JSON documents, one a line.
    ///
    /// A dump with the revisions of a replicated collection belongs into a database without that collection: those that are there would
    /// be mixed with them.
    ///
    /// - Parameters:
    ///   - options: How it is read.
    ///   - read: Gives the next bytes of the text, none at its end. An error that it throws ends the load and is
    ///     rethrown.
    ///   - progress: Called on this thread with the number of lines read. An error that it throws ends the load.
    /// - Returns: What was loaded.
    /// - Throws: ``TansuError`` with `.invalidJSON` and others with the line's number in the message and as
    ///   ``TansuError/offset``, `.exists` (an `_id` exists), `.busy`, or what a commit can throw; what the closures
    ///   throw.
    @discardableResult
    public func load(
        _ options: LoadOptions = LoadOptions(), from read: () throws -> [UInt8],
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> LoadReport {
        try rejectInsideOwnWrite()
        // What was loaded may hold schemas.
        defer { schemas.forget() }
        return LoadReport(try engine.load(options.document, from: read, progress: progress))
    }

    /// Reads the file that `dump(to:_:progress:)` wrote, or a file of plain JSON documents, one a line.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - options: How it is read.
    ///   - progress: Called on this thread with the number of lines read. An error that it throws ends the load.
    /// - Returns: What was loaded.
    /// - Throws: As the variant with a closure, and `.notFound` (no such file).
    @discardableResult
    public func load(
        from path: String, _ options: LoadOptions = LoadOptions(), progress: (Progress) throws -> Void = { _ in }
    ) throws -> LoadReport {
        let path = try path.systemPath()
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            return try load(options, from: { Array(try file.read(upToCount: 1 << 16) ?? Data()) }, progress: progress)
        } catch let error as CocoaError where error.code == .fileNoSuchFile || error.code == .fileReadNoSuchFile {
            throw TansuError(.notFound, "The file \"\(path)\" does not exist; check the path", context: path)
        } catch {
            throw error.asFileError(path)
        }
    }
}
