#if TansuSync
    import CTansuPCRE2

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
#endif
