#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

/// A compiled schema of the engine.
///
/// `@unchecked Sendable`: it does not change, and the engine allows any number of threads in one.
final class EngineSchema: @unchecked Sendable {
    private let handle: OpaquePointer

    /// Compiles a schema. Throws `.invalidQuery`.
    init(_ schema: BSONDocument) throws {
        EnginePlatform.prepare()
        var handle: OpaquePointer?
        try schema.withUnsafeBytes { bytes in
            _ = try engineCall { tansu_schema_new(tansu_document(bytes), &handle, $0) }
        }
        guard let handle else { throw TansuError(.invalidState, "The engine returned no schema") }
        self.handle = handle
    }

    deinit {
        tansu_schema_free(handle)
    }

    /// The first violations of a document. Throws `.invalidQuery` when a pattern needs too many steps.
    ///
    /// - Parameter limit: How many at most; at least 1.
    func violations(of document: BSONDocument, limit: Int) throws -> [DocumentSchema.Violation] {
        let answer = try withEngineBuffer { buffer in
            try document.withUnsafeBytes { bytes in
                _ = try engineCall { tansu_schema_check(handle, tansu_document(bytes), UInt64(limit), &buffer, $0) }
            }
            return BSONDocument(trustedBytes: Array(buffer.bytes))
        }
        return answer["violations"]?.arrayValue?.compactMap(\.documentValue).map(DocumentSchema.Violation.init) ?? []
    }
}

extension DocumentSchema.Violation {
    /// What the engine says of one.
    fileprivate init(_ document: BSONDocument) {
        self.init(
            path: document["path"]?.stringValue ?? "", rule: document["rule"]?.stringValue ?? "",
            message: document["message"]?.stringValue ?? "")
    }
}
