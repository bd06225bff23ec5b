import Foundation

/// The format of the documents of an input.
enum InputFormat: String, CaseIterable, Sendable {
    /// One JSON object after another, on one line or several, or one JSON array of objects.
    case json
    /// Comma-separated values (RFC 4180) with a header, also with semicolons, tabs or bars.
    case csv
    /// Tab-separated values with a header, quoted as CSV.
    case tsv

    /// The format by the extension of a file name, without ".gz".
    init(file path: String) {
        var name = (path as NSString).lastPathComponent.lowercased() as NSString
        if name.pathExtension == "gz" { name = name.deletingPathExtension as NSString }
        switch name.pathExtension {
        case "csv": self = .csv
        case "tsv", "tab": self = .tsv
        default: self = .json
        }
    }
}
