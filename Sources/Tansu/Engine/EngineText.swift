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
        var text = text
        return try text.withUTF8 { utf8 in
            try options.withUnsafeBytes { bytes in
                try withEngineBuffer { buffer in
                    try utf8.withMemoryRebound(to: CChar.self) { characters in
                        // The address of an empty text may be nil, which the engine takes for a mistake.
                        let start = characters.baseAddress
                        _ = try engineCall { error in
                            start.map { tansu_analyze($0, characters.count, tansu_document(bytes), &buffer, error) }
                                ?? tansu_analyze("", 0, tansu_document(bytes), &buffer, error)
                        }
                    }
                    return BSONDocument(trustedBytes: Array(buffer.bytes))
                }
            }
        }
    }
}
