#if TansuServer
    import TansuBSON

    /// Decodes `%XX` and `+` (a space).
    ///
    /// - Throws: ``HTTPFailure`` when a `%` is without two hex digits, or the bytes are not UTF-8.
    func percentDecoded(_ text: Substring.UTF8View) throws -> String {
        guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return try validated(Array(text))
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                    throw HTTPFailure(
                        .badRequest, "invalid_url_encoding", "The URL has a % that two hex digits do not follow")
                }
                bytes.append(high << 4 | low)
            default:
                bytes.append(byte)
            }
        }
        return try validated(bytes)
    }

    private func validated(_ bytes: [UInt8]) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw HTTPFailure.badRequest("The URL is not valid UTF-8")
        }
        return text
    }

    func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
#endif
