/// How types that JSON lacks are written for a database without them.
package enum WireJSONForm: Sendable, Hashable {
    /// As relaxed extended JSON, which is read as the same type again.
    case extended
    /// As JSON that people expect: dates as ISO 8601, binary as base64, ids as hex digits. The types are lost.
    case plain
}

extension BSONValue {
    /// Creates a value from JSON text of a database that has JSON's types only.
    ///
    /// A `$…` object becomes a value of another type if that value is written as the same object; all others are plain
    /// objects. Of several equal keys the last wins, in the position of the first. An integer beyond 64 bits of up to 34
    /// digits becomes a decimal.
    ///
    /// - Parameter documentDepth: Down to which depth objects are never values of another type: 1 for a document.
    /// - Throws: ``BSONError`` with line and column when the text is invalid.
    package init(wireJSON utf8: some Collection<UInt8>, documentDepth: Int) throws {
        let parsed = try utf8.withContiguousStorageIfAvailable {
            try ExtendedJSONParser.parse($0, .wire, documentDepth: documentDepth)
        }
        self =
            try parsed
            ?? Array(utf8).withUnsafeBufferPointer {
                try ExtendedJSONParser.parse($0, .wire, documentDepth: documentDepth)
            }
    }
}

extension Decimal128 {
    /// The digits of an integer that 64 bits cannot hold, which the wire has as a JSON number.
    var wireInteger: String? {
        guard !isNaN, !isInfinite else { return nil }
        let text = description
        let isInteger = text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || ($0 >= 0x30 && $0 <= 0x39) }
        return isInteger && Int64(text) == nil ? text : nil
    }
}

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

/// The members of a document at its top, split by whether their names begin with `_`.
package struct WireMembers: Sendable {
    /// The fields whose names begin with another character, in their order.
    package let fields: BSONDocument
    /// The others, in their order.
    package let special: [(name: String, value: BSONValue)]

    /// Splits a document.
    package init(_ document: BSONDocument) {
        self = document.withUnsafeBytes { Self(document: $0) }
    }

    /// Splits each document of an array; what is no document becomes nil.
    package static func all(in array: BSONArray) -> [WireMembers?] {
        array.document.withUnsafeBytes { bytes in
            var members: [WireMembers?] = []
            var offset = 4
            while let element = bytes.element(at: offset, end: bytes.documentEnd) {
                offset = element.valueEnd
                let value = UnsafeRawBufferPointer(rebasing: bytes[element.valueStart..<element.valueEnd])
                members.append(element.type == .document ? Self(document: value) : nil)
            }
            return members
        }
    }

    private init(document bytes: UnsafeRawBufferPointer) {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        out.append(contentsOf: [0, 0, 0, 0])
        var special: [(name: String, value: BSONValue)] = []
        var offset = 4
        var runStart = 4
        while let element = bytes.element(at: offset, end: bytes.documentEnd) {
            if element.keyLength > 0, bytes[element.keyStart] == UInt8(ascii: "_") {
                out.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[runStart..<offset]))
                runStart = element.valueEnd
                if let value = bytes.value(element) { special.append((element.key(in: bytes), value)) }
            }
            offset = element.valueEnd
        }
        out.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[runStart..<offset]))
        out.append(0)
        var fields = BSONDocument(trustedBytes: out)
        fields.patchLength()
        self.fields = fields
        self.special = special
    }
}
