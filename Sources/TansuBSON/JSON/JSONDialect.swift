/// What a parser of JSON makes of `$…` objects, of equal keys and of large integers.
enum JSONDialect: Sendable {
    /// Every `$…` wrapper must be valid, equal keys are an error, integers beyond 64 bits become doubles.
    case extended
    /// As extended, for documents to store, and with the forms of version 1 of extended JSON, which old tools write. A
    /// stored document has no key that begins with `$`, so that an object such as `{"$regex": "a", "$options": ""}` is
    /// nothing else; in a query it is an operator.
    case stored
    /// No wrappers; the last of equal keys wins; integers beyond 64 bits of up to 34 digits become decimals.
    case plain
    /// As plain, but a `$…` object that is exactly what the wire's writer makes of a value becomes that value.
    case wire

    /// Whether invalid wrappers and equal keys are errors.
    var isStrict: Bool { self == .extended || self == .stored }
}
