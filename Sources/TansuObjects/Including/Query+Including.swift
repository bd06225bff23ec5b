public import Tansu

// The first part of the results; `Including` has the same methods for further ones.
extension Database.Query where Element: Codable {
    fileprivate var start: Including<Element, Element> { Including(query: self, loading: .roots) }

    /// The documents, each with the one that a property refers to; `nil` where that does not exist, or there is no
    /// reference.
    ///
    /// - Parameter keyPath: The property.
    public func including<Property: ToOneReference>(
        _ keyPath: KeyPath<Element, Property>
    ) -> Including<Element, (Element, Property.ReferenceTarget?)>
    where Property.ReferenceTarget: Codable & Sendable {
        start.including(keyPath)
    }

    /// The documents, each with the one that a property refers to, and with what is included for that:
    /// `books.find().including(\.author) { $0.including(\.country) }`.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - further: What is included for the other document.
    public func including<Property: ToOneReference, Result: Sendable>(
        _ keyPath: KeyPath<Element, Property>,
        _ further: (Including<Property.ReferenceTarget, Property.ReferenceTarget>) -> Including<
            Property.ReferenceTarget, Result
        >
    ) -> Including<Element, (Element, Result?)>
    where Property.ReferenceTarget: Codable & Sendable {
        start.including(keyPath, further)
    }

    /// The documents with those that a property refers to, in the order of the references. Those that do not
    /// exist are left out.
    ///
    /// - Parameter keyPath: The property, an array or a set.
    public func including<Property: ToManyReference>(
        all keyPath: KeyPath<Element, Property>
    ) -> Including<Element, (Element, [Property.ReferenceTarget])>
    where Property.ReferenceTarget: Codable & Sendable {
        start.including(all: keyPath)
    }

    /// The documents with those that a property refers to, and with what is included for each of them.
    ///
    /// - Parameters:
    ///   - keyPath: The property, an array or a set.
    ///   - further: What is included for each of the other documents.
    public func including<Property: ToManyReference, Result: Sendable>(
        all keyPath: KeyPath<Element, Property>,
        _ further: (Including<Property.ReferenceTarget, Property.ReferenceTarget>) -> Including<
            Property.ReferenceTarget, Result
        >
    ) -> Including<Element, (Element, [Result])>
    where Property.ReferenceTarget: Codable & Sendable {
        start.including(all: keyPath, further)
    }

    /// The documents with those that the elements of an array refer to, each once, in the order of the elements:
    /// `orders.find().including(all: \.lines, \.product)`. Those that do not exist are left out.
    ///
    /// - Parameters:
    ///   - array: The array.
    ///   - keyPath: The property of its elements.
    public func including<Line, Property: ReferenceProperty>(
        all array: KeyPath<Element, [Line]>, _ keyPath: KeyPath<Line, Property>
    ) -> Including<Element, (Element, [Property.ReferenceTarget])>
    where Property.ReferenceTarget: Codable & Sendable {
        start.including(all: array, keyPath)
    }

    /// The documents with those that the elements of an array that may be nil refer to, each once, in the order of the
    /// elements. Those that do not exist are left out.
    ///
    /// - Parameters:
    ///   - array: The array; nil counts as empty.
    ///   - keyPath: The property of its elements.
    public func including<Line, Property: ReferenceProperty>(
        all array: KeyPath<Element, [Line]?>, _ keyPath: KeyPath<Line, Property>
    ) -> Including<Element, (Element, [Property.ReferenceTarget])>
    where Property.ReferenceTarget: Codable & Sendable {
        start.including(all: array, keyPath)
    }
}

extension Database.Query where Element: Codable & Identifiable, Element.ID: Codable & Hashable & Sendable {
    /// The documents with those that refer to them by a property of another type:
    /// `authors.find().including(all: \Book.author)`.
    ///
    /// - Parameters:
    ///   - keyPath: The property of the other type.
    ///   - refine: The order of the other documents, or a condition on them: `{ try $0.sorted(by: \.year) }`.
    public func including<Other: Codable & Sendable, Property: ReferenceProperty<Element>>(
        all keyPath: KeyPath<Other, Property>,
        _ refine: @escaping @Sendable (Database.Query<Other>) throws -> Database.Query<Other> = { $0 }
    ) -> Including<Element, (Element, [Other])> {
        start.including(all: keyPath, refine)
    }

    /// The documents with those that refer to them, and with what is included for each of those.
    ///
    /// - Parameters:
    ///   - keyPath: The property of the other type.
    ///   - further: What is included for each of the other documents.
    public func including<
        Other: Codable & Sendable, Property: ReferenceProperty<Element>, Result: Sendable
    >(
        all keyPath: KeyPath<Other, Property>, _ further: (Including<Other, Other>) -> Including<Other, Result>
    ) -> Including<Element, (Element, [Result])> {
        start.including(all: keyPath, further)
    }

    /// The documents with a number, or another aggregate, of the documents that refer to them:
    /// `authors.find().annotated(with: .count(\Book.author))`.
    ///
    /// - Parameter annotation: What is computed.
    public func annotated<Result: Sendable>(
        with annotation: Annotation<Element, Result>
    ) -> Including<Element, (Element, Result)> {
        start.annotated(with: annotation)
    }
}
