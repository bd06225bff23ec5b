public import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension Database.Collection {
    /// The documents for which a predicate of Foundation is true, once they are asked for.
    ///
    /// For example:
    ///
    /// ```swift
    /// let cats = try people.find(#Predicate { $0.pet?.species == "cat" && $0.age > 10 }).all()
    /// ```
    ///
    /// It means what the predicate means for the decoded value, but that texts are compared by their Unicode scalars,
    /// and that a value counts as what it would be when stored: a `Date` to the millisecond. Where the predicate itself
    /// would throw, as in unwrapping nil by force, nothing is said of the document.
    ///
    /// Queries know comparisons with values, `&&`, `||`, `!`, `?:`, `?.`, `??`, `if let`, ranges, `contains`,
    /// `contains(where:)`, `allSatisfy`, `count` and `isEmpty` of arrays, `starts(with:)` and `contains` of text,
    /// keys of dictionaries, sums of a whole number and a constant, and remainders.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: an expression that queries do not know, which the message names
    ///   and the context shows; what ``find(_:)`` with a closure throws.
    public func find(_ predicate: Predicate<Element>) throws -> Database.Query<Element> {
        find(try predicate.clause(of: [.field(.document, Element.self)]).document())
    }
}
