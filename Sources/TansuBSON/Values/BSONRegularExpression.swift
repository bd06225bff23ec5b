/// A regular expression as it is stored: pattern and options.
public struct BSONRegularExpression: Sendable, Hashable {
    /// The pattern.
    public let pattern: String
    /// The options, one letter each, in alphabetical order.
    public let options: String

    /// Creates a regular expression.
    ///
    /// The options are put in alphabetical order, as BSON wants them. BSON cannot hold a NUL character in either
    /// text: one that is there becomes U+FFFD, the replacement character.
    public init(_ pattern: String, options: String = "") {
        self.pattern = pattern.replacingNUL()
        let scalars = options.replacingNUL().unicodeScalars
        let isSorted = zip(scalars, scalars.dropFirst()).allSatisfy { $0 <= $1 }
        self.options = isSorted ? options.replacingNUL() : String(String.UnicodeScalarView(scalars.sorted()))
    }
}

extension String {
    /// The text with U+FFFD in place of every NUL, for the places of BSON that cannot hold one.
    @inline(__always)
    func replacingNUL() -> String {
        guard utf8.contains(0) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
}
