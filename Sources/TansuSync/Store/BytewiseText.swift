#if TansuSync
    /// A text that equals another one if their bytes are equal, as ids of documents do. In Swift the two forms of one character, such as
    /// "é" in one or two scalars, are equal.
    package struct BytewiseText: Sendable, Hashable {
        package let text: String

        package init(_ text: String) { self.text = text }

        package static func == (a: Self, b: Self) -> Bool { TermOrder.order(a.text, b.text) == .same }

        package func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }
#endif
