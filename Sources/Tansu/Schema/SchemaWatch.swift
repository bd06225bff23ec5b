import Foundation

/// Whether the database has schemas at all, so that writes pay for them only where there are some.
///
/// A write of its own that began when there was none is counted: a schema is set only when all such have ended, so
/// that none comes in behind it unchecked.
///
/// `@unchecked Sendable`: everything that changes is touched under `condition` only.
final class SchemaWatch: @unchecked Sendable {
    private enum State {
        case unknown
        case none
        case some
    }

    private let condition = NSCondition()
    private var state = State.unknown
    private var settings = 0
    private var uncheckedWrites = 0
    private var changes = 0
    private var read: [String: DocumentSchema] = [:]

    /// Whether a write of its own need not look for a schema; then `leave()` must follow.
    ///
    /// - Parameter lookUp: Whether the database, as it is now, has schemas.
    func enterUnchecked(_ lookUp: () throws -> Bool) throws -> Bool {
        if condition.withLock({ admit() }) { return true }
        let before = condition.withLock { state == .unknown && settings == 0 ? changes : nil }
        guard let before else { return false }
        let found = try lookUp()
        return condition.withLock {
            if changes == before && settings == 0 { state = found ? .some : .none }
            return admit()
        }
    }

    private func admit() -> Bool {
        guard state == .none, settings == 0 else { return false }
        uncheckedWrites += 1
        return true
    }

    func leave() {
        condition.withLock {
            uncheckedWrites -= 1
            if uncheckedWrites == 0 { condition.broadcast() }
        }
    }

    /// Whether no transaction has a schema to look for.
    var knowsOfNone: Bool {
        condition.withLock { state == .none && settings == 0 }
    }

    /// Runs `body`, which may set schemas, when no unchecked write goes on; none begins until it has ended.
    func setting<Result>(_ body: () throws -> Result) rethrows -> Result {
        condition.withLock {
            settings += 1
            while uncheckedWrites > 0 { condition.wait() }
        }
        defer {
            forget()
            condition.withLock { settings -= 1 }
        }
        return try body()
    }

    /// Makes the next write look anew: somebody else may have written schemas.
    func forget() {
        condition.withLock {
            changes += 1
            state = .unknown
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
