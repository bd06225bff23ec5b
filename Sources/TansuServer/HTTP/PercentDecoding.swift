#if TansuServer
    import TansuBSON

    /// Decodes `%XX` and `+` (a space) as CouchDB does in paths and queries: a `%` without two hex digits stays as it is.
    ///
    /// - Throws: ``HTTPFailure`` when the bytes are not UTF-8.
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
                let pair = rest.prefix(2)
                if pair.count == 2, let high = hexValue(pair[pair.startIndex]),
                    let low = hexValue(pair[pair.index(after: pair.startIndex)])
                {
                    bytes.append(high << 4 | low)
                    rest.removeFirst(2)
                } else {
                    bytes.append(byte)
                }
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
