/// The calls of the engine that are measured.
enum CallKind: String, Sendable, CaseIterable {
    case find
    case get
    case count
    case distinct
    case aggregate
    case save
    case update
    case findAndModify
    case remove
    case commit
}
