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
        let old = try session.collectionInfo(collection)
        var holders = try session.referrers(to: collection)
        holders.removeAll { $0.name.utf8.elementsEqual(collection.utf8) }
        for holder in holders {
            var references = holder.references
            references.removeAll { $0.collection.utf8.elementsEqual(collection.utf8) }
            try setReferences(references, of: holder.name)
        }
        try body()
        if let old {
            if !old.references.isEmpty { try setReferences(old.references, of: collection) }
            if let timestamps = old.timestamps { try setTimestamps(timestamps, of: collection) }
        }
        for holder in holders { try setReferences(holder.references, of: holder.name) }
    }
}
