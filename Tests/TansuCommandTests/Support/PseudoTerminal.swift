import Foundation
import Testing

/// A pseudoterminal that captures the output of a program.
final class PseudoTerminal {
    private let outer: FileHandle
    /// Everything that `wait(for:)` and `shown()` have read.
    private(set) var received = ""
    /// What `wait(for:)` has read beyond the text that it waited for.
    private var ahead = ""
    /// The side of the program.
    let inner: FileHandle

    init() throws {
        var (mine, its): (Int32, Int32) = (-1, -1)
        let status = openpty(&mine, &its, nil, nil, nil)
        try #require(status == 0)
        outer = FileHandle(fileDescriptor: mine, closeOnDealloc: true)
        inner = FileHandle(fileDescriptor: its, closeOnDealloc: true)
    }

    /// Types text, as a user does.
    func type(_ text: String) throws {
        try outer.write(contentsOf: Data(text.utf8))
    }

    /// Waits until a program that runs has written a text.
    func wait(for text: String) throws {
        var shown = ahead
        while !shown.contains(text) {
            var descriptor = pollfd(fd: outer.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let isReady = poll(&descriptor, 1, 60_000) > 0
            try #require(isReady, "The program has written only: \(shown)")
            let more = String(decoding: outer.availableData, as: UTF8.self)
            received += more
            shown += more
        }
        ahead = shown.range(of: text).map { String(shown[$0.upperBound...]) } ?? ""
    }

    /// The output that was written to the terminal so far.
    func shown() throws -> String {
        // The output arrives in order but with a delay, so a marker shows its end.
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
