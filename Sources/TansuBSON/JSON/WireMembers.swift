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
