import Foundation

/// Finds where in a document the property of a key path is stored, and caches it.
///
/// A key path has no information about Codable. So a few sample values of the type are generated and encoded as the
/// collection would encode them; the property is stored in the field that equals what the key path reads, in every
/// sample. When there is no such field, or more than one, it is an error.
///
/// `@unchecked Sendable`: the cache is accessed under the lock only, and has key paths to stored properties, which hold
/// no values.
final class StoredFieldNames: @unchecked Sendable {
    static let shared = StoredFieldNames()

    private struct Key: Hashable {
        let keyPath: AnyKeyPath
        let isTop: Bool
    }

    private let lock = NSLock()
    private var known: [Key: [String]] = [:]

    /// The path of a property as keys, the outermost first.
    ///
    /// - Parameters:
    ///   - isTop: Whether the root is a whole document, in which a property `id` is stored as `_id`.
    /// - Throws: ``TansuError`` with `.invalidQuery`.
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
        try rejectComputed(keyPath)
        return try find(keyPath, codable, encodable, isTop)
    }

    /// Throws for a computed property: it may equal a stored one in every sample, but differ in others.
    private func rejectComputed<Root, Value>(_ keyPath: KeyPath<Root, Value>) throws {
        // Only in a class can a stored property have accessors, or no offset.
        guard !(Root.self is AnyObject.Type), MemoryLayout<Root>.offset(of: keyPath) == nil else { return }
        guard Value.self is any OptionalValue.Type, !"\(keyPath)".contains("<computed") else {
            throw namingError(
                keyPath, "it is computed or has observers, or its path leads through such a property")
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
                let value = try SampleGenerator(seed: UInt64(round), isWide: isWide).make(stored)
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

extension StoredFieldNames {
    /// The keys of a document that a type reads when it is decoded.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func keysRead<Value: Codable>(by type: Value.Type) throws -> Set<String> {
        var keys: Set<String> = []
        var made = 0
        var failure: (any Error)?
        for round in 0..<NameSearch.rounds {
            let generator = SampleGenerator(seed: UInt64(round), isWide: false)
            do {
                _ = try generator.make(type)
                made += 1
            } catch {
                failure = error
            }
            guard let read = generator.keysRead else {
                throw Self.projectionError(type, "it reads the list of all keys")
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
            "The fields that type \"\(type)\" reads are not known: \(reason); name them with fields(_:) and use"
                + " decoded(as:)",
            context: "\(type)")
    }
}

/// The fields in which a property may be stored, narrowed down by each sample.
struct NameSearch {
    static var rounds: Int { 32 }
    private static var fewest: Int { 8 }
    private static var deepest: Int { 16 }

    private var candidates: Set<[String]>?
    private var seen = 0
    private var seenWithValue = 0
    var failure: (any Error)?

    /// Whether one candidate is left, after enough samples.
    var isSettled: Bool { seenWithValue >= Self.fewest && candidates?.count == 1 }

    /// Keeps the candidates that hold a value in a document; a missing field counts as null.
    mutating func narrow(by document: BSONDocument, holding value: BSONValue) {
        var content: [[String]: BSONValue] = [:]
        Self.collect(document, below: [], into: &content)
        seen += 1
        if value.isNull {
            candidates = candidates?.filter { (content[$0] ?? .null).isNull }
            return
        }
        seenWithValue += 1
        let equal = Set(content.filter { $0.value == value }.keys)
        candidates = candidates?.intersection(equal) ?? equal
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

    /// The only candidate; the closure makes the error from a reason.
    func result(_ unresolved: (String) -> TansuError) throws -> [String] {
        if seen < Self.fewest {
            throw unresolved("no sample values of its type could be decoded (\(failure.map { "\($0)" } ?? "none"))")
        }
        guard seenWithValue > 1, let candidates else { throw unresolved("it was nil in every sample value") }
        guard let field = candidates.first else { throw unresolved("no field of the document holds what it reads") }
        guard candidates.count == 1 else {
            let names = candidates.map { $0.joined(separator: ".") }.sorted().joined(separator: ", ")
            throw unresolved("several fields hold what it reads: \(names)")
        }
        return field
    }
}

/// The error for a property whose stored name is unknown.
private func namingError(_ keyPath: AnyKeyPath, _ reason: String) -> TansuError {
    let root = type(of: keyPath).rootType
    return TansuError(
        .invalidQuery,
        "The stored name of a property is not known: \(reason); name it in a StoredFieldNaming conformance of"
            + " \"\(root)\", or write the query as a document literal", context: "\(keyPath)")
}
