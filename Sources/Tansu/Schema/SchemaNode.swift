/// A compiled schema or sub-schema.
final class SchemaNode: Sendable {
    /// One keyword with its operand.
    enum Rule: Sendable {
        case types([String], keyword: String)
        case values(EngineMatcher, list: BSONArray)
        case required([String])
        case properties([BytewiseText: SchemaNode], others: Others)
        case size(ClosedRange<Int>, of: Sized, keyword: String)
        case number(EngineMatcher, keyword: String, bound: BSONValue)
        case pattern(EngineMatcher, text: String)
        case items(SchemaNode)
        case itemsByPosition([SchemaNode])
        case uniqueItems
        case all([SchemaNode])
        case any([SchemaNode])
        case one([SchemaNode])
        case not(SchemaNode)
    }

    /// Properties that are not named.
    enum Others: Sendable {
        case allowed
        case rejected
        case checked(SchemaNode)
    }

    /// The type of values whose size is constrained.
    enum Sized: Sendable {
        case string
        case array
        case object
    }

    let rules: [Rule]

    /// Compiles the schema at a path of the whole schema.
    init(_ document: BSONDocument, at path: [String]) throws {
        var rules: [Rule] = []
        for (keyword, value) in document {
            let reader = SchemaReader(document: document, keyword: keyword, value: value, path: path + [keyword])
            if let rule = try reader.rule() { rules.append(rule) }
        }
        self.rules = rules
    }
}
