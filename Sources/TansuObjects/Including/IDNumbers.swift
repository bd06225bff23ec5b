/// A number for each id.
///
/// Ids of text differ when their bytes do, as in the engine. A `String` equals others that are canonically equivalent:
/// "é" as one scalar, and as a letter and a mark.
struct IDNumbers<ID: Hashable> {
    private struct Text: Hashable {
        let text: String

        static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private var numbers: [ID: Int] = [:]
    private var numbersOfTexts: [Text: Int] = [:]

    subscript(id: ID) -> Int? {
        get {
            // Types are compared first: a cast looks them up for each id.
            if ID.self == String.self, let text = id as? String { return numbersOfTexts[Text(text: text)] }
            return numbers[id]
        }
        set {
            if ID.self == String.self, let text = id as? String {
                numbersOfTexts[Text(text: text)] = newValue
            } else {
                numbers[id] = newValue
            }
        }
    }
}
