#if TansuServer
    import NIOCore

    /// What a connection needs of the server's limits, as NIO's types.
    struct ConnectionLimits: Sendable {
        let headBytes: Int
        let requestBytes: Int
        let readTimeout: TimeAmount
        let idleTimeout: TimeAmount
        /// The time that a client has to take what was written, and to see why its connection ends.
        let lingerTime = TimeAmount.seconds(2)
        /// A body may be slower than the read timeout allows as long as its average is not below this.
        let minimumBytesPerSecond: Int64 = 1_024

        init(_ limits: ServerLimits) {
            headBytes = limits.headBytes
            requestBytes = max(limits.requestBytes, limits.attachmentBytes)
            readTimeout = TimeAmount(limits.readTimeout)
            idleTimeout = TimeAmount(limits.idleTimeout)
        }

        /// How long a server may have waited for a body of which `received` bytes have come.
        func bodyTime(received: Int) -> TimeAmount {
            readTimeout + .milliseconds(Int64(received) * 1_000 / minimumBytesPerSecond)
        }
    }
#endif
