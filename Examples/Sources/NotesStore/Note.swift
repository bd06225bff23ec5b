import Foundation
import Tansu

/// A note of the app.
struct Note: Codable, Hashable, Sendable, Identifiable {
    var id = ObjectID()
    var title: String
    var text = ""
    var tags: [String] = []
    var isPinned = false
    /// The date of the last change. A database stores dates in milliseconds.
    var changed: Date
}
