import Tansu

// ConcurrencyAndTransactions.md: what it says of modules that are isolated to the main actor is tested in TansuMainActorTests.
private enum MainActorModule {
    nonisolated struct Note: Codable, Sendable, Identifiable {
        var id = ObjectID()
        var title: String
    }
}
