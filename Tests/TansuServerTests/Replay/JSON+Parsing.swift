#if TansuServer
import TansuBSON

extension JSON {
    /// The value that a text is; nil if it is no JSON.
    init?(_ bytes: some Sequence<UInt8>) {
        var parser = Parser(bytes: Array(bytes))
        guard let value = parser.value(), parser.isAtEnd() else { return nil }
        self = value
    }

    private struct Parser {
        let bytes: [UInt8]
        var position = 0

        var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func isAtEnd() -> Bool {
            skipSpace()
            return position == bytes.count
        }

        mutating func skipSpace() {
            while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
        }

        mutating func take(_ text: String) -> Bool {
            guard bytes[position...].starts(with: text.utf8) else { return false }
            position += text.utf8.count
            return true
        }

        mutating func value() -> JSON? {
            skipSpace()
            switch next {
            case UInt8(ascii: "{"): return object()
            case UInt8(ascii: "["): return array()
            case UInt8(ascii: "\""): return string().map { .string($0) }
            case UInt8(ascii: "t"): return take("true") ? .bool(true) : nil
            case UInt8(ascii: "f"): return take("false") ? .bool(false) : nil
            case UInt8(ascii: "n"): return take("null") ? .null : nil
            default: return number()
            }
        }

        mutating func number() -> JSON? {
            let start = position
            while let byte = next, "+-.0123456789Ee".utf8.contains(byte) { position += 1 }
            let text = String(decoding: bytes[start..<position], as: UTF8.self)
            return Double(text) == nil ? nil : .number(text)
        }

        mutating func array() -> JSON? {
            position += 1
            var elements: [JSON] = []
            skipSpace()
            if take("]") { return .array([]) }
            while let element = value() {
                elements.append(element)
                skipSpace()
                if take("]") { return .array(elements) }
                guard take(",") else { return nil }
            }
            return nil
        }

        mutating func object() -> JSON? {
            position += 1
            var members: [Member] = []
            skipSpace()
            if take("}") { return .object([]) }
            while true {
                skipSpace()
                guard next == UInt8(ascii: "\""), let name = string() else { return nil }
                skipSpace()
                guard take(":"), let member = value() else { return nil }
                members.append(Member(name: name, value: member))
                skipSpace()
                if take("}") { return .object(members) }
                guard take(",") else { return nil }
            }
        }

        mutating func string() -> String? {
            position += 1
            var units: [UInt8] = []
            while let byte = next {
                position += 1
                switch byte {
                case UInt8(ascii: "\""): return String(utf8: units)
                case UInt8(ascii: "\\"):
                    guard let scalar = escaped() else { return nil }
                    units += Array(String(scalar).utf8)
                case 0..<0x20: return nil
                default: units.append(byte)
                }
            }
            return nil
        }

        mutating func escaped() -> Unicode.Scalar? {
            guard let byte = next else { return nil }
            position += 1
            switch byte {
            case UInt8(ascii: "n"): return "\n"
            case UInt8(ascii: "t"): return "\t"
            case UInt8(ascii: "r"): return "\r"
            case UInt8(ascii: "b"): return "\u{8}"
            case UInt8(ascii: "f"): return "\u{C}"
            case UInt8(ascii: "u"): break
            default: return Unicode.Scalar(byte)
            }
            guard let unit = unit() else { return nil }
            guard (0xD800..<0xDC00).contains(unit), take("\\u"), let low = self.unit(),
                (0xDC00..<0xE000).contains(low)
            else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
            return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        }

        mutating func unit() -> UInt32? {
            guard position + 4 <= bytes.count else { return nil }
            defer { position += 4 }
            return UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
        }
    }
}
#endif
