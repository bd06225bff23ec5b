extension Database.Transaction {
    /// Runs a closure that drops a collection and puts another one in its stead.
    ///
    /// To those who refer to it, nothing was removed: delete rules are not applied, and references to documents that the new
    /// collection does not have dangle. The new one gets the references and timestamps of the old one.
    ///
    /// - Parameters:
    ///   - collection: The collection's name.
    ///   - body: Drops it, and creates it or renames another one to it.
    package func replacing(_ collection: String, _ body: () throws -> Void) throws {
        let all = try collections()
        var holders: [Database.CollectionInfo] = []
        for info in all where info.name != collection {
            var references = info.references
            references.removeAll { $0.collection == collection }
            guard references.count < info.references.count else { continue }
            try setReferences(references, of: info.name)
            holders.append(info)
        }
        try body()
        if let old = all.first(where: { $0.name == collection }) {
            if !old.references.isEmpty { try setReferences(old.references, of: collection) }
            if let timestamps = old.timestamps { try setTimestamps(timestamps, of: collection) }
        }
        for holder in holders { try setReferences(holder.references, of: holder.name) }
    }
}
