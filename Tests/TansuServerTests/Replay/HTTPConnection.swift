#if TansuServer
import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// A request's bytes in, an answer's bytes out: nothing is added to what is sent, nothing is hidden of what comes.
///
/// It blocks the calling thread.
final class HTTPConnection: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isAtEnd = false

    init(port: Int, timeout: Int = 20) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Failure(description: "No socket") }
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        #if !canImport(Glibc)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw Failure(description: "No connection to port \(port)")
        }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            #if canImport(Glibc)
            let flags = Int32(MSG_NOSIGNAL)
            #else
            let flags: Int32 = 0
            #endif
            let count = bytes[sent...].withUnsafeBytes { piece in
                #if canImport(Glibc)
                Glibc.send(descriptor, piece.baseAddress, piece.count, flags)
                #else
                Darwin.send(descriptor, piece.baseAddress, piece.count, flags)
                #endif
            }
            // The server may have answered and closed; what it said is still to be read.
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Sends nothing any more, and goes on reading.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next bytes up to and with an end.
    func read(through end: [UInt8]) throws -> [UInt8] {
        while true {
            if let range = buffer.firstRange(of: end) {
                defer { buffer.removeSubrange(..<range.upperBound) }
                return Array(buffer[..<range.upperBound])
            }
            guard try receive() else { throw Failure(description: "The connection was closed") }
        }
    }

    func read(count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try receive() else { throw Failure(description: "The connection was closed") }
        }
        defer { buffer.removeSubrange(..<count) }
        return Array(buffer[..<count])
    }

    func readToEnd() throws -> [UInt8] {
        while try receive() {}
        defer { buffer = [] }
        return buffer
    }

    private func receive() throws -> Bool {
        if isAtEnd { return false }
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count >= 0 else { throw Failure(description: "No answer came in time") }
        isAtEnd = count == 0
        buffer += piece[..<count]
        return count > 0
    }
}
#endif
