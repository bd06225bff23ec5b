#if TansuSync
    import Tansu
    import TansuBSON

    /// The blobs that this process is writing, has written but not yet named in a document, or is reading.
    ///
    /// A database has one writing process, so that what no lease of it holds is in nobody's hands.
    final class BlobLeases: Sendable {
        private struct State {
            var held: [BSONValue: Int] = [:]
            /// What the sweep is about to remove. Its transaction may not be committed yet.
            var condemned: Set<BSONValue> = []
            /// The blobs that were not examined yet since all were listed.
            var unexamined: [BSONValue] = []
        }

        private let state = Locked(State())

        static func of(_ database: Database) -> BlobLeases {
            database.attachment(BlobLeases.self) { BlobLeases() }
        }

        /// Holds a blob, or the key of one that is being written.
        func acquire(_ name: BSONValue) -> BlobLease {
            state.withLock { $0.held[name, default: 0] += 1 }
            return BlobLease(self, name)
        }

        /// Holds a blob to read it; nil when it is being removed.
        func acquireToRead(_ name: BSONValue) -> BlobLease? {
            let isHeld = state.withLock { state in
                guard !state.condemned.contains(name) else { return false }
                state.held[name, default: 0] += 1
                return true
            }
            guard isHeld else { return nil }
            return BlobLease(self, name)
        }

        fileprivate func release(_ name: BSONValue) {
            state.withLock { state in
                guard let count = state.held[name] else { return }
                state.held[name] = count > 1 ? count - 1 : nil
            }
        }

        /// Marks a blob as being removed, unless somebody holds it.
        func condemn(_ name: BSONValue) -> Bool {
            state.withLock { state in
                guard state.held[name] == nil else { return false }
                state.condemned.insert(name)
                return true
            }
        }

        /// Some blobs that were not examined for the longest time.
        ///
        /// - Parameter list: Lists all of them.
        func nextToExamine(_ count: Int, _ list: () -> [BSONValue]) -> [BSONValue] {
            if state.withLock({ $0.unexamined.isEmpty }) {
                let all = list()
                state.withLock { $0.unexamined = all }
            }
            return state.withLock { state in
                let next = Array(state.unexamined.suffix(count))
                state.unexamined.removeLast(next.count)
                return next
            }
        }

        /// The removal is committed, or was undone.
        func absolve(_ names: [BSONValue]) {
            state.withLock { $0.condemned.subtract(names) }
        }
    }

    /// Keeps the sweep from removing a blob, until it is released or nobody has it any more.
    package final class BlobLease: Sendable {
        private let leases: BlobLeases
        private let name: BSONValue
        private let isHeld = Locked(true)

        fileprivate init(_ leases: BlobLeases, _ name: BSONValue) {
            self.leases = leases
            self.name = name
        }

        deinit { release() }

        /// Lets the sweep remove the blob, if no document names it.
        package func release() {
            let wasHeld = isHeld.withLock { isHeld in
                defer { isHeld = false }
                return isHeld
            }
            if wasHeld { leases.release(name) }
        }
    }
#endif
