/// The operators of an update by key path.
struct UpdateOperations: Sendable {
    /// More optional properties on the way to what is changed are an error: each combination of them is an update.
    private static let mostOptionals = 6

    /// The operators on documents that match.
    private(set) var always: BSONDocument = [:]

    /// Further operators on those that have a value at the path of an optional property.
    private var parts: [(path: String, operations: BSONDocument)] = []

    var isEmpty: Bool { always.isEmpty && parts.isEmpty }

    /// Whether an operator changes what is at a path.
    func changes(_ path: String) -> Bool {
        ([always] + parts.map(\.operations)).contains { $0.contains { $0.value.documentValue?[path] != nil } }
    }

    /// Adds an operator.
    ///
    /// - Parameter part: The path of an optional property; where that is nil, nothing is changed.
    mutating func add(_ name: String, _ path: String, _ operand: BSONValue, below part: String?) throws {
        let added: BSONDocument = [name: .document([path: operand])]
        guard let part else {
            always.add(added)
            return
        }
        if let index = parts.firstIndex(where: { $0.path.utf8.elementsEqual(part.utf8) }) {
            parts[index].operations.add(added)
            return
        }
        guard parts.count < Self.mostOptionals else {
            throw TansuError(
                .invalidQuery,
                "The update leads through more than \(Self.mostOptionals) optional properties; update them one after another",
                context: path)
        }
        parts.append((part, added))
    }

    /// The update of each combination of optional properties that documents have, with the condition for it; those with most
    /// of them first. A document matches one of them.
    var combinations: [(condition: BSONDocument, operations: BSONDocument)] {
        var combinations: [(condition: BSONDocument, operations: BSONDocument)] = [([:], always)]
        for part in parts {
            var (present, absent) = (combinations, combinations)
            for index in combinations.indices {
                present[index].condition[part.path] = ["$ne": nil]
                present[index].operations.add(part.operations)
                absent[index].condition[part.path] = ["$eq": nil]
            }
            combinations = present + absent
        }
        return combinations
    }
}

extension BSONDocument {
    /// Adds the fields of each operator of other operations.
    fileprivate mutating func add(_ operations: BSONDocument) {
        for (name, fields) in operations {
            var all = self[name]?.documentValue ?? [:]
            for (path, operand) in fields.documentValue ?? [:] { all[path] = operand }
            self[name] = .document(all)
        }
    }
}
