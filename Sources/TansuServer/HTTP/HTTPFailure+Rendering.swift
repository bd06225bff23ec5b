#if TansuServer
    import Logging
    import Tansu
    import TansuBSON
    import TansuSync

    extension HTTPFailure {
        /// The answer for any error that an endpoint has thrown. The client gets only what is about the request itself; the
        /// log gets the rest.
        package init(rendering error: any Error, logger: Logger) {
            if let failure = error as? HTTPFailure {
                self = failure
            } else if let error = error as? AttachmentError, error.code == .invalidEncoding {
                self = .badRequest(error.message)
            } else if let error = error as? AttachmentError, error.code == .tooLarge {
                self = .attachmentTooLarge
            } else if error is CancellationError {
                self = .overloaded("The server is stopping")
            } else {
                logger.error("A request has failed", metadata: ["error": "\(error)"])
                self.init(.internalServerError, "internal_server_error", "The request could not be served; see the log")
            }
        }
    }
#endif
