import Foundation

/// Names made from paths.
enum FileNames {
    /// The collection that a file's documents go to when none is named: the file's own name without
    /// what follows the first dot; nil when that leaves nothing.
    static func collection(forFile path: String) -> String? {
        guard path != "-" else { return nil }
        let file = (path as NSString).lastPathComponent
        let name = file.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init)
        return name.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A path or other word as a shell takes it, in quotes where it must be.
    static func shellQuoted(_ word: String) -> String {
        let safe = word.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "/._-+,:@%".unicodeScalars.contains(scalar)
        }
        if safe, !word.isEmpty { return word }
        return "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
