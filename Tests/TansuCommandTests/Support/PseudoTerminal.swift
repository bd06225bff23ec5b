import Foundation
import Testing

/// A terminal that nobody sits at: what a program writes to it can be read.
final class PseudoTerminal {
    private let outer: FileHandle
    /// The end that the program has.
    let inner: FileHandle

    init() throws {
        var (mine, its): (Int32, Int32) = (-1, -1)
        let status = openpty(&mine, &its, nil, nil, nil)
        try #require(status == 0)
        outer = FileHandle(fileDescriptor: mine, closeOnDealloc: true)
        inner = FileHandle(fileDescriptor: its, closeOnDealloc: true)
    }

    /// What was written to the terminal until now.
    func shown() throws -> String {
        // What is written comes out in its order but not at once: this comes last.
        let end = "[end]"
        try inner.write(contentsOf: Data(end.utf8))
        var text = ""
        while !text.hasSuffix(end) {
            let more = outer.availableData
            try #require(!more.isEmpty)
            text += String(decoding: more, as: UTF8.self)
        }
        return String(text.dropLast(end.count))
    }
}
