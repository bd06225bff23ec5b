import Foundation

/// What closures on any thread were called with, in order.
///
/// `@unchecked Sendable`: the array is accessed under the lock only.
final class Collected<Element: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []

    func append(_ element: Element) { lock.withLock { elements.append(element) } }
    var all: [Element] { lock.withLock { elements } }
}
