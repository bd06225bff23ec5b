import Foundation

/// Ends the program with exit code 1 unless what it found is right.
///
/// - Parameters:
///   - isRight: Whether it is.
///   - what: What should be so.
public func check(_ isRight: Bool, _ what: @autoclosure () -> String) {
    guard !isRight else { return }
    FileHandle.standardError.write(Data("wrong: \(what())\n".utf8))
    exit(1)
}
