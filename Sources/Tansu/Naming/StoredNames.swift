import Foundation

/// Finds where in a document the property of a key path is stored, and remembers it.
///
/// A key path tells nothing about Codable. So a few values of the type are made up (see ``Probe``), each is encoded
/// as the collection would, and the place is the one whose content equals what the key path reads, in every value.
/// It is found or it is an error; what cannot be told apart is never guessed.
///
/// `@unchecked Sendable`: the memory is touched under the lock only, and only holds key paths to stored properties,
/// which carry no values.
final class StoredNames: @unchecked Sendable {
    static let shared = StoredNames()

    private struct Key: Hashable {
        let keyPath: AnyKeyPath
        let isTop: Bool
    }

    private let lock = NSLock()
    private var known: [Key: [String]] = [:]

    /// The keys that lead to a property, from the outermost.
    ///
    /// - Parameters:
    ///   - isTop: Whether the root is a whole document, in which a property `id` is stored as `_id`.
    /// - Throws: ``TansuError`` with `.invalidQuery`, which says how to name the property.
    func keys<Root, Value>(of keyPath: KeyPath<Root, Value>, isTop: Bool) throws -> [String] {
        if let named = Root.self as? any StoredFieldNaming.Type {
            if let name = named.storedName(of: keyPath) { return [name] }
            throw namingError(keyPath, "\(Root.self) does not list it in storedFieldNames")
        }
        let key = Key(keyPath: keyPath, isTop: isTop)
        if let keys = lock.withLock({ known[key] }) { return keys }
        let keys = try find(keyPath, isTop)
        lock.withLock { known[key] = keys }
        return keys
    }

    private func find<Root, Value>(_ keyPath: KeyPath<Root, Value>, _ isTop: Bool) throws -> [String] {
        guard let codable = Root.self as? any Codable.Type else {
            throw namingError(keyPath, "\(Root.self) is not Codable")
        }
        guard let encodable = Value.self as? any Encodable.Type else {
            throw namingError(keyPath, "its type \(Value.self) is not Encodable")
        }
        try refuseComputed(keyPath)
        return try find(keyPath, codable, encodable, isTop)
    }

    /// A computed property may equal a stored one in every value that is tried and yet be another thing.
    private func refuseComputed<Root, Value>(_ keyPath: KeyPath<Root, Value>) throws {
        // Only of a class can a stored property be behind an accessor, or have no offset of its own.
        guard !(Root.self is AnyObject.Type), MemoryLayout<Root>.offset(of: keyPath) == nil else { return }
        guard Value.self is any OptionalValue.Type, !"\(keyPath)".contains("<computed") else {
            throw namingError(
                keyPath, "it is computed or observed, or leads through something that is")
        }
    }

    private func find<Root, Value, Stored: Codable, Read: Encodable>(
        _ keyPath: KeyPath<Root, Value>, _ stored: Stored.Type, _ read: Read.Type, _ isTop: Bool
    ) throws -> [String] {
        let encoder = QueryCoding.encoder
        let isWide = Root.self is AnyObject.Type
        var search = NameSearch()
        for round in 0..<NameSearch.rounds {
            do {
                let value = try Probe(seed: UInt64(round), isWide: isWide).make(stored)
                guard let root = value as? Root, let property = root[keyPath: keyPath] as? Read else { continue }
                let document =
                    isTop ? try encoder.encode(value) : try encoder.encodeValue(value).documentValue ?? [:]
                search.narrow(by: document, holding: try encoder.encodeValue(property))
            } catch {
                search.failure = error
            }
            // Values of one byte are often equal by chance.
            if !isWide && MemoryLayout<Value>.size > 1 && search.isSettled { break }
        }
        return try search.result { namingError(keyPath, $0) }
    }
}

extension StoredNames {
    /// The keys of a document that a type reads when it is decoded.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func keysRead<Value: Codable>(by type: Value.Type) throws -> Set<String> {
        var keys: Set<String> = []
        var made = 0
        var failure: (any Error)?
        for round in 0..<NameSearch.rounds {
            let probe = Probe(seed: UInt64(round), isWide: false)
            do {
                _ = try probe.make(type)
                made += 1
            } catch {
                failure = error
            }
            guard let read = probe.keysRead else {
                throw Self.projectionError(type, "it asks the document which fields there are")
            }
            keys.formUnion(read)
        }
        guard made > 0, !keys.isEmpty else {
            throw Self.projectionError(type, failure.map { "\($0)" } ?? "it reads no field")
        }
        return keys
    }

    private static func projectionError(_ type: any Any.Type, _ reason: String) -> TansuError {
        TansuError(
            .invalidQuery,
            "the fields that a type reads are not known: \(reason). Name them with fields(_:) and use decoded(as:).",
            context: "\(type)")
    }
}

/// What is left of the places where a property may be stored.
struct NameSearch {
    static var rounds: Int { 32 }
    private static var fewest: Int { 8 }
    private static var deepest: Int { 16 }

    private var places: Set<[String]>?
    private var seen = 0
    private var seenWithValue = 0
    var failure: (any Error)?

    /// Whether one place is left, after enough values that are all different.
    var isSettled: Bool { seenWithValue >= Self.fewest && places?.count == 1 }

    /// Leaves the places of a document that hold a value; null is what is missing.
    mutating func narrow(by document: BSONDocument, holding value: BSONValue) {
        var content: [[String]: BSONValue] = [:]
        Self.collect(document, below: [], into: &content)
        seen += 1
        if value.isNull {
            places = places?.filter { (content[$0] ?? .null).isNull }
            return
        }
        seenWithValue += 1
        let equal = Set(content.filter { $0.value == value }.keys)
        places = places?.intersection(equal) ?? equal
    }

    private static func collect(
        _ document: BSONDocument, below path: [String], into content: inout [[String]: BSONValue]
    ) {
        for (key, value) in document {
            content[path + [key]] = value
            if let inner = value.documentValue, path.count < deepest {
                collect(inner, below: path + [key], into: &content)
            }
        }
    }

    /// The one place; the closure makes an error of a reason.
    func result(_ error: (String) -> TansuError) throws -> [String] {
        if seen < Self.fewest {
            throw error("no values of its type could be made up to find it with (\(failure.map { "\($0)" } ?? "none"))")
        }
        guard seenWithValue > 1, let places else { throw error("it was nil in every value that was made up") }
        guard let place = places.first else { throw error("no field of the document holds what it reads") }
        guard places.count == 1 else {
            let names = places.map { $0.joined(separator: ".") }.sorted().joined(separator: ", ")
            throw error("several fields hold what it reads: \(names)")
        }
        return place
    }
}

/// The error that tells how to name a property.
private func namingError(_ keyPath: AnyKeyPath, _ reason: String) -> TansuError {
    let root = type(of: keyPath).rootType
    return TansuError(
        .invalidQuery,
        "the stored name of a property is not known: \(reason). Name it in a StoredFieldNaming conformance of \(root), "
            + "or write the query as a document literal.", context: "\(keyPath)")
}
