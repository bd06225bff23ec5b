#if TansuSync
    import TansuBSON

    /// What is known of a revision apart from its ancestors.
    public enum RevisionStatus: UInt8, Sendable, Hashable, CaseIterable {
        /// Only its name is known: it came as an ancestor of another revision, or its body was compacted away.
        case missing = 0
        /// It is a version of the document.
        case available = 1
        /// It is a tombstone: it removed the document.
        case deleted = 2

        /// Whether the revision itself was stored, not only its name.
        public var isStored: Bool { self != .missing }
    }
#endif
