/// A symbol, a string type that BSON deprecates.
public struct BSONSymbol: Sendable, Hashable {
    /// The text.
    public var text: String

    /// Creates a symbol.
    public init(_ text: String) { self.text = text }
}
