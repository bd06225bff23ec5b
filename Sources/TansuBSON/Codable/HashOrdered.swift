/// A type that encodes its members in the order of their hashes, which differs between equal values and between
/// processes. The encoder sorts them, so that equal values have equal bytes.
protocol HashOrdered {
    /// How many elements of an array a member is, where members are stored in one.
    static var elementsPerMember: Int { get }
}

extension Set: HashOrdered {
    static var elementsPerMember: Int { 1 }
}

extension Dictionary: HashOrdered {
    static var elementsPerMember: Int { 2 }
}
