#if TansuSync
    import TansuBSON

    /// Erlang's external format of terms, from which CouchDB makes the names of indexes that come without one.
    struct ExternalTerm {
        private(set) var bytes: [UInt8] = []

        mutating func atom(_ name: String) {
            bytes.append(UInt8(ascii: "d"))
            append16(name.utf8.count)
            bytes += Array(name.utf8)
        }

        mutating func tuple(count: Int) { bytes += [UInt8(ascii: "h"), UInt8(truncatingIfNeeded: count)] }

        /// Begins a list, which ``endList()`` ends.
        mutating func list(count: Int) {
            bytes.append(UInt8(ascii: "l"))
            append32(count)
        }

        mutating func endList() { bytes.append(UInt8(ascii: "j")) }

        mutating func binary(_ text: String) {
            bytes.append(UInt8(ascii: "m"))
            append32(text.utf8.count)
            bytes += Array(text.utf8)
        }

        mutating func integer(_ value: Int64) {
            if (0...255).contains(value) {
                bytes += [UInt8(ascii: "a"), UInt8(value)]
            } else if let small = Int32(exactly: value) {
                bytes.append(UInt8(ascii: "b"))
                append32(Int(small))
            } else {
                var magnitude = value.magnitude
                var digits: [UInt8] = []
                while magnitude > 0 {
                    digits.append(UInt8(truncatingIfNeeded: magnitude))
                    magnitude >>= 8
                }
                bytes += [UInt8(ascii: "n"), UInt8(digits.count), value < 0 ? 1 : 0] + digits
            }
        }

        /// A JSON value in the form that CouchDB's parser gives it.
        mutating func value(_ value: BSONValue) {
            switch value {
            case .null: atom("null")
            case .bool(let flag): atom(flag ? "true" : "false")
            case .string(let text): binary(text)
            case .int32(let number): integer(Int64(number))
            case .int64(let number): integer(number)
            case .double(let number):
                bytes.append(UInt8(ascii: "F"))
                for shift in stride(from: 56, through: 0, by: -8) {
                    bytes.append(UInt8(truncatingIfNeeded: number.bitPattern >> UInt64(shift)))
                }
            case .array(let array): self.array(Array(array))
            case .document(let document):
                tuple(count: 1)
                guard !document.isEmpty else { return endList() }
                list(count: document.count)
                for (name, member) in document {
                    tuple(count: 2)
                    binary(name)
                    self.value(member)
                }
                endList()
            // JSON has no other types.
            default: binary(value.extendedJSON(.relaxed))
            }
        }

        private mutating func array(_ elements: [BSONValue]) {
            guard !elements.isEmpty else { return endList() }
            let small = elements.compactMap { $0.wholeNumber.flatMap { UInt8(exactly: $0) } }
            if small.count == elements.count, small.count <= UInt16.max {
                bytes.append(UInt8(ascii: "k"))
                append16(small.count)
                bytes += small
                return
            }
            list(count: elements.count)
            for element in elements { value(element) }
            endList()
        }

        private mutating func append16(_ value: Int) {
            bytes += [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
        }

        private mutating func append32(_ value: Int) {
            append16(value >> 16)
            append16(value)
        }
    }
#endif
