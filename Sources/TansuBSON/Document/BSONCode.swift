/// JavaScript code, with or without a scope.
public struct BSONCode: Sendable, Hashable {
    /// The code.
    public var code: String
    /// The variables of the scope, or nil when the code has no scope.
    public var scope: BSONDocument?

    /// Creates a code value.
    public init(_ code: String, scope: BSONDocument? = nil) {
        self.code = code
        self.scope = scope
    }
}
