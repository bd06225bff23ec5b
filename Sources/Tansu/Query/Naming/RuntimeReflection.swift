/// What the runtime knows of a type without a value of it: the stored properties of structs and classes, and the cases
/// of coding keys. No code of the type's author runs here, except `stringValue` of its own coding keys.
///
/// It is the only unsafe code of the library outside the engine's calls and the coders, and it relies on:
/// - three functions of the runtime that `Mirror` and the description of key paths use too
///   (`swift_reflectionMirror_recursive…`), and `swift_EnumCaseName`, which prints enums. All have been exported since
///   Swift 5.2 and are part of the stable ABI on Apple's platforms;
/// - the first words of a type's metadata: its kind, and for an enum its descriptor with the number of cases;
/// - enums without payloads being stored as the number of their case.
///
/// Each result is checked: a case must have a name, and a type must have the size that its number of cases needs.
/// Where the metadata says less, because the program is built without it, a coding key is found by
/// `init?(stringValue:)`, and else the name is not known, which is an error that says what to write.
enum RuntimeReflection {
    /// A stored property.
    struct Property {
        let name: String
        let type: any Any.Type
        /// Where it is in a value of the type; for a class, in its instance.
        let offset: Int
        /// The type itself, or the superclass that declares it.
        let declaringType: any Any.Type
    }

    /// The stored properties of a struct or a class, those of superclasses first; none for other types.
    static func properties(of type: any Any.Type) -> [Property] {
        let isClass = type is AnyObject.Type
        guard isClass || kind(of: type) == .structure else { return [] }
        let inherited = (type as? AnyClass).flatMap { _getSuperclass($0) }.map { properties(of: $0) } ?? []
        let count = childCount(type)
        guard inherited.count <= count else { return [] }
        return inherited + (inherited.count..<count).compactMap { property($0, of: type) }
    }

    private static func property(_ index: Int, of type: any Any.Type) -> Property? {
        var metadata = ChildMetadata()
        let childType = childMetadata(type, index: index, metadata: &metadata)
        defer { metadata.free?(metadata.name) }
        guard let name = metadata.name.map({ String(cString: $0) }), !name.isEmpty else { return nil }
        return Property(name: name, type: childType, offset: childOffset(type, index: index), declaringType: type)
    }

    /// The coding keys of an enum by the names of their cases; `nil` when the type has other keys than its cases.
    static func keys<Key: CodingKey>(of type: Key.Type) -> [String: Key]? {
        guard kind(of: type) == .enumeration else { return nil }
        let cases: [Key]
        if let listed = type as? any CaseIterable.Type {
            cases = allCases(of: listed).compactMap { $0 as? Key }
        } else {
            guard let count = caseCount(of: type) else { return nil }
            cases = (0..<count).compactMap { enumCase($0, of: type) }
        }
        let named = cases.compactMap { key in caseName(of: key).map { ($0, key) } }
        guard named.count == cases.count else { return nil }
        return Dictionary(named) { first, _ in first }
    }

    /// A coding key by the name of its case, without the number of cases: a key whose text is the name, or the name in
    /// snake case.
    static func key<Key: CodingKey>(_ name: String, of type: Key.Type) -> Key? {
        guard kind(of: type) == .enumeration else { return nil }
        return [name, snakeCase(name)].lazy.compactMap { Key(stringValue: $0) }.first { caseName(of: $0) == name }
    }

    private static func snakeCase(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }

    /// The size of a type's values in bytes.
    static func size(of type: any Any.Type) -> Int {
        func size<Value>(_ type: Value.Type) -> Int { MemoryLayout<Value>.size }
        return size(type)
    }

    private static func allCases<Cases: CaseIterable>(of type: Cases.Type) -> [Any] {
        type.allCases.map { $0 }
    }

    private static func caseName<Value>(of value: Value) -> String? {
        enumCaseName(value).map { String(cString: $0) }
    }

    /// A case without payload, by its number.
    private static func enumCase<Value>(_ number: Int, of type: Value.Type) -> Value? {
        let memory = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        defer { memory.deallocate() }
        let bytes = UnsafeMutableRawPointer(memory)
        switch MemoryLayout<Value>.size {
        case 0: break
        case 1: bytes.storeBytes(of: UInt8(truncatingIfNeeded: number), as: UInt8.self)
        case 2: bytes.storeBytes(of: UInt16(truncatingIfNeeded: number), as: UInt16.self)
        default: return nil
        }
        return memory.pointee
    }

    /// How many cases an enum without payloads has; `nil` for other types, and where the metadata is not as expected.
    private static func caseCount<Value>(of type: Value.Type) -> Int? {
        guard kind(of: type) == .enumeration,
            let descriptor = UnsafeRawPointer(bitPattern: words(of: type)[1]),
            descriptor.load(as: UInt32.self) & 0x1F == ContextKind.enumeration,
            descriptor.load(fromByteOffset: 20, as: UInt32.self) & 0xFF_FFFF == 0
        else { return nil }
        let count = Int(descriptor.load(fromByteOffset: 24, as: UInt32.self))
        let size = count <= 1 ? 0 : count <= 256 ? 1 : 2
        return (1...65_536).contains(count) && MemoryLayout<Value>.size == size ? count : nil
    }
}

extension RuntimeReflection {
    /// The kinds of types that matter here, as the first word of their metadata.
    private enum Kind: UInt {
        case structure = 0x200
        case enumeration = 0x201
    }

    private enum ContextKind {
        static let enumeration: UInt32 = 18
    }

    private static func kind(of type: any Any.Type) -> Kind? {
        type is AnyObject.Type ? nil : Kind(rawValue: words(of: type)[0])
    }

    private static func words(of type: any Any.Type) -> UnsafePointer<UInt> {
        unsafeBitCast(type, to: UnsafePointer<UInt>.self)
    }
}

/// What the runtime reports of a stored property; the name is freed by its own function.
private struct ChildMetadata {
    var name: UnsafePointer<CChar>?
    var free: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
    var isStrong = false
    var isVariable = false
}

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func childCount(_ type: any Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func childMetadata(
    _ type: any Any.Type, index: Int, metadata: UnsafeMutablePointer<ChildMetadata>
) -> any Any.Type

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func childOffset(_ type: any Any.Type, index: Int) -> Int

@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?
