#if TansuServer
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Sets a connection up: HTTP/1 with the limits of ``ConnectionHandler``.
struct HTTPConnectionChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let connections: Connections
    let limits: ConnectionLimits
    let isSecure: Bool
    let allowedMethods: @Sendable (String) -> String?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let connection = ConnectionHandler(
                limits: limits, isRefused: !connections.add(channel), allowedMethods: allowedMethods)
            var decoderLimits = NIOHTTPDecoderLimitConfiguration()
            decoderLimits.maxHeaderFieldSize = limits.headBytes
            decoderLimits.maxHeaderListSize = limits.headBytes
            // The connection handler frames answers: this encoder would end an answer to HEAD with an empty chunk.
            var encoding = HTTPResponseEncoder.Configuration()
            encoding.automaticallySetFramingHeaders = false
            try pipeline.addHandler(ArrivalHandler(connection))
            try pipeline.addHandler(HTTPResponseEncoder(configuration: encoding))
            try pipeline.addHandler(
                ByteToMessageHandler(
                    HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: decoderLimits)))
            try pipeline.addHandler(connection)
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: isSecure))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        await ConnectionTasks.run(on: value.channel.eventLoop) {
            await handleHTTP(asyncChannel: value, logger: logger)
        }
    }
}
#endif
