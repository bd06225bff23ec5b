import Foundation

extension AnyKeyPath {
    /// The key path as a program writes it, as far as it says so itself: without addresses of what is computed.
    var shown: String {
        "\(self)".replacingOccurrences(
            of: #"<computed 0x[0-9a-f]+ \([^.]*\)>"#, with: "<computed>", options: .regularExpression
        ).replacingOccurrences(
            of: #"\(unknown context at \$[0-9a-f]+\)\."#, with: "", options: .regularExpression)
    }
}
