/// What a parser of JSON makes of `$…` objects, of equal keys and of large integers.
enum JSONDialect: Sendable {
    /// Every `$…` wrapper must be valid, equal keys are an error, integers beyond 64 bits become doubles.
    case extended
    /// No wrappers; the last of equal keys wins; integers beyond 64 bits of up to 34 digits become decimals.
    case plain
    /// As plain, but a `$…` object that is exactly what the wire's writer makes of a value becomes that value.
    case wire
}
