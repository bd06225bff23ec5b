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

/// What a property that holds references may be: ``Reference``, an optional one, or an array or a set of them.
public protocol ReferenceProperty<ReferenceTarget>: Sendable {
    /// The type of the documents that are referred to.
    associatedtype ReferenceTarget: Identifiable where ReferenceTarget.ID: Codable & Hashable & Sendable

    /// Whether a reference can be taken out of the property, by the delete rule `nullify`.
    static var canBeNullified: Bool { get }

    /// Calls a closure with the id of each reference, in their order.
    func forEachID(_ body: (ReferenceTarget.ID) -> Void)
}

/// A property that holds one reference, or none.
public protocol ToOneReference<ReferenceTarget>: ReferenceProperty {}

/// A property that holds several references.
public protocol ToManyReference<ReferenceTarget>: ReferenceProperty {}

extension Reference: ToOneReference {
    /// The type of the document that it refers to.
    public typealias ReferenceTarget = Target

    /// False: there must be one.
    public static var canBeNullified: Bool { false }

    /// Calls the closure with its id.
    public func forEachID(_ body: (Target.ID) -> Void) {
        body(id)
    }
}

extension Optional: ReferenceProperty where Wrapped: ReferenceProperty {
    /// The type of the documents that are referred to.
    public typealias ReferenceTarget = Wrapped.ReferenceTarget

    /// True: there may be none.
    public static var canBeNullified: Bool { true }

    /// Calls the closure with the ids of the wrapped value, if there is one.
    public func forEachID(_ body: (Wrapped.ReferenceTarget.ID) -> Void) {
        self?.forEachID(body)
    }
}

extension Optional: ToOneReference where Wrapped: ToOneReference {}
extension Optional: ToManyReference where Wrapped: ToManyReference {}

extension Array: ReferenceProperty where Element: ToOneReference {
    /// The type of the documents that are referred to.
    public typealias ReferenceTarget = Element.ReferenceTarget

    /// True: an element is taken out.
    public static var canBeNullified: Bool { true }

    /// Calls the closure with the id of each element.
    public func forEachID(_ body: (Element.ReferenceTarget.ID) -> Void) {
        for element in self { element.forEachID(body) }
    }
}

extension Array: ToManyReference where Element: ToOneReference {}

extension Set: ReferenceProperty where Element: ToOneReference {
    /// The type of the documents that are referred to.
    public typealias ReferenceTarget = Element.ReferenceTarget

    /// True: an element is taken out.
    public static var canBeNullified: Bool { true }

    /// Calls the closure with the id of each element.
    public func forEachID(_ body: (Element.ReferenceTarget.ID) -> Void) {
        for element in self { element.forEachID(body) }
    }
}

extension Set: ToManyReference where Element: ToOneReference {}
