#if TansuSync
    /// Regular expressions that test the bytes of text, as CouchDB runs them. They say exactly what the query language does, while
    /// comparisons of Mango follow the collation.
    enum BytePattern {
        /// The greatest number of bytes of text in a pattern.
        static let limit = 1_000
        /// The greatest number of bytes that a range looks at: each one is a group in the one before.
        static let rangeLimit = 24

        static func equal(_ text: String) -> String { "\\A\(literal(text))\\z" }
        static func beginning(_ text: String) -> String { "\\A\(literal(text))" }
        static func ending(_ text: String) -> String { "\(literal(text))\\z" }
        static func containing(_ text: String) -> String { literal(text) }

        /// Text whose bytes are greater than others, or equal to them as well.
        static func greater(than bytes: [UInt8], orEqual: Bool) -> String {
            var pattern = orEqual ? "" : "[\\x00-\\xFF]"
            for byte in bytes.reversed() {
                let greater = byte < 0xFF ? "[\(hex(byte + 1))-\\xFF]|" : ""
                pattern = "(?:\(greater)\(hex(byte))\(pattern))"
            }
            return "\\A" + pattern
        }

        /// Text whose bytes are less than others, or equal to them as well.
        static func less(than bytes: [UInt8], orEqual: Bool) -> String {
            // Without a byte to compare, only the end is left.
            var pattern = orEqual ? "\\z" : "(?!)"
            for byte in bytes.reversed() {
                let less = byte > 0 ? "[\\x00-\(hex(byte - 1))]|" : ""
                pattern = "(?:\\z|\(less)\(hex(byte))\(pattern))"
            }
            return "\\A" + pattern
        }

        private static func literal(_ text: String) -> String {
            text.utf8.reduce(into: "") { pattern, byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    pattern.unicodeScalars.append(Unicode.Scalar(byte))
                default: pattern += hex(byte)
                }
            }
        }

        private static func hex(_ byte: UInt8) -> String {
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "\\x0\(digits)" : "\\x\(digits)"
        }
    }
#endif
