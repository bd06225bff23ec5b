#if TansuSync
    import CTansuPCRE2
    import TansuBSON

    /// PCRE2's tables of character classes for ISO 8859-1, which Erlang builds into its regular expressions.
    ///
    /// So `\w` and `\b` take each byte of UTF-8 as a Latin character: after the `f` of "café" there is no boundary.
    enum LatinTables {
        // Where the parts of the tables begin, and their size, in every version of PCRE2.
        private static let size = 1088
        private static let lowerCase = 0
        private static let flippedCase = 256
        private static let classes = 512
        private static let types = 832

        /// The tables, made once; nil when this version of PCRE2 has others, and the default tables have to do.
        static let shared: Tables? = make()

        /// Tables that nothing changes and nothing frees.
        struct Tables: @unchecked Sendable {
            let start: UnsafePointer<UInt8>
        }

        private static func make() -> Tables? {
            var length: UInt32 = 0
            guard pcre2_config_8(UInt32(PCRE2_CONFIG_TABLES_LENGTH), &length) == 0, length == size,
                let ascii = pcre2_maketables_8(nil)
            else { return nil }
            defer { pcre2_maketables_free_8(nil, ascii) }
            let tables = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
            tables.initialize(from: ascii, count: size)
            for character in 0x80...0xFF { set(character, in: tables) }
            return Tables(start: UnsafePointer(tables))
        }

        private static func set(_ character: Int, in tables: UnsafeMutablePointer<UInt8>) {
            let isLetter = character >= 0xC0 && character != 0xD7 && character != 0xF7
            let isUpper = isLetter && character <= 0xDE
            let isLower = (isLetter && character >= 0xDF) || character == 0xB5
            // The signs for ordinals.
            let isWord = isLetter || character == 0xAA || character == 0xB5 || character == 0xBA
            let hasUpper = isLower && character >= 0xE0 && character != 0xFF
            tables[lowerCase + character] = UInt8(isUpper ? character + 0x20 : character)
            tables[flippedCase + character] =
                UInt8(isUpper ? character + 0x20 : (hasUpper ? character - 0x20 : character))
            tables[types + character] = isWord ? tables[types + Int(UInt8(ascii: isLower ? "z" : "Z"))] : 0
            let isPrinted = character >= 0xA0
            // In the order of the tables.
            let members = [
                false, false, false, isUpper, isLower, isWord, isPrinted, isPrinted, isPrinted && !isWord, !isPrinted,
            ]
            for (number, isMember) in members.enumerated() {
                let byte = classes + 32 * number + character / 8
                let bit = UInt8(1 << (character % 8))
                tables[byte] = isMember ? tables[byte] | bit : tables[byte] & ~bit
            }
        }
    }
#endif
