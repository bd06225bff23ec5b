/// Conversion between bytes and hexadecimal text.
enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var pending: UInt8?
        for digit in text.utf8 {
            guard let value = value(digit) else { return nil }
            if let high = pending {
                bytes.append(high << 4 | value)
                pending = nil
            } else {
                pending = value
            }
        }
        return pending == nil ? bytes : nil
    }
}
