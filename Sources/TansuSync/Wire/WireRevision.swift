#if TansuSync
    import TansuBSON

    /// A revision as a client names it.
    ///
    /// CouchDB takes texts that no revision here can have, such as `0-abc`, and then finds no document that has them.
    package enum WireRevision: Sendable, Hashable {
        /// A revision that a document can have.
        case revision(Revision)
        /// A text that CouchDB takes, and that is no revision of any document.
        case unknown(BytewiseText)

        /// Reads a revision as CouchDB does.
        ///
        /// - Throws: ``WireError`` when there is no number before a dash, or 32 characters that are not all hex digits after it.
        package init(_ text: String) throws(WireError) {
            do {
                self = .revision(try Revision(Substring(text)))
            } catch {
                guard Self.isTaken(text, error) else { throw .invalidRevision }
                self = .unknown(BytewiseText(text))
            }
        }

        /// Whether CouchDB takes a text that is no revision here.
        private static func isTaken(_ text: String, _ error: RevisionError) -> Bool {
            let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
            switch error.code {
            case .generationTooSmall: return parts.first?.isEmpty == false
            case .generationTooLarge, .hashTooLong: return true
            case .invalidHash: return parts.last?.count != 32
            default: return false
            }
        }

        /// The revision as the client wrote it, but for upper-case digits.
        package var text: String {
            switch self {
            case .revision(let revision): revision.description
            case .unknown(let text): text.text
            }
        }

        /// The revision, or nil when no document can have it.
        package var revision: Revision? {
            guard case .revision(let revision) = self else { return nil }
            return revision
        }
    }
#endif
