/// A key path that another thread may use.
///
/// `@unchecked Sendable`: only its name is looked up, and only those of stored properties, which hold no values, are
/// kept.
package struct ReadOnlyKeyPath<Root, Value>: @unchecked Sendable {
    package let keyPath: KeyPath<Root, Value>

    package init(keyPath: KeyPath<Root, Value>) {
        self.keyPath = keyPath
    }
}
