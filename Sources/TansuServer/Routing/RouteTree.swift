#if TansuServer
    import TansuBSON

    /// Routes by the parts of their patterns. Text goes before `:name`, and that before `*`.
    struct RouteTree: Sendable {
        struct Match {
            let route: Route
            let parameters: [BytewiseText: String]
            let rest: [String]
        }

        private struct Node {
            var route: Int?
            var restRoute: Int?
            var texts: [BytewiseText: Int] = [:]
            var parameter: (name: BytewiseText, node: Int)?
        }

        private var nodes = [Node()]
        private var routes: [Route] = []

        init(_ routes: [Route]) {
            for route in routes { add(route) }
        }

        private mutating func add(_ route: Route) {
            routes.append(route)
            var node = 0
            for part in route.pattern.parts(separatedBy: "/", omittingEmpty: true) {
                if part == "*" {
                    nodes[node].restRoute = routes.count - 1
                    return
                }
                node = child(of: node, part)
            }
            nodes[node].route = routes.count - 1
        }

        private mutating func child(of node: Int, _ part: String) -> Int {
            if let name = part.dropping(prefix: ":") {
                if let parameter = nodes[node].parameter { return parameter.node }
                nodes.append(Node())
                nodes[node].parameter = (BytewiseText(name), nodes.count - 1)
            } else {
                if let child = nodes[node].texts[BytewiseText(part)] { return child }
                nodes.append(Node())
                nodes[node].texts[BytewiseText(part)] = nodes.count - 1
            }
            return nodes.count - 1
        }

        func match(_ parts: [String]) -> Match? {
            var parameters: [BytewiseText: String] = [:]
            var rest: [String] = []
            guard let route = find(parts[...], in: nodes[0], &parameters, &rest) else { return nil }
            return Match(route: routes[route], parameters: parameters, rest: rest)
        }

        private func find(
            _ parts: ArraySlice<String>, in node: Node, _ parameters: inout [BytewiseText: String],
            _ rest: inout [String]
        ) -> Int? {
            guard let part = parts.first else { return node.route }
            if let child = node.texts[BytewiseText(part)],
                let route = find(parts.dropFirst(), in: nodes[child], &parameters, &rest)
            {
                return route
            }
            if let (name, child) = node.parameter,
                let route = find(parts.dropFirst(), in: nodes[child], &parameters, &rest)
            {
                parameters[name] = part
                return route
            }
            if let route = node.restRoute {
                rest = Array(parts)
                return route
            }
            return nil
        }
    }
#endif
