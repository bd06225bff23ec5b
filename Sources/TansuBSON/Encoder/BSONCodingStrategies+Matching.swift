/// Dates that others have stored as text without a fraction, such as `2024-05-01T12:00:00Z`: they equal those of whole seconds,
/// which these strategies store with three digits.
extension BSONCodingStrategies {
    /// The forms in which documents may hold a date that is stored as a value; that value is the first.
    package func forms(ofDate stored: BSONValue) -> [BSONValue] {
        guard case .iso8601 = date, case .string(let text) = stored, let seconds = text.dropping(suffix: ".000Z") else {
            return [stored]
        }
        return [stored, .string(seconds + "Z")]
    }

    /// A query where equality with a date has the one form again that these strategies store, for the document that an upsert
    /// makes of it.
    package func withoutForms(_ query: BSONDocument) -> BSONDocument {
        guard case .iso8601 = date else { return query }
        return BSONDocument(
            query.map { key, value in
                if key == "$and", case .array(let parts) = value {
                    return (key, BSONValue(parts.map { $0.documentValue.map { .document(withoutForms($0)) } ?? $0 }))
                }
                guard case .document(let condition) = value, condition.count == 1,
                    let forms = condition["$in"]?.arrayValue, forms.count == 2, let first = forms.first,
                    self.forms(ofDate: first) == Array(forms)
                else { return (key, value) }
                return (key, first)
            })
    }
}
