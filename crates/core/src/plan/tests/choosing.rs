//! Mode, story and budget of the next iteration.

use super::*;
use crate::plan::choice::{Budget, Next, next};

fn chosen(stories: &[Value], rules: Rules) -> (Mode, String) {
    match next(&plan(stories), rules) {
        Next::Work { mode, story } => (mode, story.to_string()),
        other => panic!("{other:?}"),
    }
}

fn urgent(story: Value, priority: f64) -> Value {
    with(story, json!({"priority": priority}))
}

#[test]
fn findings_come_before_reviews_and_reviews_before_new_work() {
    let all = [story("A"), awaiting("B", 0), reworked("C", 1), approved("D")];
    assert_eq!(chosen(&all, Rules::default()), (Mode::ReviewFix, "C".to_owned()));
    assert_eq!(chosen(&all[..2], Rules::default()), (Mode::Review, "B".to_owned()));
    assert_eq!(chosen(&all[..1], Rules::default()), (Mode::Implement, "A".to_owned()));
}

#[test]
fn the_most_urgent_goes_first_and_equal_ones_by_file_order() {
    let of = |make: fn(&str) -> Value| {
        [urgent(make("A"), 2.0), urgent(make("B"), 1.5), urgent(make("C"), 1.5), urgent(make("D"), 10.0)]
    };
    assert_eq!(chosen(&of(story), Rules::default()).1, "B");
    assert_eq!(chosen(&of(|id| awaiting(id, 0)), Rules::default()), (Mode::Review, "B".to_owned()));
    assert_eq!(chosen(&of(|id| reworked(id, 1)), Rules::default()), (Mode::ReviewFix, "B".to_owned()));
    assert_eq!(chosen(&of(|id| reworked(id, 1)), skip()), (Mode::Implement, "B".to_owned()));
}

#[test]
fn a_dependency_is_met_when_it_passes_and_is_approved() {
    let needs = |id: &str, on: &str| urgent(with(story(id), json!({"dependsOn": [on]})), 0.0);
    assert_eq!(chosen(&[needs("A", "B"), story("B")], Rules::default()).1, "B");
    assert_eq!(chosen(&[needs("A", "B"), approved("B")], Rules::default()).1, "A");
    let passes = with(story("B"), json!({"passes": true, "notes": "n"}));
    assert_eq!(chosen(&[needs("A", "B"), passes.clone()], skip()).1, "A");
    let stuck = next(&plan(&[needs("A", "B"), passes]), Rules::default());
    let id = |id| StoryId::new(id).unwrap();
    assert_eq!(stuck, Next::Stuck(vec![(id("A"), vec!["B".to_owned()]), (id("B"), vec![])]));
}

#[test]
fn nothing_is_left_of_an_empty_plan_and_of_a_complete_one() {
    assert_eq!(next(&plan(&[]), Rules::default()), Next::Empty);
    assert_eq!(next(&plan(&[approved("A")]), Rules::default()), Next::Complete);
    let passes = with(story("A"), json!({"passes": true, "notes": "n"}));
    assert_eq!(next(&plan(&[passes]), skip()), Next::Complete);
}

#[test]
fn under_skip_review_stories_in_review_are_implement_work() {
    assert_eq!(chosen(&[awaiting("A", 1)], skip()), (Mode::Implement, "A".to_owned()));
    assert_eq!(chosen(&[reworked("A", 1)], skip()), (Mode::Implement, "A".to_owned()));
}

#[test]
fn the_start_line_tells_the_budget_and_a_short_one_warns() {
    let plan = plan(&[story("A"), story("B"), awaiting("C", 0), reworked("D", 1), approved("E")]);
    let budget = Budget::of(&plan, Rules::default());
    assert_eq!(budget.start_line(15), "plan: 5 stories, 1 done, about 9 iterations needed (15 allowed)");
    assert_eq!((budget.not_begun, budget.awaiting_review, budget.changes_requested), (2, 1, 1));
    assert_eq!(
        Budget::of(&plan, skip()).start_line(15),
        "plan: 5 stories, 1 done, about 4 iterations needed (15 allowed)"
    );
    assert_eq!(budget.warning(9), None);
    assert!(budget.warning(8).unwrap().contains("-m 9"));
}
