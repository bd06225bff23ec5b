// What is read in a transaction is tracked when the transaction asks for it.
extension EngineScope {
    /// Tracks that a document is looked up by its id.
    func track(_ id: BSONValue, in collection: String) {
        transaction?.reads?.includeDocument(id, in: collection)
    }

    /// Tracks that a query reads documents.
    func track(_ query: BSONDocument, _ hints: BSONDocument = [:], in collection: String) {
        guard let reads = transaction?.reads else { return }
        // A query that is an error reads nothing, and its call throws the error.
        reads.includeAll(of: (try? collections(readBy: query, hints, in: collection)) ?? [collection])
    }

    /// Tracks that the list of collections is read.
    func trackCatalog() {
        transaction?.reads?.includeCatalog()
    }
}
