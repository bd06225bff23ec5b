import Foundation

/// A word in the form that a shell takes as one argument: in single quotes unless all its characters are safe.
func shellQuoted(_ word: String) -> String {
    let isSafe = word.unicodeScalars.allSatisfy { scalar in
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            || "/._-+,:@%".unicodeScalars.contains(scalar)
    }
    if isSafe, !word.isEmpty { return word }
    return "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
}
