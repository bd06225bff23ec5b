/// A schema for the documents of a collection: JSON Schema 2020-12, and the keywords of MongoDB's `$jsonSchema`.
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
/// <doc:Schemas> has all keywords; any other is an error. A keyword for one type of values does not constrain others.
public struct DocumentSchema: Sendable {
    /// The schema as it was given, without `$jsonSchema` around it.
    public let document: BSONDocument

    private let engine: EngineSchema

    /// Reads a schema.
    ///
    /// - Parameter document: The schema, or `["$jsonSchema": schema]`.
    /// - Throws: ``TansuError`` with `.invalidQuery`; the context names the keyword by its path.
    public init(_ document: BSONDocument) throws {
        self.document = document.count == 1 ? document["$jsonSchema"]?.documentValue ?? document : document
        engine = try EngineSchema(self.document)
    }

    /// The violations of a document, in the order of the schema's keywords; empty when it is valid.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - limit: The maximum number of violations to return.
    /// - Throws: ``TansuError`` with `.invalidQuery` when a pattern needs more steps than one match may take.
    public func violations(in document: BSONDocument, limit: Int = .max) throws -> [Violation] {
        limit < 1 ? [] : try engine.violations(of: document, limit: limit)
    }

    /// Throws the first violation, as a save of the document to a collection with this schema does.
    package func validate(_ document: BSONDocument, of collection: String) throws {
        guard let violation = try violations(in: document, limit: 1).first else { return }
        throw TansuError(
            .invalidDocument, "The document violates the schema of collection \"\(collection)\": \(violation)",
            context: "\(violation.path): \(violation.rule)")
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
