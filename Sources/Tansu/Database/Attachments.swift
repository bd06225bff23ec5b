import Foundation

extension Database {
    /// A value that a module on top of this one keeps with the database, one of each type; made when first asked for.
    package func attachment<Value: Sendable>(_ type: Value.Type, _ make: () -> Value) -> Value {
        attachments.value(type, make)
    }
}

/// Values of other modules, one of each type.
///
/// `@unchecked Sendable`: the values are touched under the lock only.
final class Attachments: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [ObjectIdentifier: any Sendable] = [:]

    func value<Value: Sendable>(_ type: Value.Type, _ make: () -> Value) -> Value {
        lock.withLock {
            if let value = values[ObjectIdentifier(type)] as? Value { return value }
            let value = make()
            values[ObjectIdentifier(type)] = value
            return value
        }
    }
}
