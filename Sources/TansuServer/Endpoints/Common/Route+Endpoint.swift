#if TansuServer
    extension Route.Endpoint {
        /// A function that answers, with the access of the route.
        init(_ handler: @escaping Route.Handler) {
            self.init(nil, handler)
        }
    }
#endif
