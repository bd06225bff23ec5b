import Foundation
import TansuBSON

/// The collections to which the references of a database are, as the model that it is used with declares them.
///
/// `@unchecked Sendable`: what changes is under the lock.
package final class ReferenceTargets: @unchecked Sendable {
    private let lock = NSLock()
    private var targets: [BytewiseText: [BytewiseText: String]] = [:]

    /// Those of a database.
    package static func of(_ database: Database) -> ReferenceTargets {
        database.attachment(ReferenceTargets.self) { ReferenceTargets() }
    }

    /// Sets them: for each collection, the collection that each dotted path refers to.
    package func set(_ targets: [BytewiseText: [BytewiseText: String]]) {
        lock.withLock { self.targets = targets }
    }

    /// The collection to which the references at a path are; `nil` when there are none.
    func target(of collection: String, _ path: String) -> String? {
        lock.withLock { targets[BytewiseText(collection)]?[BytewiseText(path)] }
    }
}
