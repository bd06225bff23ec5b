/// A struct with one stored property, whose values are coded as that property.
///
/// The coders handle it natively where they do so for the property's type: they take the property for the value, which has
/// the same bytes in memory. So a reference takes no longer than its id. Its `encode(to:)` and `init(from:)` must code
/// the property in a single-value container; they are called by other coders, and for other types of properties.
package protocol BSONTransparent {
    /// The type of the property.
    static var storedPropertyType: any Any.Type { get }
}
