import Foundation
import Tansu

/// A note, as the app's lists and editors have it.
struct Note: Codable, Hashable, Sendable, Identifiable {
    var id = ObjectID()
    var title: String
    var text = ""
    var tags: [String] = []
    var isPinned = false
    /// When it was changed last, to the millisecond: what a database stores of a date.
    var changed: Date
}
