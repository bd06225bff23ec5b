#if TansuSync
    import TansuBSON

    /// How far a replication is, in the form of CouchDB's `_local` documents. Both sides keep one, because either can be
    /// restored from a backup: a replication goes on from what both have.
    package struct ReplicationCheckpoint: Sendable, Hashable {
        /// One run of a replication.
        package struct Entry: Sendable, Hashable {
            var id: String
            /// The sequence up to which it was recorded.
            var recorded: PeerSequence
            package var fields: BSONDocument
        }

        /// The greatest number of sessions that are kept.
        static let sessionLimit = 50

        package var session: String
        package var sequence: PeerSequence
        /// The runs, the newest first.
        package var history: [Entry]

        init(session: String, sequence: PeerSequence, history: [Entry]) {
            self.session = session
            self.sequence = sequence
            self.history = Array(history.prefix(Self.sessionLimit))
        }

        /// Reads the fields of a document; nil when they are no checkpoint.
        package init?(_ fields: BSONDocument) {
            guard let session = fields["session_id"]?.stringValue, let sequence = fields["source_last_seq"],
                case .array(let entries)? = fields["history"]
            else { return nil }
            let history = entries.compactMap { entry -> Entry? in
                guard let fields = entry.documentValue, let id = fields["session_id"]?.stringValue,
                    let recorded = fields["recorded_seq"]
                else { return nil }
                return Entry(id: id, recorded: PeerSequence(recorded), fields: fields)
            }
            self.init(session: session, sequence: PeerSequence(sequence), history: history)
        }

        /// The fields of the document.
        package var fields: BSONDocument {
            [
                "session_id": .string(session), "source_last_seq": sequence.json, "replication_id_version": 4,
                "history": .array(BSONArray(history.map { .document($0.fields) })),
            ]
        }

        /// The sequence up to which both sides have everything; nil for the beginning.
        static func common(_ source: ReplicationCheckpoint?, _ target: ReplicationCheckpoint?) -> PeerSequence? {
            guard let source, let target else { return nil }
            if source.session == target.session {
                return lower(source.sequence, target.sequence)
            }
            for session in source.history {
                guard let other = target.history.first(where: { $0.id == session.id }) else { continue }
                return lower(session.recorded, other.recorded)
            }
            return nil
        }

        /// The lower of what both recorded of one session: one side may have been restored in the middle of it.
        private static func lower(_ a: PeerSequence, _ b: PeerSequence) -> PeerSequence? {
            if a == b { return a }
            guard let first = a.number, let second = b.number else { return nil }
            return first < second ? a : b
        }
    }
#endif
