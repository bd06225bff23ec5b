import Foundation

/// The properties of the terminal of a file descriptor.
struct Terminal: Sendable {
    /// Whether the descriptor is a terminal rather than a file or a pipe.
    let isInteractive: Bool
    /// The width in columns, or nil when the descriptor is not a terminal.
    let width: Int?
    /// Whether bold text and colors are allowed.
    let allowsStyle: Bool

    static let output = Terminal(descriptor: STDOUT_FILENO)
    static let error = Terminal(descriptor: STDERR_FILENO)

    init(isInteractive: Bool, width: Int?, allowsStyle: Bool) {
        self.isInteractive = isInteractive
        self.width = width
        self.allowsStyle = allowsStyle
    }

    init(descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
        isInteractive = isatty(descriptor) == 1
        let plain = environment["TERM"] == "dumb" || !(environment["NO_COLOR"] ?? "").isEmpty
        allowsStyle = isInteractive && !plain
        var size = winsize()
        if isInteractive, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            width = Int(size.ws_col)
        } else {
            width = isInteractive ? 80 : nil
        }
    }

    func bold(_ text: String) -> String { styled(text, "1") }
    func dim(_ text: String) -> String { styled(text, "2") }
    func green(_ text: String) -> String { styled(text, "32") }
    func cyan(_ text: String) -> String { styled(text, "36") }

    private func styled(_ text: String, _ code: String) -> String {
        allowsStyle ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
