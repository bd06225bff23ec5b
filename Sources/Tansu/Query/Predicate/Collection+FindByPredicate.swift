public import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension Database.Collection {
    /// A query for the documents that match a predicate of Foundation.
    ///
    /// For example:
    ///
    /// ```swift
    /// let cats = try people.find(#Predicate { $0.pet?.species == "cat" && $0.age > 10 }).all()
    /// ```
    ///
    /// It has the meaning of the predicate for the decoded value, except that strings are compared by their Unicode
    /// scalars and values as they are stored: a `Date` to the millisecond. For a document for which the predicate would
    /// throw, such as by a forced unwrap of nil, the result is unspecified.
    ///
    /// Supported are comparisons with values, `&&`, `||`, `!`, `?:`, `?.`, `??`, `if let`, ranges, `contains`,
    /// `contains(where:)`, `allSatisfy`, `count`, `isEmpty` and `first` of arrays, `starts(with:)` and `contains` of text,
    /// keys of dictionaries, sums of a whole number and a constant, and remainders.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: an unsupported expression, which the message names and the
    ///   context shows; what ``find(_:)`` with a closure throws.
    public func find(_ predicate: Predicate<Element>) throws -> Database.Query<Element> {
        let names = scope
        let filter = try names.coding {
            try predicate.clause(of: [.field(.document, Element.self)], names).document()
        }
        return try find(stored: filter, names)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension Database.Query {
    /// Those of the same documents that also match a predicate of Foundation.
    ///
    /// The compiler gives up on a long `#Predicate`; several short ones are as good:
    ///
    /// ```swift
    /// let found = try people.find(#Predicate { $0.age > 10 && $0.age < 20 }).and(#Predicate { $0.name != "mike" })
    /// ```
    ///
    /// - Parameter predicate: The predicate.
    /// - Throws: As `find` with a predicate.
    public func and(_ predicate: Predicate<Element>) throws -> Self {
        and(try ownCollection.find(predicate))
    }
}
