/// A type that gives a sample of itself, for queries by key path on properties whose stored names its coding keys do
/// not show.
///
/// Most types need not conform. Conform a type with property wrappers, observed properties or a class that is not final,
/// or with an `init(from:)` that reads other keys than its properties have:
///
/// ```swift
/// extension Article: QuerySampleProviding {
///     static var querySample: Article { Article(id: 1, title: "a title", body: "a body") }
/// }
/// ```
///
/// The sample is encoded as a collection would encode it: a property is stored in the field that equals it. So give each
/// property another value, and no nil. A computed property that can be set is found in the same way, in the field that it
/// equals in the sample; one that cannot be set is not.
///
/// Names that ``StoredFieldNaming`` lists come first.
public protocol QuerySampleProviding: AnyIsolation {
    /// A value in which each property has another value. It is encoded, and never saved.
    static var querySample: Self { get }
}
