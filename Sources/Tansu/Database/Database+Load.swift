import Foundation

extension Database {
    /// How a dump is read.
    public struct LoadOptions: Sendable, Hashable {
        /// What becomes of a document whose `_id` is taken.
        public enum Mode: String, Sendable, Hashable, CaseIterable {
            /// It is an error.
            case insert

            /// It replaces the one that is there.
            case save

            /// It is left out.
            case skip
        }

        /// Where documents go that are plain lines without a dump's own; needed for those.
        public var collection: String?

        /// What becomes of a document whose `_id` is taken.
        public var mode: Mode

        /// Whether all of it is one commit, within the bound of a transaction; otherwise it is one for some thousand
        /// documents, and those before a bad line stay.
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

    /// What loading came to.
    public struct LoadReport: Sendable, Hashable {
        /// How many collections it had.
        public let collections: Int

        /// How many documents were saved.
        public let documents: Int

        /// How many documents were left out because their `_id` is taken.
        public let skipped: Int

        /// How many indexes were made.
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
    /// - Parameters:
    ///   - options: How it is read.
    ///   - read: Gives the next bytes of the text, none at its end. What it throws ends the loading and is thrown on.
    ///   - progress: Told, on this thread, how many lines are read. What it throws ends the loading.
    /// - Returns: What was loaded.
    /// - Throws: ``TansuError`` with `.invalidJSON` and others with the line's number in the message and as
    ///   ``TansuError/offset``, `.exists` (an `_id` is taken), `.busy`, or what a commit can throw; what the closures
    ///   throw.
    @discardableResult
    public func load(
        _ options: LoadOptions = LoadOptions(), from read: () throws -> [UInt8],
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> LoadReport {
        try refuseInsideOwnWrite()
        // What was loaded may hold schemas.
        defer { schemas.forget() }
        return LoadReport(try engine.load(options.document, from: read, progress: progress))
    }

    /// Reads the file that `dump(to:_:progress:)` wrote, or a file of plain JSON documents, one a line.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - options: How it is read.
    ///   - progress: Told, on this thread, how many lines are read. What it throws ends the loading.
    /// - Returns: What was loaded.
    /// - Throws: As the form with a closure, and `.notFound` (no such file).
    @discardableResult
    public func load(
        from path: String, _ options: LoadOptions = LoadOptions(), progress: (Progress) throws -> Void = { _ in }
    ) throws -> LoadReport {
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            return try load(options, from: { Array(try file.read(upToCount: 1 << 16) ?? Data()) }, progress: progress)
        } catch let error as CocoaError where error.code == .fileNoSuchFile || error.code == .fileReadNoSuchFile {
            throw TansuError(.notFound, "there is no such file", context: path)
        } catch {
            throw error.asFileError(path)
        }
    }
}
