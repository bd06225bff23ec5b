/// What happens to a document with a reference when the document that it refers to is removed, in the same commit.
public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
    /// It is removed, too.
    case cascade

    /// It loses the reference: an optional one becomes nil, an element of an array or a set is taken out.
    case nullify

    /// The other document is not removed: that fails with an error that names this one.
    case deny

    /// Nothing: the reference then leads nowhere.
    case ignore
}
