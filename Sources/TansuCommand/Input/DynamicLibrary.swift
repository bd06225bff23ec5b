import Foundation

/// A C library that only a command needs, which is loaded when the command runs.
struct DynamicLibrary {
    private let handle: UnsafeMutableRawPointer
    private let name: String

    /// Loads the first library that there is. It stays loaded.
    /// - Parameters:
    ///   - candidates: File names or paths.
    ///   - package: What to install where there is none of them.
    /// - Throws: `CommandError` that names the package.
    init(_ candidates: [String], package: String) throws {
        for candidate in candidates {
            guard let handle = dlopen(candidate, RTLD_NOW | RTLD_LOCAL) else { continue }
            self.handle = handle
            name = candidate
            return
        }
        throw CommandError(
            code: "UNSUPPORTED", message: "The library \(candidates.first ?? "") is not installed", path: package,
            remedy: "install the package \(package)")
    }

    /// A function of the library.
    /// - Parameter type: Its type, `@convention(c)`.
    /// - Throws: `CommandError` when the library has no such function.
    func symbol<T>(_ symbol: String, as type: T.Type) throws -> T {
        guard let address = dlsym(handle, symbol) else {
            throw CommandError(
                code: "UNSUPPORTED", message: "The library \(name) has no function \(symbol)", path: name,
                remedy: "install a newer version")
        }
        precondition(MemoryLayout<T>.size == MemoryLayout<UnsafeMutableRawPointer>.size)
        // A function without a context is its address.
        return unsafeBitCast(address, to: type)
    }
}
