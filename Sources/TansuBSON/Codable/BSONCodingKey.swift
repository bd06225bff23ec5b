/// A coding key of any text or of the position of an array element.
struct BSONCodingKey: CodingKey {
    // Three words, so that a key fits into an existential without an allocation.
    private let text: String
    private let number: Int
    private static let none = Int.min

    static let superclass = BSONCodingKey(stringValue: "super")

    init(stringValue: String) {
        text = stringValue
        number = Self.none
    }

    init(intValue: Int) {
        text = ""
        number = intValue
    }

    var stringValue: String { number == Self.none ? text : "Index \(number)" }
    var intValue: Int? { number == Self.none ? nil : number }
}
