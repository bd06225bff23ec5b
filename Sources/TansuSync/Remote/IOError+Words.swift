#if TansuSync
    import Foundation
    import NIOCore

    extension IOError {
        /// What the system says: the description of SwiftNIO has the name of a function.
        package var words: String { String(cString: strerror(errnoCode)) }
    }
#endif
