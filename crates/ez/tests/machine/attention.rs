//! A machine that is asked for attention returns soon, and goes on as if nothing had been.

use crate::support::{AskAt, text};
use breakroom_ez::machine::Halt;

#[test]
fn an_endless_loop_can_be_interrupted_from_another_thread() {
    let loops = [
        "loop { n++ }",
        "as_long_as true { n++ }",
        "as_long_as n >= 0 { n++ }",
        "loop { for i in range(9) { n = i } }",
        "loop { for_each c in \"abc\" { if c == 'a' { continue } } }",
    ];
    for body in loops {
        let (mut machine, _) = text(&format!("do main() {{ temp n int = 0\n{body}\nprintln(n) }}")).machine();
        let attention = machine.attention();
        let asking = std::thread::spawn(move || attention.ask());
        assert_eq!(machine.run(), Halt::Attention, "{body}");
        asking.join().expect("it only asks");
    }
}

#[test]
fn a_program_goes_on_where_it_was_interrupted() {
    let source = "do add(&total int, n int) {\ntotal += n\n}\ndo main() {\ntemp total int = 0\nfor i in range(20) {\nadd(total, i)\n}\nas_long_as total < 250 {\ntotal += 7\n}\nprintln(total)\n}";
    let program = text(source);
    for left in 0..60 {
        let (mut machine, printed) = program.machine();
        let attention = machine.attention();
        if machine.run_traced(&mut AskAt { left, attention }) == Halt::Attention {
            let mut rounds = 0;
            while machine.run() == Halt::Attention {
                rounds += 1;
            }
            assert_eq!(rounds, 0, "nobody asked again");
        }
        assert_eq!(printed.take(), "253\n", "asked at {left}");
    }
}

#[test]
fn a_call_that_waits_is_made_again_with_its_arguments() {
    let program = text("do main() {\nsleep_milliseconds(5)\nprintln(\"awake\")\n}");
    let (mut machine, printed) = program.machine();
    printed.interruptions.set(3);
    for _ in 0..3 {
        assert_eq!(machine.run(), Halt::Attention);
        assert_eq!(program.line(&machine), 2);
    }
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "awake\n");
}
