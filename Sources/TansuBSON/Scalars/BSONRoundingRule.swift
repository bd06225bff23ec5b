/// How a number is rounded that has more digits than its type.
///
/// It has the cases of `FloatingPointRoundingRule`, which is not used because its size is known at run time only: every
/// copy of the options of a coder would have to ask for it.
public enum BSONRoundingRule: Sendable, Hashable {
    /// To the nearest number; halfway between two, to the one whose last digit is even.
    case toNearestOrEven
    /// To the nearest number; halfway between two, away from zero.
    case toNearestOrAwayFromZero
    /// To the greater number.
    case up
    /// To the lesser number.
    case down
    /// To the number that is nearer to zero: the digits are cut off.
    case towardZero
    /// To the number that is farther from zero.
    case awayFromZero
}
