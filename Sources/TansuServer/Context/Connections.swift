#if TansuServer
    import NIOCore
    import TansuBSON

    /// The open connections of a server.
    package final class Connections: Sendable {
        private let limit: Int
        private let channels = Locked<[ObjectIdentifier: any Channel]>([:])

        package init(limit: Int) { self.limit = limit }

        /// How many are open, those that are refused included.
        package var count: Int { channels.withLock { $0.count } }

        /// Counts a connection until it is closed.
        ///
        /// - Returns: Whether it is within the limit; otherwise its first request gets 503.
        func add(_ channel: any Channel) -> Bool {
            let id = ObjectIdentifier(channel)
            let isWithinLimit = channels.withLock { channels in
                channels[id] = channel
                return channels.count <= limit
            }
            channel.closeFuture.whenComplete { [self] _ in channels.withLock { _ = $0.removeValue(forKey: id) } }
            return isWithinLimit
        }

        /// Closes them all, whatever they are doing.
        func closeAll() {
            for channel in channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
        }
    }
#endif
