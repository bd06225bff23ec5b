#if TansuServer
    import NIOCore

    /// Reports bytes to the connection handler before they are decoded, so that it knows of a head that comes slowly.
    final class ArrivalHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer

        private let connection: ConnectionHandler

        init(_ connection: ConnectionHandler) { self.connection = connection }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if connection.bytesArrived(unwrapInboundIn(data)) { context.fireChannelRead(data) }
        }
    }
#endif
