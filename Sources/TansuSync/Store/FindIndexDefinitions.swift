#if TansuSync
    import TansuBSON

    /// The indexes of the design documents that were read last, so that not each query reads their definitions.
    final class FindIndexDefinitions: Sendable {
        private let state = Locked<(revisions: [String], indexes: [Mango.Index])>(([], []))

        /// Those of design documents with these revisions and ids, if they were read last.
        func indexes(of revisions: [String]) -> [Mango.Index]? {
            state.withLock { $0.revisions == revisions ? $0.indexes : nil }
        }

        func note(_ indexes: [Mango.Index], of revisions: [String]) {
            state.withLock { $0 = (revisions, indexes) }
        }
    }
#endif
