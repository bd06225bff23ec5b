/// Where a property is stored, and whether real values agree.
///
/// `@unchecked Sendable`: its state is under a lock, and `compare` has a key path only.
final class StoredName: @unchecked Sendable {
    /// How many queries ask for evidence, when documents give none.
    private static let mostAttempts = 8

    /// The path as keys, the outermost first; none for the value itself.
    let keys: [String]

    private enum State {
        case open(attempts: Int)
        case settled
    }

    private let state: Locked<State>
    private let compare: (BSONValue) -> NameEvidence

    /// - Parameters:
    ///   - isSettled: Whether it needs no evidence.
    ///   - compare: What a stored value of the type that has the property says of the name.
    init(_ keys: [String], isSettled: Bool, compare: @escaping (BSONValue) -> NameEvidence = { _ in .none }) {
        self.keys = keys
        self.compare = compare
        state = Locked(isSettled ? .settled : .open(attempts: 0))
    }

    var isSettled: Bool {
        state.withLock { if case .settled = $0 { true } else { false } }
    }

    /// Compares the name with stored values. Once one agrees, or several times none said anything, it is settled.
    ///
    /// - Throws: ``NamingFailure/otherForm(_:)`` when one disagrees.
    func check(_ values: [BSONValue]) throws {
        guard !values.isEmpty else { return }
        var agrees = false
        for value in values {
            switch compare(value) {
            case .agrees: agrees = true
            case .disagrees: throw NamingFailure.otherForm(keys)
            case .none: break
            }
        }
        state.withLock {
            guard case .open(let attempts) = $0 else { return }
            $0 = agrees || attempts + 1 >= Self.mostAttempts ? .settled : .open(attempts: attempts + 1)
        }
    }
}
