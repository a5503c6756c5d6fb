//! Calls of `math` and what they give.

use crate::library::testing::Desk;
use crate::library::{Call, Trouble};
use crate::types::{IntKind, Type, Width};
use crate::value::Value;
use proptest::prelude::*;

fn int(number: i64) -> Value {
    Value::Int(number)
}

fn float(number: f64) -> Value {
    Value::Float(number)
}

#[test]
fn every_function_gives_what_its_name_says() {
    let two_to_the_70 = Value::big("1180591620717411303424".parse().unwrap());
    let rows: Vec<(&str, Vec<Value>, &str)> = vec![
        ("abs", vec![int(-5)], "5"),
        ("abs", vec![float(-2.5)], "2.5"),
        ("abs", vec![int(i64::MIN)], "E5002"),
        ("acos", vec![int(1)], "0.0"),
        ("acos", vec![int(2)], "E8004"),
        ("add", vec![int(9_007_199_254_740_993), int(9_007_199_254_740_993)], "18014398509481986"),
        ("add", vec![int(1), float(0.5)], "1.5"),
        ("add", vec![int(i64::MAX), int(1)], "E5002"),
        ("add", vec![float(f64::MAX), float(f64::MAX)], "E8005"),
        ("asin", vec![int(0)], "0.0"),
        ("asin", vec![float(-1.5)], "E8004"),
        ("atan", vec![int(0)], "0.0"),
        ("atan2", vec![int(0), int(1)], "0.0"),
        ("avg", vec![int(1), int(2)], "1.5"),
        ("cbrt", vec![int(27)], "3.0"),
        ("ceil", vec![float(3.2)], "4.0"),
        ("clamp", vec![int(15), int(0), int(10)], "10"),
        ("clamp", vec![int(-1), int(0), int(10)], "0"),
        ("clamp", vec![float(0.5), float(0.0), float(1.0)], "0.5"),
        ("clamp", vec![int(1), int(10), int(0)], "E7001"),
        ("cos", vec![int(0)], "1.0"),
        ("cosh", vec![int(0)], "1.0"),
        ("cosh", vec![int(1000)], "E8005"),
        ("deg_to_rad", vec![int(0)], "0.0"),
        ("distance", vec![int(0), int(0), int(3), int(4)], "5.0"),
        ("div", vec![int(7), int(2)], "3.5"),
        ("div", vec![int(7), int(0)], "E5001"),
        ("exp", vec![int(0)], "1.0"),
        ("exp", vec![int(1000)], "E8005"),
        ("exp2", vec![int(10)], "1024.0"),
        ("factorial", vec![int(20)], "2432902008176640000"),
        ("factorial", vec![int(0)], "1"),
        ("factorial", vec![int(21)], "E5002"),
        ("factorial", vec![int(i64::MAX)], "E5002"),
        ("factorial", vec![int(-1)], "E8002"),
        ("floor", vec![float(-3.2)], "-4.0"),
        ("floor", vec![int(3)], "3.0"),
        ("gcd", vec![int(12), int(-18)], "6"),
        ("gcd", vec![int(0), int(0)], "0"),
        ("gcd", vec![int(i64::MIN), int(0)], "E5002"),
        ("hypot", vec![int(3), int(4)], "5.0"),
        ("is_even", vec![int(-2)], "true"),
        ("is_even", vec![two_to_the_70.clone()], "true"),
        ("is_inf", vec![float(f64::NEG_INFINITY)], "true"),
        ("is_inf", vec![int(3)], "false"),
        ("is_odd", vec![int(-3)], "true"),
        ("is_prime", vec![int(2)], "true"),
        ("is_prime", vec![int(1)], "false"),
        ("is_prime", vec![int(0)], "false"),
        ("is_prime", vec![int(-7)], "false"),
        ("is_prime", vec![int(1_000_000_007)], "true"),
        ("is_prime", vec![int(9_223_372_036_854_775_783)], "true"),
        ("is_prime", vec![int(i64::MAX)], "false"),
        ("is_prime", vec![int(3_215_031_751)], "false"),
        ("lcm", vec![int(4), int(6)], "12"),
        ("lcm", vec![int(0), int(6)], "0"),
        ("lcm", vec![int(i64::MAX), int(i64::MAX - 1)], "E5002"),
        ("lerp", vec![int(0), int(10), float(0.25)], "2.5"),
        ("log", vec![int(1)], "0.0"),
        ("log", vec![int(0)], "E8003"),
        ("log10", vec![int(1000)], "3.0"),
        ("log2", vec![int(8)], "3.0"),
        ("log_base", vec![int(8), int(2)], "3.0"),
        ("log_base", vec![int(8), int(1)], "E8003"),
        ("map_range", vec![int(5), int(0), int(10), int(0), int(100)], "50.0"),
        ("map_range", vec![int(5), int(1), int(1), int(0), int(100)], "E5001"),
        ("max", vec![int(5), int(9), int(3)], "9"),
        ("max", vec![int(1), float(2.5)], "2.5"),
        ("min", vec![float(5.0), int(3)], "3.0"),
        ("mod", vec![int(-7), int(3)], "-1"),
        ("mod", vec![float(7.5), int(2)], "1.5"),
        ("mod", vec![int(1), int(0)], "E5001"),
        ("mul", vec![int(6), int(7)], "42"),
        ("neg", vec![int(42)], "-42"),
        ("neg", vec![float(0.5)], "-0.5"),
        ("pow", vec![int(2), int(10)], "1024.0"),
        ("pow", vec![int(-8), float(0.5)], "E8004"),
        ("pow", vec![int(0), int(-1)], "E5001"),
        ("pow", vec![int(10), int(1000)], "E8005"),
        ("rad_to_deg", vec![float(std::f64::consts::PI)], "180.0"),
        ("random", vec![int(1)], "0"),
        ("random_float", vec![int(0)], "0.0"),
        ("round", vec![float(2.5)], "3.0"),
        ("round", vec![float(-2.5)], "-3.0"),
        ("sign", vec![float(-0.1)], "-1"),
        ("sign", vec![int(0)], "0"),
        ("sin", vec![int(0)], "0.0"),
        ("sinh", vec![int(0)], "0.0"),
        ("sqrt", vec![int(16)], "4.0"),
        ("sqrt", vec![int(-1)], "E8001"),
        ("sub", vec![int(5), int(7)], "-2"),
        ("sum", vec![int(1), int(2), int(3)], "6"),
        ("sum", vec![int(1), float(0.5)], "1.5"),
        ("tan", vec![int(0)], "0.0"),
        ("tanh", vec![int(0)], "0.0"),
        ("trunc", vec![float(-3.9)], "-3.0"),
    ];
    let mut desk = Desk::default();
    for (name, arguments, expected) in &rows {
        assert_eq!(&desk.shown("math", name, arguments), expected, "{name} of {arguments:?}");
    }
    for native in super::TABLES.iter().copied().flatten() {
        let constant = matches!(native.call, Call::Constant(_));
        assert!(constant || rows.iter().any(|(name, ..)| *name == native.name), "{} has no row", native.name);
    }
}

#[test]
fn the_result_has_the_range_of_its_type() {
    let mut desk = Desk::default();
    let small = Type::Int(IntKind::Unsigned(Width::W8));
    assert_eq!(desk.call_typed("math", "add", &[int(200), int(55)], &small), Ok(int(255)));
    let over = desk.call_typed("math", "add", &[int(200), int(56)], &small);
    assert!(matches!(over, Err(Trouble::Fault(fault)) if fault.code == "E5002"));
    let large = Type::Int(IntKind::Unsigned(Width::W128));
    let sum = desk.call_typed("math", "add", &[int(i64::MAX), int(1)], &large).unwrap();
    assert_eq!(crate::value::format::print(&sum), "9223372036854775808");
}

proptest! {
    #[test]
    fn primes_are_those_that_nothing_divides(number in 0u32..100_000) {
        let mut desk = Desk::default();
        let divided = (2..).take_while(|divisor| divisor * divisor <= number).any(|divisor| number % divisor == 0);
        let expected = Value::Bool(number > 1 && !divided);
        prop_assert_eq!(desk.call("math", "is_prime", &[int(i64::from(number))]).unwrap(), expected);
    }
}
