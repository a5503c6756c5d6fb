//! The codes of what the checker tells: one for each kind of mistake, by family.
//!
//! E3 is about types, E4 about names; W1 about what is not used, W2 about what was probably not meant.

pub const CONST_DYNAMIC_ARRAY: &str = "E2032";

pub const MISMATCH: &str = "E3001";
pub const OPERANDS: &str = "E3002";
pub const CONDITION: &str = "E3003";
pub const NOT_INDEXABLE: &str = "E3004";
pub const INDEX_TYPE: &str = "E3005";
pub const NO_FIELD: &str = "E3006";
pub const NIL: &str = "E3007";
pub const UNKNOWN_TYPE: &str = "E3008";
pub const KEY_TYPE: &str = "E3009";
pub const NO_TYPE: &str = "E3010";
pub const NO_VALUE: &str = "E3011";
pub const RETURN_COUNT: &str = "E3012";
pub const MISSING_RETURN: &str = "E3013";
pub const TUPLE_COUNT: &str = "E3014";
pub const NOT_ITERABLE: &str = "E3015";
pub const WHEN_SUBJECT: &str = "E3016";
pub const WHEN_DEFAULT: &str = "E3017";
pub const WHEN_EXHAUSTIVE: &str = "E3018";
pub const WHEN_DUPLICATE: &str = "E3019";
pub const OUT_OF_RANGE: &str = "E3020";
pub const CONVERSION: &str = "E3021";
pub const STEP: &str = "E3022";
pub const NOT_A_PLACE: &str = "E3023";
pub const CONSTANT: &str = "E3024";
pub const PARAMETER: &str = "E3025";
pub const READ_ONLY: &str = "E3026";
pub const ENUM: &str = "E3027";
pub const ENUM_DUPLICATE: &str = "E3028";
pub const LITERAL_FIELD: &str = "E3029";
pub const UNUSED_RESULT: &str = "E3030";
pub const NO_EFFECT: &str = "E3031";
pub const NOT_A_FUNCTION: &str = "E3032";
pub const NOT_A_VALUE: &str = "E3033";
pub const REFERENCE: &str = "E3034";
pub const ARGUMENT_COUNT: &str = "E3035";
pub const RANGE: &str = "E3036";
pub const FIXED_LENGTH: &str = "E3037";
pub const FIXED_UNSET: &str = "E3038";
pub const NOT_A_CONSTANT: &str = "E3039";
pub const OUTSIDE_LOOP: &str = "E3040";
pub const ENSURE: &str = "E3041";
pub const FRAGMENT: &str = "E3042";
pub const TOO_DEEP: &str = "E3043";
pub const DUPLICATE_KEY: &str = "E3044";
pub const NOT_A_MEMBER: &str = "E3045";

pub const UNDEFINED: &str = "E4001";
pub const DUPLICATE: &str = "E4002";
pub const RESERVED: &str = "E4003";
pub const SHADOWS_ITEM: &str = "E4004";
pub const SHADOWS_LOOP: &str = "E4005";
pub const NOT_IMPORTED: &str = "E4006";
pub const NO_MEMBER: &str = "E4007";
pub const AMBIGUOUS: &str = "E4008";
pub const NO_MAIN: &str = "E4009";
pub const MAIN_SHAPE: &str = "E4010";
pub const PRIVATE: &str = "E4011";
pub const NEEDS_ITSELF: &str = "E4012";
pub const SUPPRESS: &str = "E4013";

/// The same mistakes as at run time, seen before it.
pub const DIVISION_BY_ZERO: &str = "E5001";
pub const INDEX_OUT_OF_BOUNDS: &str = "E9001";

pub const UNUSED_VARIABLE: &str = "W1001";
pub const UNUSED_IMPORT: &str = "W1002";
/// What may be used once the errors of a program are gone.
pub const UNUSED: &[&str] = &[UNUSED_VARIABLE, UNUSED_IMPORT];

pub const UNREACHABLE: &str = "W2001";
pub const SHADOWS_GLOBAL: &str = "W2002";
pub const ENSURE_NEVER_RUNS: &str = "W2003";
pub const BEFORE_ITS_TURN: &str = "W2004";
pub const CHANGES_A_COPY: &str = "W2005";
pub const FEWER_ELEMENTS: &str = "W3003";
