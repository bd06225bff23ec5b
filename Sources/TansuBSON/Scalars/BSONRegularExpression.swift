/// A stored regular expression: a pattern and options.
public struct BSONRegularExpression: Sendable, Hashable {
    /// The pattern.
    public let pattern: String
    /// The options, one letter each, in alphabetical order.
    public let options: String

    /// Creates a regular expression.
    ///
    /// The options are sorted, as BSON requires. BSON cannot store a NUL character in either text: every call that gets
    /// one refuses it.
    public init(_ pattern: String, options: String = "") {
        self.pattern = pattern
        let scalars = options.unicodeScalars
        let isSorted = zip(scalars, scalars.dropFirst()).allSatisfy { $0 <= $1 }
        self.options = isSorted ? options : String(String.UnicodeScalarView(scalars.sorted()))
    }
}
