import Foundation
import TansuBSON

/// Which collections have schemas, so that only writes to those are validated.
///
/// Writes that began without validation are counted: a schema is set only when all of them have ended, so that no
/// unvalidated write commits after it.
///
/// `@unchecked Sendable`: everything that changes is touched under `condition` only.
final class SchemaGate: @unchecked Sendable {
    private let condition = NSCondition()
    /// The collections that have one; `nil` when unknown.
    private var collections: Set<BytewiseText>?
    private var settings = 0
    private var unvalidatedWrites = 0
    private var changes = 0
    private var parsed: [BytewiseText: any Sendable] = [:]

    /// Whether a write in a transaction of its own needs no validation; then `leave()` must follow.
    ///
    /// - Parameters:
    ///   - collection: The collection that is written to.
    ///   - lookUp: Reads the collections that have one from the database.
    func enterUnvalidated(_ collection: String, _ lookUp: () throws -> Set<BytewiseText>) throws -> Bool {
        try decide(lookUp) { admit(collection) }
    }

    private func admit(_ collection: String) -> Bool {
        guard hasNoSchema(collection) else { return false }
        unvalidatedWrites += 1
        return true
    }

    func leave() {
        condition.withLock {
            unvalidatedWrites -= 1
            if unvalidatedWrites == 0 { condition.broadcast() }
        }
    }

    /// Whether a write in a transaction needs no validation. No schema can be set meanwhile but by the transaction
    /// itself, which is counted as a setting.
    ///
    /// - Parameters:
    ///   - collection: The collection that is written to.
    ///   - lookUp: Reads the collections that have one from the database, outside the transaction.
    func needsNoValidation(_ collection: String, _ lookUp: () throws -> Set<BytewiseText>) throws -> Bool {
        try decide(lookUp) { hasNoSchema(collection) }
    }

    /// Whether a collection is known to have no schema, and to get none meanwhile.
    private func hasNoSchema(_ collection: String) -> Bool {
        settings == 0 && collections?.contains(BytewiseText(collection)) == false
    }

    /// The answer of `question`, which is asked under the lock, and again with the collections that have a schema if
    /// they were unknown.
    private func decide(_ lookUp: () throws -> Set<BytewiseText>, _ question: () -> Bool) throws -> Bool {
        let (answer, before) = condition.withLock { (question(), collections == nil && settings == 0 ? changes : nil) }
        guard let before else { return answer }
        let found = try lookUp()
        return condition.withLock {
            if changes == before && settings == 0 { collections = found }
            return question()
        }
    }

    /// Runs `body`, which may set schemas, while there is no unvalidated write.
    ///
    /// - Parameter flag: Ends the wait for those with a `CancellationError` when its task is cancelled.
    func setting<Result>(cancelledBy flag: CancellationFlag?, _ body: () throws -> Result) throws -> Result {
        beginSetting()
        defer { endSetting() }
        if let flag {
            try flag.cancelling(with: { self.condition.withLock { self.condition.broadcast() } }) {
                try waitForUnvalidatedWrites { try flag.check() }
            }
        } else {
            try waitForUnvalidatedWrites {}
        }
        return try body()
    }

    private func waitForUnvalidatedWrites(_ check: () throws -> Void) throws {
        try condition.withLock {
            while unvalidatedWrites > 0 {
                try check()
                condition.wait()
            }
        }
    }

    /// From now on no unvalidated write begins; `endSetting()` must follow.
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

    /// Makes the next write read the schemas again, because they may have been changed by other means.
    func forget() {
        condition.withLock {
            changes += 1
            collections = nil
        }
    }

    /// The parsed schema of a collection, which is parsed again only when it has changed.
    func parsed<Schema: Sendable>(
        for collection: String, isCurrent: (Schema) -> Bool, parse: () throws -> Schema
    ) rethrows -> Schema {
        if let known = condition.withLock({ parsed[BytewiseText(collection)] }) as? Schema, isCurrent(known) {
            return known
        }
        let schema = try parse()
        condition.withLock { parsed[BytewiseText(collection)] = schema }
        return schema
    }
}
