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

// MARK: - Including: references

extension Including {
    /// The same results with the document that a property refers to; `nil` where that does not exist, or there is no
    /// reference.
    ///
    /// - Parameter keyPath: The property.
    public func including<each Part: Sendable, Property: ToOneReference>(
        _ keyPath: KeyPath<Root, Property>
    ) -> Including<Root, (repeat each Part, Property.ReferenceTarget?)>
    where Value == (repeat each Part), Property.ReferenceTarget: Codable & Sendable {
        adding(Associated.referencedOne(keyPath, .roots))
    }

    /// The same results with the document that a property refers to, and with what is included for that:
    /// `books.find().including(\.author) { $0.including(\.country) }`.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - further: What is included for the other document.
    public func including<each Part: Sendable, Property: ToOneReference, Result: Sendable>(
        _ keyPath: KeyPath<Root, Property>,
        _ further: (Including<Property.ReferenceTarget, Property.ReferenceTarget>) -> Including<
            Property.ReferenceTarget, Result
        >
    ) -> Including<Root, (repeat each Part, Result?)>
    where Value == (repeat each Part), Property.ReferenceTarget: Codable & Sendable {
        let target = Including<Property.ReferenceTarget, Property.ReferenceTarget>.start
        return adding(Associated.referencedOne(keyPath, further(target).loading))
    }

    /// The same results with the documents that a property refers to, in the order of the references. Those that do not
    /// exist are left out.
    ///
    /// - Parameter keyPath: The property, an array or a set.
    public func including<each Part: Sendable, Property: ToManyReference>(
        all keyPath: KeyPath<Root, Property>
    ) -> Including<Root, (repeat each Part, [Property.ReferenceTarget])>
    where Value == (repeat each Part), Property.ReferenceTarget: Codable & Sendable {
        adding(Associated.referenced(keyPath, .roots))
    }

    /// The same results with the documents that a property refers to, and with what is included for each of them.
    ///
    /// - Parameters:
    ///   - keyPath: The property, an array or a set.
    ///   - further: What is included for each of the other documents.
    public func including<each Part: Sendable, Property: ToManyReference, Result: Sendable>(
        all keyPath: KeyPath<Root, Property>,
        _ further: (Including<Property.ReferenceTarget, Property.ReferenceTarget>) -> Including<
            Property.ReferenceTarget, Result
        >
    ) -> Including<Root, (repeat each Part, [Result])>
    where Value == (repeat each Part), Property.ReferenceTarget: Codable & Sendable {
        let target = Including<Property.ReferenceTarget, Property.ReferenceTarget>.start
        return adding(Associated.referenced(keyPath, further(target).loading))
    }

    /// The same results with the documents that the elements of an array refer to, each once, in the order of the
    /// elements: `orders.find().including(all: \.lines, \.product)`. Those that do not exist are left out.
    ///
    /// - Parameters:
    ///   - array: The array.
    ///   - keyPath: The property of its elements.
    public func including<each Part: Sendable, Line, Property: ReferenceProperty>(
        all array: KeyPath<Root, [Line]>, _ keyPath: KeyPath<Line, Property>
    ) -> Including<Root, (repeat each Part, [Property.ReferenceTarget])>
    where Value == (repeat each Part), Property.ReferenceTarget: Codable & Sendable {
        nonisolated(unsafe) let array = array
        return adding(Associated.referenced({ $0[keyPath: array] }, keyPath))
    }

    /// The same results with the documents that the elements of an array that may be nil refer to, each once, in the order of
    /// the elements. Those that do not exist are left out.
    ///
    /// - Parameters:
    ///   - array: The array; nil counts as empty.
    ///   - keyPath: The property of its elements.
    public func including<each Part: Sendable, Line, Property: ReferenceProperty>(
        all array: KeyPath<Root, [Line]?>, _ keyPath: KeyPath<Line, Property>
    ) -> Including<Root, (repeat each Part, [Property.ReferenceTarget])>
    where Value == (repeat each Part), Property.ReferenceTarget: Codable & Sendable {
        nonisolated(unsafe) let array = array
        return adding(Associated.referenced({ $0[keyPath: array] ?? [] }, keyPath))
    }
}

extension Including where Root: Identifiable, Root.ID: Codable & Hashable & Sendable {
    /// The same results with the documents that refer to them by a property of another type:
    /// `authors.find().including(all: \Book.author)`.
    ///
    /// - Parameters:
    ///   - keyPath: The property of the other type.
    ///   - refine: The order of the other documents, or a condition on them: `{ try $0.sorted(by: \.year) }`.
    public func including<each Part: Sendable, Other: Codable & Sendable, Property: ReferenceProperty<Root>>(
        all keyPath: KeyPath<Other, Property>,
        _ refine: @escaping @Sendable (Database.Query<Other>) throws -> Database.Query<Other> = { $0 }
    ) -> Including<Root, (repeat each Part, [Other])> where Value == (repeat each Part) {
        adding(Associated.referring(keyPath, .roots, refine))
    }

    /// The same results with the documents that refer to them, and with what is included for each of those.
    ///
    /// - Parameters:
    ///   - keyPath: The property of the other type.
    ///   - further: What is included for each of the other documents.
    public func including<
        each Part: Sendable, Other: Codable & Sendable, Property: ReferenceProperty<Root>, Result: Sendable
    >(
        all keyPath: KeyPath<Other, Property>, _ further: (Including<Other, Other>) -> Including<Other, Result>
    ) -> Including<Root, (repeat each Part, [Result])> where Value == (repeat each Part) {
        adding(Associated.referring(keyPath, further(Including<Other, Other>.start).loading) { $0 })
    }

    /// The same results with a number, or another aggregate, of the documents that refer to them:
    /// `authors.find().annotated(with: .count(\Book.author))`.
    ///
    /// - Parameter annotation: What is computed.
    public func annotated<each Part: Sendable, Result: Sendable>(
        with annotation: Annotation<Root, Result>
    ) -> Including<Root, (repeat each Part, Result)> where Value == (repeat each Part) {
        adding(annotation.loading)
    }
}

// MARK: - Field: inverse

extension Database.Field where Value: Identifiable, Value.ID: Codable & Hashable & Sendable {
    /// The documents that refer to this one by a property of another type:
    /// `authors.find { $0.inverse(\Book.author).contains { $0.year > 1970 } }`.
    ///
    /// - Parameter keyPath: The property of the other type, which the model has.
    public func inverse<Other: Codable & Sendable, Property: ReferenceProperty<Value>>(
        _ keyPath: KeyPath<Other, Property>
    ) -> Inverse<Value, Other, Property> {
        Inverse(field: self, property: ReadOnlyKeyPath(keyPath: keyPath))
    }
}

extension Database.Field where Value: QueryReference, Value.QueryTarget: Identifiable {
    /// The documents that refer to the same one as this reference, by a property of another type.
    ///
    /// - Parameter keyPath: The property of the other type, which the model has.
    public func inverse<Other: Codable & Sendable, Property: ReferenceProperty<Value.QueryTarget>>(
        _ keyPath: KeyPath<Other, Property>
    ) -> Inverse<Value, Other, Property> {
        Inverse(field: self, property: ReadOnlyKeyPath(keyPath: keyPath))
    }
}

/// The documents that refer to one, in a query: see `inverse(_:)`.
public struct Inverse<Value, Other: Codable & Sendable, Property>: Sendable {
    let field: Database.Field<Value>
    let property: ReadOnlyKeyPath<Other, Property>

    /// Some of them meets a condition.
    ///
    /// - Parameter condition: The condition on a document that refers to this one.
    public func contains(where condition: (Database.Field<Other>) -> Database.Condition) -> Database.Condition {
        do {
            let others = try ModelRegistry.of(field.database).collection(of: Other.self, in: Session(field.database))
            return field.isReferenced(by: property.keyPath, in: others, condition)
        } catch {
            return .failing(error)
        }
    }

    /// There are none.
    public var isEmpty: Database.Condition { !contains { _ in .raw([:]) } }
}
