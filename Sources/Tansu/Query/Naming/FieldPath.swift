import Foundation
import TansuBSON

/// The path of a field: keys that begin in the document or in an element of an array.
struct FieldPath: Sendable, Hashable {
    /// The keys of each array around the element in which the keys begin, the outermost first; none for the document.
    var outer: [[String]] = []

    /// None for the document or the element itself.
    var keys: [String] = []

    /// Whether the last key is the position of an element in an array, which a key of digits need not be.
    var isElement = false

    static let document = FieldPath()

    /// The number of nested arrays around the element in which the keys begin; 0 for the document itself.
    var depth: Int { outer.count }

    /// An element of the array at the path.
    var element: FieldPath { FieldPath(outer: outer + [keys]) }

    /// Whether a property `id` here is stored as `_id`.
    var isDocument: Bool { outer.isEmpty && keys.isEmpty }

    /// The first element of the array at the path.
    var firstElement: FieldPath { FieldPath(outer: outer, keys: keys + ["0"], isElement: true) }

    func appending(_ more: [String]) -> FieldPath {
        more.isEmpty ? self : FieldPath(outer: outer, keys: keys + more)
    }

    /// The keys as the text of a path.
    ///
    /// - Parameter isCondition: Whether the path only looks for values: then a key may be empty.
    /// - Throws: ``TansuError`` with `.invalidQuery` for a key that no path can name.
    func dotted(isCondition: Bool = false) throws -> String {
        if !isCondition, keys.contains("") {
            throw TansuError(
                .invalidQuery, "Only a condition can name a key that is empty; rename the key",
                context: keys.joined(separator: "."))
        }
        if let key = keys.first(where: { $0.utf8.contains(0) }) {
            throw TansuError(
                .invalidQuery, "A query cannot name a key that has a NUL character; rename the key", context: key)
        }
        if keys == ["*"] || keys.first == "**" || keys.first?.hasPrefix("$") == true {
            throw TansuError(
                .invalidQuery, "The key \"\(keys[0])\" has another meaning in a query; rename the key", context: keys[0]
            )
        }
        return keys.map(Self.escaped).joined(separator: ".")
    }

    /// The keys of a path.
    static func keys(of path: String) -> [String] {
        var keys = [String.UnicodeScalarView()]
        var isEscaped = false
        // By scalars: a dot with a combining mark is one character.
        for scalar in path.unicodeScalars {
            if scalar == "\\" && !isEscaped {
                isEscaped = true
            } else if scalar == "." && !isEscaped {
                keys.append(String.UnicodeScalarView())
            } else {
                keys[keys.count - 1].append(scalar)
                isEscaped = false
            }
        }
        return keys.map { String($0) }
    }

    /// A key as a part of a path.
    static func escaped(_ key: String) -> String {
        let isAsterisks = !key.utf8.contains { $0 != UInt8(ascii: "*") }
        guard isAsterisks || key.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "\\") }) else {
            return key
        }
        // By scalars: a dot with a combining mark is one character.
        return key.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar == "." || scalar == "\\" || isAsterisks { text.append("\\") }
            text.unicodeScalars.append(scalar)
        }
    }
}

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
