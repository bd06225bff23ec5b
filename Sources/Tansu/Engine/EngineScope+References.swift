import CTansu

/// What a collection's references at a path are to, and what happens when that is removed.
package struct StoredReference: Sendable, Hashable {
    /// The path, through arrays and documents.
    package let path: String
    /// The collection of the documents that are referred to.
    package let target: String
    /// The name of the delete rule.
    package let rule: String

    package init(path: String, target: String, rule: String) {
        self.path = path
        self.target = target
        self.rule = rule
    }
}

extension EngineScope {
    /// The references of a collection.
    func references(of collection: String) throws -> [StoredReference] {
        []
    }

    /// Sets all references of a collection.
    func setReferences(_ references: [StoredReference], of collection: String) throws {
    }
}

extension Database.Transaction {
    /// The references of a collection.
    package func storedReferences(of collection: String) throws -> [StoredReference] {
        try session.engine.references(of: collection)
    }

    /// Sets all references of a collection.
    package func setStoredReferences(_ references: [StoredReference], of collection: String) throws {
        try session.engine.setReferences(references, of: collection)
    }
}
