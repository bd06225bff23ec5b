#if TansuSync
    import TansuBSON

    extension BSONDocument {
        /// The document with only some fields, in the order of the list. A field of an array becomes the field of an object.
        package func projected(to fields: [Mango.FieldPath]) -> BSONDocument {
            var result = BSONDocument()
            for field in fields {
                guard case .value(let value) = field.found(in: .document(self)) else { continue }
                result.set(value, at: field.keys[...])
            }
            return result
        }

        private mutating func set(_ value: BSONValue, at keys: ArraySlice<String>) {
            guard let key = keys.first else { return }
            let rest = keys.dropFirst()
            if rest.isEmpty {
                self[key] = value
                return
            }
            switch self[key] {
            case .document(var inner)?:
                inner.set(value, at: rest)
                self[key] = .document(inner)
            case nil:
                var inner = BSONDocument()
                inner.set(value, at: rest)
                self[key] = .document(inner)
            // The whole value is there already.
            default: break
            }
        }
    }
#endif
