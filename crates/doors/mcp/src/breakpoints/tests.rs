//! Breakpoints by themselves, without a debugger.

use super::*;

#[test]
fn the_same_place_again_means_other_terms_and_numbers_are_never_given_twice() {
    let mut breakpoints = Breakpoints::default();
    let place = Place::Line { file: "/a/t.py".into(), line: 7 };
    assert_eq!(breakpoints.add(Wish::plain(place.clone())), 1);
    let terms = Terms { condition: Some("n > 1".to_owned()), ..Terms::default() };
    assert_eq!(breakpoints.add(Wish { terms, capture: Some(Vec::new()), ..Wish::plain(place) }), 2);
    assert_eq!(breakpoints.add(Wish::plain(Place::Function("main".to_owned()))), 3);
    let described: Vec<_> = breakpoints.all.iter().map(Breakpoint::describe).collect();
    assert_eq!(
        described,
        [
            "breakpoint 2 t.py:7 · pending · 0 hits · if n > 1 · captures locals",
            "breakpoint 3 main · pending · 0 hits"
        ]
    );
    assert_eq!(breakpoints.groups(), [Group::File("/a/t.py".to_owned()), Group::Functions]);
}

#[test]
fn a_line_that_was_found_by_its_text_is_found_again_where_it_has_moved_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.py");
    std::fs::write(&file, "a = 1\nb = 2\n").expect("written");
    let place = Place::Line { file: file.clone(), line: 2 };
    let mut breakpoints = Breakpoints::default();
    breakpoints.add(Wish { text: Some("b = 2".to_owned()), ..Wish::plain(place) });
    std::fs::write(&file, "a = 1\n# new\n# new\nb = 2\n").expect("written");
    assert_eq!(breakpoints.again().all[0].place, Place::Line { file, line: 4 });
}

#[test]
fn what_was_hit_was_there_although_the_hub_cannot_be_asked_any_more() {
    let mut breakpoints = Breakpoints::default();
    breakpoints.add(Wish::plain(Place::Function("main".to_owned())));
    let breakpoint = &mut breakpoints.all[0];
    breakpoint.hear(&HashMap::from([(4, 2)]));
    assert_eq!(breakpoint.truth, Truth::default());
    breakpoint.hub = Some(4);
    breakpoint.hear(&HashMap::from([(4, 2)]));
    assert_eq!((breakpoint.truth.state, breakpoint.truth.hits), (State::Verified, 2));
    // What the run before hit is none of the next one's.
    breakpoints.count_in(1);
    breakpoints.all[0].hear(&HashMap::from([(4, 1)]));
    assert_eq!(breakpoints.all[0].truth.hits, 1);
}

#[test]
fn a_place_is_known_in_the_list_of_the_hub_without_a_number() {
    let listed = json!({"id": 4, "line": 7, "source": {"path": "/a/t.rb"}});
    let at = |file: &str, line| Place::Line { file: file.into(), line };
    assert!(at("/a/t.rb", 7).is_of(&listed));
    assert!(!at("/a/t.rb", 8).is_of(&listed) && !at("/b/t.rb", 7).is_of(&listed));
    let function = Place::Function("main".to_owned());
    assert!(function.is_of(&json!({"id": 4, "name": "main"})) && !function.is_of(&listed));
}

#[test]
fn a_function_that_was_found_is_told_as_a_line_and_shown_as_both() {
    let mut breakpoints = Breakpoints::default();
    breakpoints.add(Wish::plain(Place::Function("add".to_owned())));
    let breakpoint = &mut breakpoints.all[0];
    assert_eq!((breakpoint.group(), breakpoint.request()), (Some(Group::Functions), json!({"name": "add"})));
    breakpoint.found = Some(Definition { file: "/a/t.js".into(), line: 3, column: Some(20) });
    assert_eq!(breakpoint.group(), Some(Group::File("/a/t.js".to_owned())));
    assert_eq!(breakpoint.request(), json!({"line": 3, "column": 20}));
    assert_eq!(breakpoint.describe(), "breakpoint 1 add at t.js:3 · pending · 0 hits");
    assert_eq!(breakpoint.data()["line"], 3);
    breakpoint.refuse(Failure::new("there are two").next("Name `file`."));
    assert_eq!(breakpoint.group(), None, "the debugger is not asked");
    assert_eq!(breakpoint.truth.reason.as_deref(), Some("there are two. Name `file`."));
}
