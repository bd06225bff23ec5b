import Foundation
import TansuBSON

/// What the calls in a read transaction have read: a change of anything else does not change their results.
///
/// `@unchecked Sendable`: everything that changes is accessed under the lock only.
final class ReadSet: @unchecked Sendable {
    /// What was read of a collection.
    private enum Part {
        case documents(Set<BSONValue>)
        case all
    }

    /// More documents of a collection count as all of it, so that memory is bounded.
    private static let mostDocuments = 1024

    private let lock = NSLock()
    private var parts: [BytewiseText: Part] = [:]
    private var hasReadCatalog = false

    /// A document was looked up by its id.
    func includeDocument(_ id: BSONValue, in collection: String) {
        let collection = BytewiseText(collection)
        lock.withLock {
            guard let key = id.comparable else {
                parts[collection] = .all
                return
            }
            switch parts[collection] {
            case .all: break
            case .documents(var ids):
                parts[collection] = nil  // so that the set is not copied
                ids.insert(key)
                parts[collection] = ids.count > Self.mostDocuments ? .all : .documents(ids)
            case nil: parts[collection] = .documents([key])
            }
        }
    }

    /// A query read documents of these collections.
    func includeAll(of collections: [String]) {
        lock.withLock { for name in collections { parts[BytewiseText(name)] = .all } }
    }

    /// The list of collections was read, which has the number of documents of each.
    func includeCatalog() {
        lock.withLock { hasReadCatalog = true }
    }

    /// Whether a change may change what was read.
    func contains(_ change: EngineChange) -> Bool {
        lock.withLock {
            if hasReadCatalog { return true }
            let collection = BytewiseText(change.collection)
            switch change.kind {
            case .insert, .update, .remove:
                switch parts[collection] {
                case .all: return true
                // An id of a kind that is not compared here may equal any other.
                case .documents(let ids): return change.id?.comparable.map(ids.contains) ?? true
                case nil: return false
                }
            // A collection that does not exist is empty, as is one that was created.
            case .collectionCreated: return false
            case .collectionDropped: return parts[collection] != nil
            case .collectionRenamed(let name): return parts[collection] != nil || parts[BytewiseText(name)] != nil
            case .unknown: return true
            }
        }
    }
}

extension BSONValue {
    /// The same for all ids that are equal; `nil` for ids of which this is not decided.
    fileprivate var comparable: BSONValue? {
        switch self {
        case .string, .objectID, .bool, .date, .binary: self
        case .int32(let number): .int64(Int64(number))
        case .int64: self
        case .double(let number): Int64(exactly: number).map { .int64($0) } ?? (number.isNaN ? nil : self)
        default: nil
        }
    }
}
