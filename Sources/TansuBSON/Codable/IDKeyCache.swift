/// A cache of whether a coding key type has a key `_id`, for the type that was looked up last.
///
/// The lookup takes longer than encoding a field, and most encoders see the same type repeatedly.
struct IDKeyCache {
    private var type: ObjectIdentifier?
    private var hasOwnID = false

    @inline(__always)
    mutating func hasOwnID<Key: CodingKey>(_ key: Key.Type) -> Bool {
        if type != ObjectIdentifier(key) {
            type = ObjectIdentifier(key)
            hasOwnID = Self.find(key)
        }
        return hasOwnID
    }

    // Not inlined, because a generic function that handles an optional key looks that type up whenever it is called.
    @inline(never)
    private static func find<Key: CodingKey>(_ key: Key.Type) -> Bool { Key(stringValue: "_id") != nil }
}
