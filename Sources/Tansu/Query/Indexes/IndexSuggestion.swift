/// An index that would have made a query faster.
struct IndexSuggestion {
    let collection: String
    let keys: [Database.IndexKey]
    /// The type of the collection's documents; `nil` when it is not known.
    let documentType: (any Any.Type)?

    /// Those that an explanation has: for the query's collection, and for those of its subqueries.
    static func all(
        _ explained: BSONDocument, in collection: String, of documentType: (any Any.Type)?
    ) -> [IndexSuggestion] {
        let own = explained["suggestion"]?.documentValue.map {
            IndexSuggestion(collection: collection, keys: Database.IndexKey.keys($0), documentType: documentType)
        }
        let subqueries = explained["subqueries"]?.arrayValue?.compactMap(\.documentValue) ?? []
        return (own.map { [$0] } ?? [])
            + subqueries.flatMap { all($0, in: $0["collection"]?.stringValue ?? "", of: nil) }
    }

    /// The line of Swift that creates it, with key paths where the documents have a type that has them.
    var line: String {
        let name = collection.debugDescription
        if let (type, keyPaths) = typed {
            let descending = keys.lastIndex { $0.direction == .descending }
            let directions = descending.map { keys[...$0].map(\.swift).joined(separator: ", ") }
            let arguments = keyPaths.joined(separator: ", ") + (directions.map { ", directions: [\($0)]" } ?? "")
            return "try db.collection(\(name), of: \(type).self).ensureIndex(on: \(arguments))"
        }
        let paths = keys.map { "\($0.path.debugDescription): \($0.swift)" }.joined(separator: ", ")
        return "try db.collection(\(name)).ensureIndex(on: [\(paths)])"
    }

    /// The name of the type and a key path for each key.
    private var typed: (type: String, keyPaths: [String])? {
        guard let documentType, let name = SwiftKeyPath.name(of: documentType) else { return nil }
        let keyPaths = keys.compactMap { SwiftKeyPath.text(ofPath: $0.path, in: documentType) }
        return keyPaths.count == keys.count ? (name, keyPaths) : nil
    }
}

extension Database.IndexKey {
    /// The direction in Swift.
    fileprivate var swift: String { direction == .descending ? ".descending" : ".ascending" }
}

extension Database.Collection: IndexSuggesting {
    static func indexLines(_ explained: BSONDocument, in collection: String) -> [String] {
        IndexSuggestion.all(explained, in: collection, of: Element.self).map(\.line)
    }
}
