#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif
import TansuBSON

/// The analysis of texts.
enum EngineText {
    /// What `tansu_analyze()` answers. Throws `.invalidQuery`, `.unsupported`, `.tooLarge`.
    static func analyze(_ text: String, options: BSONDocument) throws -> BSONDocument {
        try options.withUnsafeBytes { options in
            try answer(to: text) { tansu_analyze($0, $1, tansu_document(options), $2, $3) }
        }
    }

    /// What `tansu_highlight()` answers. Throws as `analyze`.
    static func highlight(_ text: String, search: BSONDocument, options: BSONDocument) throws -> BSONDocument {
        try withBytes(search, options) { search, options in
            try answer(to: text) { tansu_highlight($0, $1, tansu_document(search), tansu_document(options), $2, $3) }
        }
    }

    /// The document that a call returns for a text.
    private static func answer(
        to text: String,
        _ call: (UnsafePointer<CChar>, Int, UnsafeMutablePointer<tansu_buffer>, UnsafeMutablePointer<tansu_error>)
            -> tansu_status
    ) throws -> BSONDocument {
        try withCharacters(of: text) { characters, count in
            try withEngineBuffer { buffer in
                _ = try engineCall { call(characters, count, &buffer, $0) }
                return BSONDocument(trustedBytes: Array(buffer.bytes))
            }
        }
    }
}

/// Calls the closure with the bytes of a text, which may have NUL among them, and their number.
private func withCharacters<Result>(
    of text: String, _ body: (UnsafePointer<CChar>, Int) throws -> Result
) rethrows -> Result {
    var text = text
    return try text.withUTF8 { utf8 in
        try utf8.withMemoryRebound(to: CChar.self) { characters in
            // The address of an empty text may be nil, which the engine takes for a mistake.
            guard let start = characters.baseAddress else { return try body("", 0) }
            return try body(start, characters.count)
        }
    }
}

// MARK: - Words of an index

extension EngineScope {
    /// What `tansu_complete()` answers.
    func completions(of text: String, limit: Int, in collection: String) throws -> BSONDocument {
        try words(of: text, limit, in: collection, tansu_complete)
    }

    /// What `tansu_suggest()` answers.
    func suggestions(for text: String, limit: Int, in collection: String) throws -> BSONDocument {
        try words(of: text, limit, in: collection, tansu_suggest)
    }

    private func words(
        of text: String, _ limit: Int, in collection: String,
        _ function: (
            OpaquePointer?, OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int, tansu_document,
            UnsafeMutablePointer<tansu_buffer>?, UnsafeMutablePointer<tansu_error>?
        ) -> tansu_status
    ) throws -> BSONDocument {
        track([:], in: collection)
        let options: BSONDocument = ["limit": BSONValue(limit)]
        return try options.withUnsafeBytes { options in
            try withCharacters(of: text) { characters, count in
                try document { function($0, $1, collection, characters, count, tansu_document(options), $2, $3) }
            }
        }
    }
}
