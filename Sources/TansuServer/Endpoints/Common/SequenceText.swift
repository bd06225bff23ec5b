#if TansuServer
    import TansuBSON
    import TansuSync

    /// Update sequences on the wire: `N-instance`, which clients take as opaque text.
    ///
    /// The instance differs from that of an earlier database of the name, whose sequences mean nothing any more.
    struct SequenceText: Sendable {
        let instance: String

        init(instance: String) {
            self.instance = String(instance.unicodeScalars.filter { $0 != "-" })
        }

        func callAsFunction(_ sequence: Int64) -> String { "\(sequence)-\(instance)" }

        /// The sequence after which a feed begins; 0 when the text is of another database.
        ///
        /// - Throws: ``HTTPFailure`` when the text is no sequence.
        func sequence(_ text: String) throws -> Int64 {
            // Some clients send JSON.
            let quoted = text.dropping(prefix: "\"").flatMap { $0.hasSuffix("\"") ? $0.prefixUntil("\"") : nil }
            let text = quoted ?? text
            if text == "0" { return 0 }
            let parts = text.parts(separatedBy: "-", maxSplits: 1)
            guard parts.count == 2, let number = Int64(parts[0]), number >= 0, !parts[1].isEmpty else {
                throw HTTPFailure.badRequest("Malformed sequence supplied in 'since' parameter.")
            }
            return parts[1] == instance ? number : 0
        }
    }
#endif
