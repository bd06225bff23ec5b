public import Tansu

/// A reference to a document of another collection, or of the same: its id.
///
/// It is stored as the bare `_id`, so that other languages see `{"author": ObjectId}`.
///
/// ```swift
/// struct Book: Codable, Sendable, Identifiable {
///     var id = ObjectID()
///     var title: String
///     var author: Reference<Author>
///     var tags: [Reference<Tag>] = []
/// }
/// let book = Book(title: "The Dispossessed", author: Reference(to: ursula))
/// let author = try book.author(in: db)
/// ```
///
/// The collections of both types are declared in a ``Model``. The reference stays when the other document is removed, and
/// then leads nowhere.
public struct Reference<Target: Identifiable>: Codable, Hashable, Sendable
where Target.ID: Codable & Hashable & Sendable {
    /// The id of the other document.
    public var id: Target.ID

    /// A reference to the document with an id, which need not exist.
    public init(id: Target.ID) {
        self.id = id
    }

    /// A reference to a value.
    public init(to target: Target) {
        id = target.id
    }

    /// Decodes the bare id.
    public init(from decoder: any Decoder) throws {
        id = try decoder.singleValueContainer().decode(Target.ID.self)
    }

    /// Encodes the bare id.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id)
    }
}

extension Reference: CustomStringConvertible {
    /// The id.
    public var description: String { safeDescription(of: id) }
}

extension Reference: BSONTransparent {
    package static var storedPropertyType: any Any.Type { Target.ID.self }
}

extension Reference: QueryReference {
    /// The type of the document that it refers to.
    public typealias QueryTarget = Target

    /// The type of its id.
    public typealias QueryTargetID = Target.ID
}
