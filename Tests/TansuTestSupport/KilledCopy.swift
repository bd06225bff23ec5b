internal import Foundation

/// A database was written for as long as it was copied, a thousand times.
private struct NeverAtRest: Error {
    let path: String
}

/// Copies the folder of an open database as it is at one moment: what a process leaves that is killed then.
///
/// Files that are copied one after the other while the database works are of different moments: a segment without its commits
/// beside a mark that says they were written. So the copy is compared, until nothing has changed since it was begun: then it
/// is the folder as it was between the two.
package func copyAsKilled(_ path: String, to copy: String) throws {
    let files = FileManager.default
    for _ in 0..<1_000 {
        // A file that is renamed or removed meanwhile ends the copy.
        if (try? files.copyItem(atPath: path, toPath: copy)) != nil, files.contentsEqual(atPath: path, andPath: copy) {
            return
        }
        try? files.removeItem(atPath: copy)
    }
    throw NeverAtRest(path: path)
}
