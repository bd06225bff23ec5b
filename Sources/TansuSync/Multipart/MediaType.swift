#if TansuSync
import TansuBSON

/// The value of a header with parameters, such as `multipart/mixed; boundary="x"` or `attachment; filename="a.txt"`.
package struct MediaType: Sendable, Hashable {
    /// The text before the first semicolon, in lower case.
    package let name: String
    private let parameters: [BytewiseText: String]

    /// Reads a header's value. What is malformed in the parameters is skipped.
    package init(_ text: String) {
        var reader = Reader(rest: Substring(text).utf8)
        name = reader.word().asciiLowercased
        var parameters: [BytewiseText: String] = [:]
        while reader.skipToParameter() {
            let key = BytewiseText(reader.word().asciiLowercased)
            guard reader.skip("=") else { continue }
            let value = reader.value()
            if !key.text.isEmpty, parameters[key] == nil { parameters[key] = value }
        }
        self.parameters = parameters
    }

    /// The parameter of a name in lower case.
    package subscript(parameter: String) -> String? { parameters[BytewiseText(parameter)] }

    /// Whether it is `multipart/…`.
    package var isMultipart: Bool { name.utf8.starts(with: "multipart/".utf8) }

    private struct Reader {
        var rest: Substring.UTF8View

        mutating func skipSpace() {
            while let byte = rest.first, byte == 0x20 || byte == 0x09 { rest.removeFirst() }
        }

        mutating func skip(_ character: UnicodeScalar) -> Bool {
            skipSpace()
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        mutating func skipToParameter() -> Bool {
            while let byte = rest.first {
                rest.removeFirst()
                if byte == UInt8(ascii: ";") { return true }
            }
            return false
        }

        mutating func word() -> String {
            skipSpace()
            let word = rest.prefix {
                $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") && $0 != 0x20 && $0 != 0x09
            }
            rest = rest[word.endIndex...]
            return String(Substring(word))
        }

        mutating func value() -> String {
            skipSpace()
            guard rest.first == UInt8(ascii: "\"") else {
                let value = rest.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
                rest = rest[value.endIndex...]
                return String(Substring(value))
            }
            rest.removeFirst()
            var text: [UInt8] = []
            while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                // A backslash quotes the next character.
                text.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
            }
            return String(decoding: text, as: UTF8.self)
        }
    }
}
#endif
