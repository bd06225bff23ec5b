import Tansu
import TansuBSON

/// What an update came to, for people.
enum UpdateText {
    /// One line: "2 documents matched, 1 changed".
    static func line(_ result: Database.UpdateResult) -> String {
        var line = "\(Numbers.count(result.matched, "document")) matched"
        line += result.removed > 0 ? ", \(result.removed) removed" : ", \(result.modified) changed"
        if !result.upserted.isEmpty {
            line += ", inserted: " + result.upserted.map(\.description).joined(separator: ", ")
        }
        return line
    }
}
