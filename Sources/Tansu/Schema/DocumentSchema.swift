/// A schema for the documents of a collection: the common part of JSON Schema, as MongoDB's `$jsonSchema`.
///
/// For example:
///
/// ```swift
/// try db.setSchema(
///     [
///         "required": ["name", "age"],
///         "properties": [
///             "name": ["type": "string", "minLength": 1],
///             "age": ["bsonType": "int", "minimum": 0],
///             "tags": ["items": ["type": "string"], "uniqueItems": true],
///         ],
///     ],
///     for: "people")
/// ```
///
/// The keywords are `type`, `bsonType`, `enum`; of objects `required`, `properties`, `additionalProperties`,
/// `minProperties`, `maxProperties`; of numbers `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`; of
/// strings `minLength`, `maxLength`, `pattern`; of arrays `items`, `minItems`, `maxItems`, `uniqueItems`; and `allOf`,
/// `anyOf`, `oneOf`, `not`, `title`, `description`. Any other is an error. A keyword for one type of values does not
/// constrain others.
public struct DocumentSchema: Sendable {
    /// The schema as it was given, without `$jsonSchema` around it.
    public let document: BSONDocument

    let root: SchemaNode

    /// Reads a schema.
    ///
    /// - Parameter document: The schema, or `["$jsonSchema": schema]`.
    /// - Throws: ``TansuError`` with `.invalidQuery`; the context names the keyword by its path.
    public init(_ document: BSONDocument) throws {
        self.document = document.count == 1 ? document["$jsonSchema"]?.documentValue ?? document : document
        root = try SchemaNode(self.document, at: [])
    }

    /// The violations of a document, in the order of the schema's keywords; empty when it is valid.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - limit: The maximum number of violations to return.
    /// - Throws: ``TansuError`` with `.invalidQuery` when a pattern needs more steps than one match may take.
    public func violations(in document: BSONDocument, limit: Int = .max) throws -> [Violation] {
        var check = SchemaCheck(limit: limit)
        try check.value(.document(document), root)
        return check.violations
    }

    /// Throws the first violation.
    func validate(_ document: BSONDocument, of collection: String, number: Int? = nil) throws {
        guard let violation = try violations(in: document, limit: 1).first else { return }
        throw TansuError(
            .invalidDocument, "The document violates the schema of collection \"\(collection)\": \(violation)",
            context: "\(violation.path): \(violation.rule)", offset: number.map(Int64.init))
    }
}

extension DocumentSchema: Hashable {
    /// Whether two schemas are the same document.
    public static func == (a: DocumentSchema, b: DocumentSchema) -> Bool { a.document == b.document }

    /// Feeds the document to the hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(document) }
}

extension DocumentSchema {
    /// A violation of a schema by a document.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The dotted path of the value; empty for the whole document.
        public let path: String

        /// The keyword of the schema, such as `minimum`.
        public let rule: String

        /// What is wrong, in words.
        public let message: String

        /// The path, the rule and the message.
        public var description: String { "\(path): \(rule): \(message)" }
    }
}
