#if TansuSync
    import TansuBSON

    extension RevisionTree {
        /// Merges the revisions that one `_bulk_docs` with `new_edits: false` has of the document: all or none.
        ///
        /// - Returns: What the merge of each did.
        /// - Throws: ``RevisionError`` when the tree would become too large; it is then unchanged.
        @discardableResult
        public mutating func push(
            _ pushed: [(path: RevisionPath, status: RevisionStatus)]
        ) throws(RevisionError) -> [MergeResult] {
            // One merge is atomic, and needs no copy.
            if pushed.count == 1 { return [try merge(pushed[0].path, status: pushed[0].status)] }
            var merged = self
            var results: [MergeResult] = []
            for (path, status) in pushed { results.append(try merged.merge(path, status: status)) }
            self = merged
            return results
        }
    }
#endif
