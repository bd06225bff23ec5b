/// What a real value says of the name of a property: whether the field holds what the property is.
enum NameEvidence {
    case agrees
    case disagrees
    /// It says nothing: the property is nil, or the field is missing.
    case none

    /// Compares the value of a property, encoded, with a field.
    ///
    /// The order of elements and fields may differ, because a Set has none; so of arrays and documents only the kind is
    /// compared.
    init(_ property: BSONValue, _ field: BSONValue?) {
        switch (property, field) {
        case (.double(let number), _) where number.isNaN: self = .none
        case (_, nil), (.null, .some(.null)), (_, .some(.null)): self = .none
        case (.array, .some(.array)), (.document, .some(.document)): self = .agrees
        case (_, .some(let field)): self = property == field ? .agrees : .disagrees
        }
    }
}

extension BSONValue {
    /// The value of a field in nested documents.
    func value(atKeys keys: some Collection<String>) -> BSONValue? {
        guard let key = keys.first else { return self }
        return documentValue?[key]?.value(atKeys: keys.dropFirst())
    }
}

/// The fields in which a property may be stored, narrowed down by each real value.
struct NameSearch {
    private static var deepest: Int { 16 }

    private var candidates: Set<[String]>?
    private var values: Set<BSONValue> = []

    /// Keeps the fields that hold a value in a document; a missing field counts as null.
    mutating func narrow(by document: BSONDocument, holding value: BSONValue) {
        var content: [[String]: BSONValue] = [:]
        Self.collect(document, below: [], into: &content)
        if value.isNull {
            candidates = candidates?.filter { (content[$0] ?? .null).isNull }
            return
        }
        values.insert(value)
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

    /// The only field that held each value, when there were at least `count` different ones.
    func result(values count: Int) -> [String]? {
        values.count >= count && candidates?.count == 1 ? candidates?.first : nil
    }
}
