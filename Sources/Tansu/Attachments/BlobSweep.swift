import TansuBSON

/// Removes blobs that no document names.
package enum BlobSweep {
    /// What was removed.
    package struct Swept: Sendable, Hashable {
        /// The number of blobs, those that were never complete included.
        package var blobs = 0
        /// The stored bytes of the complete ones.
        package var bytes: Int64 = 0
    }

    /// The blobs of one transaction.
    private static let batch = 64

    /// Removes all blobs that no document and no lease holds. Each transaction removes a few.
    ///
    /// - Parameter check: Called before each transaction; its error ends the sweep.
    /// - Throws: What a commit can throw. What was removed before stays removed.
    package static func run(_ database: Database, check: () throws -> Void = {}) throws -> Swept {
        var result = Swept()
        var candidates = try names(database)[...]
        while !candidates.isEmpty {
            try check()
            try remove(Array(candidates.prefix(batch)), in: database, &result)
            candidates = candidates.dropFirst(batch)
        }
        return result
    }

    /// Removes those of some blobs that no document and no lease holds.
    static func remove(_ ids: [BlobID], in database: Database) throws {
        var result = Swept()
        try remove(ids.map(\.bson), in: database, &result)
    }

    /// Examines a few blobs, so that unused ones go even if nobody ever sweeps. What fails is swept later.
    static func step(_ database: Database) {
        let leases = BlobLeases.of(database)
        var result = Swept()
        let names = leases.nextToExamine(8) { (try? Self.names(database)) ?? [] }
        try? remove(names, in: database, &result)
    }

    /// The names of all blobs, those that are being written included.
    static func names(_ database: Database) throws -> [BSONValue] {
        try database.read { transaction in
            var names: [BSONValue] = []
            try transaction.collection(BlobLayout.blobs).find(hints: ["$fields": ["_id": 1]]).forEach {
                if let name = $0["_id"] { names.append(name) }
            }
            return names
        }
    }

    static func remove(_ names: [BSONValue], in database: Database, _ result: inout Swept) throws {
        // Most are named by a document, which a snapshot shows without keeping other writers waiting.
        let unused = try database.read { transaction in
            let places = try Self.places(transaction.session)
            return try names.filter { try !isNamed($0, in: places) }
        }
        guard !unused.isEmpty else { return }
        let leases = BlobLeases.of(database)
        var condemned: [BSONValue] = []
        defer { leases.absolve(condemned) }
        var removed = Swept()
        try database.write(durability: .process) { transaction in
            let session = transaction.session
            let places = try Self.places(session)
            let blobs = try BlobLayout.collection(BlobLayout.blobs, session)
            for name in unused where try !isNamed(name, in: places) {
                guard leases.condemn(name) else { continue }
                condemned.append(name)
                guard let document = try blobs.get(name) else { continue }
                removed.blobs += 1
                if let blob = try StoredBlob(document) {
                    try blob.remove(in: session)
                    removed.bytes += blob.length
                } else {
                    try StoredBlob.removePending(name, in: session)
                }
            }
        }
        result.blobs += removed.blobs
        result.bytes += removed.bytes
    }

    /// The collections whose documents name blobs.
    private static func places(_ session: Session) throws -> [Database.Collection<BSONDocument>] {
        try session.collections().map(\.name).filter {
            $0.hasPrefix(BlobLayout.attachments) || $0.hasPrefix(BlobLayout.bodies)
        }.map { try BlobLayout.collection($0, session) }
    }

    private static func isNamed(
        _ name: BSONValue, in places: [Database.Collection<BSONDocument>]
    ) throws -> Bool {
        for place in places where try place.find([BlobLayout.reference: name]).first() != nil { return true }
        return false
    }
}

/// The blobs that this process is writing, has written but not yet named in a document, or is reading.
///
/// A database has one writing process, so that what no lease of it holds is in nobody's hands.
package final class BlobLeases: Sendable {
    private struct State {
        var held: [BSONValue: Int] = [:]
        /// What the sweep is about to remove. Its transaction may not be committed yet.
        var condemned: Set<BSONValue> = []
        /// The blobs that were not examined yet since all were listed.
        var unexamined: [BSONValue] = []
    }

    private let state = Locked(State())

    package static func of(_ database: Database) -> BlobLeases {
        database.attachment(BlobLeases.self) { BlobLeases() }
    }

    /// Holds a blob, or the key of one that is being written.
    func acquire(_ name: BSONValue) -> BlobLease {
        state.withLock { $0.held[name, default: 0] += 1 }
        return BlobLease(self, name)
    }

    /// Holds a blob to read it; nil when it is being removed.
    package func acquireToRead(_ name: BSONValue) -> BlobLease? {
        let isHeld = state.withLock { state in
            guard !state.condemned.contains(name) else { return false }
            state.held[name, default: 0] += 1
            return true
        }
        guard isHeld else { return nil }
        return BlobLease(self, name)
    }

    fileprivate func release(_ name: BSONValue) {
        state.withLock { state in
            guard let count = state.held[name] else { return }
            state.held[name] = count > 1 ? count - 1 : nil
        }
    }

    /// Marks a blob as being removed, unless somebody holds it.
    func condemn(_ name: BSONValue) -> Bool {
        state.withLock { state in
            guard state.held[name] == nil else { return false }
            state.condemned.insert(name)
            return true
        }
    }

    /// Some blobs that were not examined for the longest time.
    ///
    /// - Parameter list: Lists all of them.
    func nextToExamine(_ count: Int, _ list: () -> [BSONValue]) -> [BSONValue] {
        if state.withLock({ $0.unexamined.isEmpty }) {
            let all = list()
            state.withLock { $0.unexamined = all }
        }
        return state.withLock { state in
            let next = Array(state.unexamined.suffix(count))
            state.unexamined.removeLast(next.count)
            return next
        }
    }

    /// The removal is committed, or was undone.
    func absolve(_ names: [BSONValue]) {
        state.withLock { $0.condemned.subtract(names) }
    }
}

/// Keeps the sweep from removing a blob, until it is released or nobody has it any more.
package final class BlobLease: Sendable {
    private let leases: BlobLeases
    private let name: BSONValue
    private let isHeld = Locked(true)

    fileprivate init(_ leases: BlobLeases, _ name: BSONValue) {
        self.leases = leases
        self.name = name
    }

    deinit { release() }

    /// Lets the sweep remove the blob, if no document names it.
    package func release() {
        let wasHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        if wasHeld { leases.release(name) }
    }
}

// MARK: - Database: unused attachments

extension Database {
    /// Removes the bytes of attachments that no document has any more: those of removed documents, and what was left when
    /// a process ended while it added an attachment.
    ///
    /// It reads every attachment's record, but no bytes. The space is free after the next compaction.
    ///
    /// - Returns: The stored bytes that were removed.
    /// - Throws: What a commit can throw. What was removed before stays removed.
    @discardableResult
    public func removeUnusedAttachments() throws -> Int64 {
        try BlobSweep.run(self).bytes
    }

    /// Removes the bytes of attachments that no document has any more, on a thread of the database.
    ///
    /// - Returns: The stored bytes that were removed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func removeUnusedAttachments() async throws -> Int64 {
        try await runWriting { flag in
            try BlobSweep.run(self) { try flag.check() }.bytes
        }
    }
}
