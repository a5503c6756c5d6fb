//! A text against a list of its characters.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Get(usize),
    Set(usize, char),
    Slice(usize, usize),
    Push(String),
    Cut(usize),
}

fn letter() -> impl Strategy<Value = char> {
    prop_oneof![90 => prop::char::range('a', 'z'), 1 => Just('é'), 1 => Just('語'), 1 => Just('🌍')]
}

fn word() -> impl Strategy<Value = String> {
    prop::collection::vec(letter(), 0..90).prop_map(|letters| letters.into_iter().collect())
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..150usize).prop_map(Step::Get),
        4 => (0..150usize, letter()).prop_map(|(index, letter)| Step::Set(index, letter)),
        2 => (0..150usize, 0..150usize).prop_map(|(start, end)| Step::Slice(start, end)),
        1 => word().prop_map(Step::Push),
        1 => (0..150usize).prop_map(Step::Cut),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #[test]
    fn a_text_is_a_list_of_characters(start in word(), steps in steps()) {
        let mut text = Text::new(start.clone());
        let mut letters: Vec<char> = start.chars().collect();
        for step in steps {
            match step {
                Step::Get(index) => prop_assert_eq!(text.get(index), letters.get(index).copied()),
                Step::Set(index, letter) => {
                    prop_assert_eq!(text.set(index, letter), index < letters.len());
                    if let Some(place) = letters.get_mut(index) {
                        *place = letter;
                    }
                }
                Step::Slice(start, end) => {
                    let wanted: String = letters.iter().skip(start).take(end.saturating_sub(start)).collect();
                    prop_assert_eq!(text.slice(start..end), wanted);
                }
                Step::Push(more) => {
                    letters.extend(more.chars());
                    text.push(&Text::new(more));
                }
                Step::Cut(length) => {
                    letters.truncate(length);
                    let kept: String = letters.iter().collect();
                    text.truncate(kept.len(), letters.len());
                }
            }
            prop_assert_eq!(text.len(), letters.len());
            let same: String = letters.iter().collect();
            prop_assert_eq!(&text, &Text::new(same), "what is remembered is what would be counted anew");
        }
    }
}

/// From the start each time, this would take minutes.
#[test]
fn every_character_of_a_long_text_is_found_in_no_time() {
    let text = Text::new("aé語🌍".repeat(50_000));
    let expected = ['a', 'é', '語', '🌍'];
    for index in (0..text.len()).chain((0..text.len()).rev()) {
        assert_eq!(text.get(index), Some(expected[index % 4]));
    }
}

#[test]
fn every_character_of_a_long_text_is_replaced_in_no_time() {
    let mut text = Text::new("é語🌍".repeat(50_000));
    for index in 0..text.len() {
        // As long as the one before: bytes that move are another matter.
        let letter = ['è', '本', '🌏'][index % 3];
        assert!(text.set(index, letter));
    }
    assert_eq!(text.as_str(), "è本🌏".repeat(50_000));
}
