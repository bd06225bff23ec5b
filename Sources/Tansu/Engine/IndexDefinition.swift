/// An index as the engine takes it.
struct IndexDefinition: Sendable {
    /// `nil` when it is derived from the keys.
    let name: String?
    let keys: BSONDocument
    let options: BSONDocument
}
