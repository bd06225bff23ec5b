#if TansuSync
    import TansuBSON

    extension BSONValue {
        /// What JSON has for the value.
        ///
        /// Null, booleans, finite numbers, text, arrays and documents are themselves. Every other value is the object that
        /// relaxed extended JSON writes, such as `{"$date": "2026-11-22T00:00:00Z"}` or `{"$oid": "…"}`: that is what a
        /// CouchDB has of it after a replication, so both sides order and match it alike. The values inside of a document
        /// or an array are not converted.
        var jsonForm: BSONValue {
            switch self {
            case .null, .bool, .string, .document, .array, .int32, .int64: return self
            case .double, .decimal128:
                if JSONNumber(self) != nil { return self }
            default: break
            }
            // The writer's own text is always JSON.
            return (try? BSONValue(plainJSON: extendedJSON(.relaxed))) ?? .null
        }
    }
#endif
