#if TansuSync
    import TansuBSON

    extension RevisionTree {
        /// What a merge did.
        public enum MergeResult: String, Sendable, Hashable {
            /// The path extends a leaf, or is the first of the tree.
            case newLeaf
            /// The path begins a new branch: a conflict.
            case newBranch
            /// A revision of which only the name was known is now stored.
            case filledInternalNode
            /// The revision was known. Now more of its ancestors are.
            case newAncestors
            /// Everything was known.
            case nothingNew
        }

        /// Merges a revision with its ancestors.
        ///
        /// The path is grafted on its newest revision that the tree has. Ancestors that the tree does not have become missing
        /// nodes. Without a common revision the path becomes a tree of its own.
        ///
        /// When the tree knows another parent of a revision than the path, the tree's one stays, and the rest of the path is
        /// ignored.
        ///
        /// - Throws: ``RevisionError`` when the tree would become too large; it is then unchanged.
        @discardableResult
        public mutating func merge(
            _ path: RevisionPath, status: RevisionStatus = .available
        ) throws(RevisionError) -> MergeResult {
            let known = indexes(of: path)
            let missingCount = known.count { $0 == Self.none }
            guard count + missingCount <= Self.maximumCount else {
                throw RevisionError(
                    .treeTooLarge, "The document would have more than \(Self.maximumCount) revisions")
            }
            let graft = known.first { $0 != Self.none }
            let extendsLeaf = graft.map { nodes[Int($0)].childCount == 0 } ?? isEmpty
            let isNew = known[0] == Self.none
            let isChanged = graftNodes(of: path, known: known, status: status)
            if isNew { return extendsLeaf ? .newLeaf : .newBranch }
            if status.isStored, nodes[Int(known[0])].status == .missing {
                setStatus(status, at: known[0])
                return .filledInternalNode
            }
            return isChanged ? .newAncestors : .nothingNew
        }

        /// The nodes of a path, newest first; ``none`` for those that the tree does not have. It ends before the first
        /// revision that contradicts the tree.
        private func indexes(of path: RevisionPath) -> [Int32] {
            var indexes: [Int32] = []
            indexes.reserveCapacity(path.count)
            var child = Self.none
            for age in 0..<path.count {
                let parent = child == Self.none ? Self.none : nodes[Int(child)].parent
                if parent != Self.none {
                    guard nodes[Int(parent)].hash == path.hashes[age] else { break }
                    child = parent
                } else {
                    child = index(generation: path.generation - age, hash: path.hashes[age]) ?? Self.none
                }
                indexes.append(child)
            }
            return indexes
        }

        /// Adds the nodes of a path that the tree does not have, and links those that it has.
        ///
        /// - Returns: Whether the tree changed.
        private mutating func graftNodes(of path: RevisionPath, known: [Int32], status: RevisionStatus) -> Bool {
            var indexes = known
            var added: [Node] = []
            for age in indexes.indices.reversed() where indexes[age] == Self.none {
                indexes[age] = Int32(count + added.count)
                added.append(
                    Node(
                        generation: path.generation - age, hash: path.hashes[age], status: age == 0 ? status : .missing,
                        parent: Self.none))
            }
            add(added)
            var isChanged = !added.isEmpty
            noteJoins(of: known, tip: indexes[0])
            for age in indexes.indices.dropLast() where nodes[Int(indexes[age])].parent == Self.none {
                link(indexes[age], to: indexes[age + 1])
                isChanged = true
            }
            if isChanged { updateLeaves(adding: known[0] == Self.none ? indexes[0] : nil) }
            return isChanged
        }

        /// Notes where a path is about to join trees, for the next stemming.
        private mutating func noteJoins(of known: [Int32], tip: Int32) {
            guard let oldest = known.lastIndex(where: { $0 != Self.none }) else { return }
            var newestShared = Self.none
            for age in 0..<oldest {
                guard known[age] != Self.none else {
                    newestShared = Self.none
                    continue
                }
                if newestShared == Self.none { newestShared = known[age] }
                if nodes[Int(known[age])].parent == Self.none {
                    let wasLeaf = nodes[Int(newestShared)].childCount == 0
                    note(Join(tip: tip, newestShared: newestShared, wasLeaf: wasLeaf, formerRoot: known[age]))
                    newestShared = Self.none
                }
            }
        }
    }
#endif
