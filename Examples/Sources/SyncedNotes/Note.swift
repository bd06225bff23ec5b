import Foundation

/// A note of the app. Its id is text, as the ids on a server are.
struct Note: Codable, Hashable, Sendable, Identifiable {
    var id = UUID().uuidString
    var title: String
    /// Items of a list, in the order in which they were written.
    var items: [String] = []
}
