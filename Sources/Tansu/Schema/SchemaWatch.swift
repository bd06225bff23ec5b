import Foundation

/// Which collections have schemas, so that only writes to those pay for them.
///
/// A write of its own that began when its collection had none is counted: a schema is set only when all such have ended, so
/// that none comes in behind it unchecked.
///
/// `@unchecked Sendable`: everything that changes is touched under `condition` only.
final class SchemaWatch: @unchecked Sendable {
    private let condition = NSCondition()
    /// The collections that have one; `nil` when it is to be looked up.
    private var collections: Set<String>?
    private var settings = 0
    private var uncheckedWrites = 0
    private var changes = 0
    private var read: [String: DocumentSchema] = [:]

    /// Whether a write of its own need not look for a schema; then `leave()` must follow.
    ///
    /// - Parameters:
    ///   - collection: The collection that is written to.
    ///   - lookUp: The collections that have one in the database as it is now.
    func enterUnchecked(_ collection: String, _ lookUp: () throws -> Set<String>) throws -> Bool {
        let (admitted, before) = condition.withLock {
            (admit(collection), collections == nil && settings == 0 ? changes : nil)
        }
        guard let before, !admitted else { return admitted }
        let found = try lookUp()
        return condition.withLock {
            if changes == before && settings == 0 { collections = found }
            return admit(collection)
        }
    }

    private func admit(_ collection: String) -> Bool {
        guard settings == 0, let collections, !collections.contains(collection) else { return false }
        uncheckedWrites += 1
        return true
    }

    func leave() {
        condition.withLock {
            uncheckedWrites -= 1
            if uncheckedWrites == 0 { condition.broadcast() }
        }
    }

    /// Whether a transaction need not look for a schema.
    func knowsOfNone(for collection: String) -> Bool {
        condition.withLock { settings == 0 && collections?.contains(collection) == false }
    }

    /// Runs `body`, which may set schemas, when no unchecked write goes on; none begins until it has ended.
    func setting<Result>(_ body: () throws -> Result) rethrows -> Result {
        beginSetting()
        defer { endSetting() }
        condition.withLock { while uncheckedWrites > 0 { condition.wait() } }
        return try body()
    }

    /// From now on no unchecked write begins; `endSetting()` must follow.
    func beginSetting() {
        condition.withLock { settings += 1 }
    }

    func endSetting() {
        condition.withLock {
            settings -= 1
            changes += 1
            collections = nil
        }
    }

    /// Makes the next write look anew: somebody else may have written schemas.
    func forget() {
        condition.withLock {
            changes += 1
            collections = nil
        }
    }

    /// The schema in a document of the collection of schemas, which is read anew only when it is another one.
    func schema(in stored: BSONDocument, of collection: String) throws -> DocumentSchema {
        guard let document = stored["schema"]?.documentValue else {
            throw TansuError(.corrupt, "the stored schema of the collection is none", context: collection)
        }
        if let known = condition.withLock({ read[collection] }), known.document == document { return known }
        let schema = try DocumentSchema(document)
        condition.withLock { read[collection] = schema }
        return schema
    }
}
