#if TansuSync
import CTansuPCRE2
import TansuBSON

extension Mango {
    /// A regular expression over the bytes of a text, as CouchDB runs it.
    ///
    /// CouchDB does not ask for Unicode, so `.` matches one byte; a pattern that begins with `(*UTF8)` does. The
    /// work of one match is bounded.
    final class Pattern: @unchecked Sendable {
        let text: String
        // Nothing changes a compiled expression, so that threads can share it.
        private let code: OpaquePointer

        private static let maximumLength = 32_764
        private static let matchLimit: UInt32 = 5_000_000
        private static let depthLimit: UInt32 = 100_000
        private static let heapLimit: UInt32 = 20_000

        /// Compiles a pattern; nil when it is no valid expression or too long.
        init?(_ text: String) {
            var source = text
            // The spelling of the library that CouchDB uses.
            if let rest = source.dropping(prefix: "(*UTF8)") { source = "(*UTF)" + rest }
            guard source.utf8.count <= Self.maximumLength, let context = pcre2_compile_context_create_8(nil) else {
                return nil
            }
            defer { pcre2_compile_context_free_8(context) }
            pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_LF))
            pcre2_set_bsr_8(context, UInt32(PCRE2_BSR_UNICODE))
            if let tables = LatinTables.shared { pcre2_set_character_tables_8(context, tables.start) }
            var error: Int32 = 0
            var offset = 0
            let code = source.withUTF8 { bytes in
                // The library wants an address for an empty pattern as well.
                var none: UInt8 = 0
                return withUnsafePointer(to: &none) { none in
                    pcre2_compile_8(bytes.baseAddress ?? none, bytes.count, 0, &error, &offset, context)
                }
            }
            guard let code else { return nil }
            self.text = text
            self.code = code
        }

        deinit { pcre2_code_free_8(code) }

        /// Whether the expression matches somewhere in a text.
        func matches(_ subject: String) throws(QueryError) -> Bool {
            guard let data = pcre2_match_data_create_8(1, nil) else { throw Self.outOfMemory }
            defer { pcre2_match_data_free_8(data) }
            guard let context = pcre2_match_context_create_8(nil) else { throw Self.outOfMemory }
            defer { pcre2_match_context_free_8(context) }
            pcre2_set_match_limit_8(context, Self.matchLimit)
            pcre2_set_depth_limit_8(context, Self.depthLimit)
            pcre2_set_heap_limit_8(context, Self.heapLimit)
            var subject = subject
            let result = subject.withUTF8 { bytes in
                var none: UInt8 = 0
                return withUnsafePointer(to: &none) { none in
                    pcre2_match_8(code, bytes.baseAddress ?? none, bytes.count, 0, 0, data, context)
                }
            }
            switch result {
            case 0...: return true
            case PCRE2_ERROR_NOMATCH: return false
            case PCRE2_ERROR_NOMEMORY: throw Self.outOfMemory
            default:
                throw QueryError(
                    "regex_limit",
                    "The regular expression \"\(text)\" takes too many steps; write it without nested repetitions")
            }
        }

        private static var outOfMemory: QueryError {
            QueryError("internal_server_error", "There is no memory for a regular expression", status: 500)
        }
    }
}

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
