import Foundation

/// Exits with code 1 unless a condition is true.
///
/// - Parameters:
///   - condition: The condition.
///   - description: The expectation, for the error message.
public func check(_ condition: Bool, _ description: @autoclosure () -> String) {
    guard !condition else { return }
    FileHandle.standardError.write(Data("Check failed: \(description())\n".utf8))
    exit(1)
}
