#if TansuServer
    import Crypto
    import Foundation

    /// Quoted entity tags.
    enum EntityTag {
        /// That of a document.
        static func of(revision: some CustomStringConvertible) -> String { "\"\(revision)\"" }

        /// That of anything else: a digest of what determines the answer.
        static func of(_ parts: String...) -> String { "\"" + digest(parts.joined(separator: "\0")) + "\"" }

        /// 32 hex digits that stand for a text.
        static func digest(_ text: String) -> String {
            hex(Array(Insecure.MD5.hash(data: Data(text.utf8))))
        }
    }
#endif
