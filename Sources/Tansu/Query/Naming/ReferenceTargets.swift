import Foundation
import TansuBSON

/// The collections to which the references of a database are, and how collections store values, as the model that it is used
/// with declares them.
///
/// `@unchecked Sendable`: what changes is under the lock.
package final class ReferenceTargets: @unchecked Sendable {
    private let lock = NSLock()
    private var targets: [BytewiseText: [BytewiseText: String]] = [:]
    private var codings: [BytewiseText: BSONCodingStrategies] = [:]
    private var areCodingsOwn = false

    /// Those of a database.
    package static func of(_ database: Database) -> ReferenceTargets {
        database.attachment(ReferenceTargets.self) { ReferenceTargets() }
    }

    /// Sets them.
    ///
    /// - Parameters:
    ///   - targets: For each collection, the collection that each dotted path refers to.
    ///   - codings: How collections store values.
    package func set(
        _ targets: [BytewiseText: [BytewiseText: String]], codings: [BytewiseText: BSONCodingStrategies]
    ) {
        let areOwn = codings.values.contains { !$0.isStandard }
        lock.withLock { (self.targets, self.codings, areCodingsOwn) = (targets, codings, areOwn) }
    }

    /// Whether some collection stores values in another form than BSON's own types.
    var hasCodings: Bool { lock.withLock { areCodingsOwn } }

    /// How a collection stores values; `nil` when the model does not have it.
    func coding(of collection: String) -> BSONCodingStrategies? {
        lock.withLock { codings[BytewiseText(collection)] }
    }

    /// The collection to which the references at a path are; `nil` when there are none.
    func target(of collection: String, _ path: String) -> String? {
        lock.withLock { targets[BytewiseText(collection)]?[BytewiseText(path)] }
    }
}
