extension Database {
    /// A section of a list: the documents of an observed query that have the same value. No section is empty.
    public struct ListSection<Value: Hashable & Sendable, Element: Sendable>: Sendable, Identifiable {
        /// What its documents have in common.
        public let value: Value

        /// Its documents, in the query's order.
        public let elements: [Element]

        /// The value, by which the section is identified.
        public var id: Value { value }
    }

    /// The order of the sections of a list, by their values.
    public struct SectionOrder<Value: Sendable>: Sendable {
        /// `nil` for the order of the sections' first documents.
        let areInIncreasingOrder: (@Sendable (Value, Value) -> Bool)?

        /// The order in which the sections' first documents are in the query's order.
        public static var byFirstElement: Self { Self(areInIncreasingOrder: nil) }

        /// An order of one's own.
        ///
        /// - Parameter areInIncreasingOrder: Whether the section with the first value is before that with the second.
        public static func by(_ areInIncreasingOrder: @escaping @Sendable (Value, Value) -> Bool) -> Self {
            Self(areInIncreasingOrder: areInIncreasingOrder)
        }
    }

    /// The position of an element in a list with sections.
    public struct ListPosition: Sendable, Hashable {
        /// The index of its section.
        public var section: Int

        /// Its index in the section.
        public var item: Int

        /// The position of an item in a section.
        public init(section: Int, item: Int) {
            self.section = section
            self.item = item
        }
    }

    /// One step from a list with sections to the next one.
    ///
    /// Where something is removed, or moved from, is a position in the old list; all others are in the new list, as
    /// table views expect. The steps are in this order: elements and sections are removed, the last first; sections and
    /// elements are inserted or moved, the first first; elements are updated.
    ///
    /// A section is removed and inserted with its elements, which have no steps of their own, and moved as it is. One
    /// that would have to move and whose elements are not the same in the same order is removed and inserted, because
    /// table views cannot do both at once. An element that comes from such a section, or goes to one, is inserted or
    /// removed.
    public enum SectionedListChange: Sendable, Hashable {
        /// An element left a section that is in both lists.
        case removed(at: ListPosition)

        /// A section of the old list, with its elements, is not in the new one.
        case sectionRemoved(at: Int)

        /// A section of the new list, with its elements, was not in the old one.
        case sectionInserted(at: Int)

        /// A section passed others that are in both lists, with the same elements.
        case sectionMoved(from: Int, to: Int)

        /// An element came to a section that is in both lists.
        case inserted(at: ListPosition)

        /// An element passed others of its section, or changed from one section to another.
        case moved(from: ListPosition, to: ListPosition)

        /// An element's document has changed. It, or its section, may have moved as well.
        case updated(at: ListPosition)
    }

    /// The result of an observed query in sections, and its difference to the previous one.
    public struct SectionedListUpdate<Value: Hashable & Sendable, Element: Sendable>: Sendable {
        /// The whole new list.
        public let sections: [ListSection<Value, Element>]

        /// The steps to it; of the first list all its sections are inserted.
        public let changes: [SectionedListChange]

        /// The rows of the sections, for the steps to the next list.
        let rows: ListSections<Value>
    }
}

extension Database.SectionOrder where Value: Comparable {
    /// The least value first.
    public static var ascending: Self { .by { $0 < $1 } }

    /// The greatest value first.
    public static var descending: Self { .by { $0 > $1 } }
}

extension Database.ListSection: Equatable where Element: Equatable {}
extension Database.ListSection: Hashable where Element: Hashable {}

// MARK: - Query: sections

extension Database.Query {
    /// The documents that match, in sections: the current result immediately, then a new one after each change.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await sections in try notes.find().sorted(by: \.title).observe(sectionedBy: \.folder) {
    ///     for section in sections { print(section.value, section.elements.map(\.title)) }
    /// }
    /// let byLetter = contacts.find().sorted(by: "name").observe(sectionedBy: { $0.name.prefix(1) }, sorted: .ascending)
    /// ```
    ///
    /// It behaves as ``observe()``. Documents with the same value are one section, also where others are between them in
    /// the order of the query, which is the order inside the sections. The sections are in the order of their first
    /// documents, unless they are sorted.
    ///
    /// - Parameters:
    ///   - section: The value of a document, by which it belongs to a section. It is called once for each document of a
    ///     result, on a thread of the database, and must depend on the document alone.
    ///   - order: The order of the sections: `.ascending` or `.descending` by values that can be compared, `.by` with a
    ///     closure, or that of their first documents.
    public func observe<Section: Hashable & Sendable>(
        sectionedBy section: @escaping @Sendable (Element) -> Section,
        sorted order: Database.SectionOrder<Section> = .byFirstElement
    ) -> Database.Observation<Element, [Database.ListSection<Section, Element>]> {
        sectioned(sorted: order) { $0.elements.map(section) }
    }

    /// The documents that match, in sections by the value at a path: the current result immediately, then a new one
    /// after each change.
    ///
    /// For example:
    ///
    /// ```swift
    /// let sections = people.find().sorted(by: "pet.species").sorted(by: "name").observe(sectionedBy: "pet.species")
    /// ```
    ///
    /// It behaves as `observe(sectionedBy:sorted:)` with a closure. Values are those that are stored, in what
    /// the query includes of a document. Numbers that are equal are one section, of whatever type they are: its value for
    /// 2, 2.0 and `.int64(2)` is that of the literal 2. Documents without a value, or with null, are the section `nil`.
    ///
    /// - Parameters:
    ///   - path: The dotted path of the value. With one that is malformed the query throws.
    ///   - order: The order of the sections.
    public func observe(
        sectionedBy path: String, sorted order: Database.SectionOrder<BSONValue?> = .byFirstElement
    ) -> Database.Observation<Element, [Database.ListSection<BSONValue?, Element>]> {
        let (query, path) = parsed(sectionPath: path)
        return query.sectioned(sorted: order) { $0.sectionValues(at: path) }
    }

    /// The documents that match, in sections, with the difference to the previous result, for lists on a screen.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await update in try notes.find().sorted(by: \.title).observeChanges(sectionedBy: \.folder) {
    ///     for change in update.changes {
    ///         switch change {
    ///         case .removed(let position): …
    ///         case .sectionRemoved(let index): …
    ///         case .sectionInserted(let index): …
    ///         case .sectionMoved(let from, let to): …
    ///         case .inserted(let position): …
    ///         case .moved(let from, let to): …
    ///         case .updated(let position): …
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// It behaves as `observe(sectionedBy:sorted:)`. Documents are identified by their `_id`, sections by their value.
    ///
    /// - Parameters:
    ///   - section: The value of a document, by which it belongs to a section. It is called once for each document of a
    ///     result, on a thread of the database, and must depend on the document alone.
    ///   - order: The order of the sections.
    public func observeChanges<Section: Hashable & Sendable>(
        sectionedBy section: @escaping @Sendable (Element) -> Section,
        sorted order: Database.SectionOrder<Section> = .byFirstElement
    ) -> Database.Observation<Element, Database.SectionedListUpdate<Section, Element>> {
        sectionChanges(sorted: order) { $0.elements.map(section) }
    }

    /// The documents that match, in sections by the value at a path, with the difference to the previous result.
    ///
    /// It behaves as `observe(sectionedBy:sorted:)` with a path. Documents are identified by their `_id`.
    ///
    /// - Parameters:
    ///   - path: The dotted path of the value. With one that is malformed the query throws.
    ///   - order: The order of the sections.
    public func observeChanges(
        sectionedBy path: String, sorted order: Database.SectionOrder<BSONValue?> = .byFirstElement
    ) -> Database.Observation<Element, Database.SectionedListUpdate<BSONValue?, Element>> {
        let (query, path) = parsed(sectionPath: path)
        return query.sectionChanges(sorted: order) { $0.sectionValues(at: path) }
    }

    private func sectioned<Section>(
        sorted order: Database.SectionOrder<Section>,
        _ values: @escaping @Sendable (ObservedList<Element>) -> [Section]
    ) -> Database.Observation<Element, [Database.ListSection<Section, Element>]> {
        Database.Observation(committed) { list, _ in
            ListSections(of: values(list), sorted: order).sections(of: list.elements)
        }
    }

    private func sectionChanges<Section>(
        sorted order: Database.SectionOrder<Section>,
        _ values: @escaping @Sendable (ObservedList<Element>) -> [Section]
    ) -> Database.Observation<Element, Database.SectionedListUpdate<Section, Element>> {
        Database.Observation(committed) { list, old in
            list.update(of: values(list), sorted: order, from: old.map { ($0.list, $0.output.rows) })
        }
    }

    /// The same query, which cannot run when a path is malformed, and the path.
    func parsed(sectionPath text: String) -> (Self, BSONPath?) {
        let path = try? BSONPath(text)
        var query = self
        if path == nil {
            query.fault = fault ?? TansuError(.invalidQuery, "The path of the sections is malformed", context: text)
        }
        return (query, path)
    }
}

extension ObservedList {
    /// The list in sections, with the steps from another one: `nil` for the empty list.
    ///
    /// - Parameter values: The value of each row.
    func update<Value>(
        of values: [Value], sorted order: Database.SectionOrder<Value>,
        from old: (list: Self, rows: ListSections<Value>)?
    ) -> Database.SectionedListUpdate<Value, Element> {
        let rows = ListSections(of: values, sorted: order)
        return Database.SectionedListUpdate(
            sections: rows.sections(of: elements),
            changes: changes(in: rows, from: old?.list ?? ObservedList(), in: old?.rows ?? ListSections()), rows: rows)
    }

    /// The value of each row at a path, the same for all that are equal in the database.
    func sectionValues(at path: BSONPath?) -> [BSONValue?] {
        rows.map { row in
            guard let path, let value = row.document.value(at: path), !value.isNull else { return nil }
            guard case .int64(let number) = value.comparable else { return value.comparable ?? value }
            return BSONValue(integerLiteral: number)
        }
    }
}
