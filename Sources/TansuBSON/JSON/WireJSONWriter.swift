/// A writer of JSON text that mixes members of its own with the fields of documents.
package struct WireJSONWriter: ~Copyable {
    private var writer: ExtendedJSONWriter
    /// The positions that ``hole()`` left, in their order.
    package private(set) var holes: [Int] = []

    /// Creates a writer of one form.
    package init(_ form: WireJSONForm = .extended, capacity: Int = 512) {
        writer = ExtendedJSONWriter(form == .extended ? .wire : .plain, capacity: capacity)
    }

    /// The number of bytes written so far.
    package var count: Int { writer.count }

    /// Appends text of JSON as it is.
    package mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { writer.raw(UnsafeRawBufferPointer($0)) }
    }

    /// Appends bytes of JSON as they are.
    package mutating func raw(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { writer.raw($0) }
    }

    /// Appends a text in quotes.
    package mutating func string(_ text: String) { writer.string(text) }

    /// Appends an integer.
    package mutating func integer(_ value: Int64) { writer.integer(value) }

    /// Leaves a position at which whoever sends the text puts in what is too large to be held in memory.
    package mutating func hole() { holes.append(count) }

    /// Appends a value of any type.
    package mutating func value(_ value: BSONValue) {
        var buffer = ByteBuffer(capacity: 64)
        buffer.append(field: "", value)
        // The writer expects the zero byte that ends a document.
        buffer.append(0 as UInt8)
        writer.write(elementIn: buffer.bytes)
    }

    /// Appends the members of a document without its braces.
    ///
    /// - Parameter followsMember: Whether a comma is needed before the first one.
    package mutating func members(of document: BSONDocument, followsMember: Bool) {
        document.withUnsafeBytes { writer.write(membersOf: $0, followsMember: followsMember) }
    }

    /// The text, and an empty writer for the next one.
    package consuming func finish() -> [UInt8] { writer.finish() }
}

extension BSONValue {
    /// The value as the answers of a server have it: each number that JSON text can have is a number.
    package var wireJSON: String {
        var writer = WireJSONWriter()
        writer.value(self)
        return String(decoding: writer.finish(), as: UTF8.self)
    }
}
