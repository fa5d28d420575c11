//! Stories that disappear.

use super::*;

fn part(id: &str, of: &str, criteria: &[&str]) -> Value {
    with(story(id), json!({"splitFrom": of, "acceptanceCriteria": criteria}))
}

fn whole() -> Value {
    with(story("A"), json!({"acceptanceCriteria": ["one", "two"]}))
}

#[test]
fn a_story_that_is_replaced_by_parts_with_all_its_criteria_may_go() {
    let parts =
        [with(part("A1", "A", &["one", "extra"]), json!({"reviewStatus": "needs_review"})), part("A2", "A", &["two"])];
    let judgement = judged(
        &plan(&[whole(), approved("B")]),
        &text(&file(&[&parts[..], &[approved("B")]].concat())),
        &turn(Mode::Implement, "A"),
        Rules::default(),
    );
    assert_eq!((judgement.violations.as_slice(), judgement.rewrite), ([].as_slice(), false));
    let id = |id| StoryId::new(id).unwrap();
    assert_eq!(judgement.splits, [Split { story: id("A"), parts: vec![id("A1"), id("A2")] }]);
    assert_eq!(judgement.decision, Decision::Submitted { story: id("A1") });
}

#[test]
fn another_unfinished_story_may_be_split_too_but_its_parts_start_clean() {
    let now = [story("B"), part("A1", "A", &["two", "one"])];
    assert_eq!(lawful(&[whole(), story("B")], &now, &turn(Mode::Implement, "B")), Decision::None);
    let eager = [story("B"), with(part("A1", "A", &["two", "one"]), json!({"reviewStatus": "needs_review"}))];
    let (stories, words, decision) = after(&[whole(), story("B")], &eager, &turn(Mode::Implement, "B"));
    assert_eq!((stories.as_slice(), words.len(), decision), (now.as_slice(), 1, Decision::None));
}

#[test]
fn only_one_part_may_await_review_and_only_of_an_agent_that_ended_well() {
    let eager = |id, criterion| with(part(id, "A", &[criterion]), json!({"reviewStatus": "needs_review"}));
    let now = [eager("A1", "one"), eager("A2", "two")];
    let (stories, words, _) = after(&[whole()], &now, &turn(Mode::Implement, "A"));
    assert_eq!((stories.as_slice(), words.len()), ([eager("A1", "one"), part("A2", "A", &["two"])].as_slice(), 1));
    let failed = Turn { ended_well: false, ..turn(Mode::Implement, "A") };
    let (stories, words, decision) = after(&[whole()], &now, &failed);
    assert_eq!(
        (stories.as_slice(), words.len()),
        ([part("A1", "A", &["one"]), part("A2", "A", &["two"])].as_slice(), 2)
    );
    assert_eq!(decision, Decision::None);
}

#[test]
fn a_part_never_arrives_approved() {
    let sly = with(
        part("A1", "A", &["one", "two"]),
        json!({"reviewStatus": "approved", "passes": true, "reviewCount": 1, "notes": "n"}),
    );
    for rules in [Rules::default(), skip()] {
        let (stories, words, _) = under(&[whole()], std::slice::from_ref(&sly), &turn(Mode::Implement, "A"), rules);
        assert_eq!((stories, words.len()), (vec![with(part("A1", "A", &["one", "two"]), json!({"notes": "n"}))], 3));
    }
}

#[test]
fn a_split_that_loses_a_criterion_or_a_command_is_undone_with_its_parts() {
    let commanded = with(whole(), json!({"verifyCommands": ["make a"]}));
    for (before, parts, missing) in [
        (whole(), vec![part("A1", "A", &["one"])], "two"),
        (whole(), vec![part("A1", "A", &["one"]), part("A2", "A", &["two "])], "two"),
        (whole(), vec![part("A1", "A", &["one"]), with(part("A2", "A", &["two"]), json!({"title": ""}))], "two"),
        (commanded.clone(), vec![part("A1", "A", &["one", "two"])], "make a"),
    ] {
        let now = [&[story("B")], parts.as_slice()].concat();
        let (stories, words, decision) = after(&[before.clone(), story("B")], &now, &turn(Mode::Implement, "A"));
        assert_eq!((stories, decision), (vec![before, story("B")], Decision::None));
        assert!(
            words.iter().any(|words| words.contains("split of story A was undone") && words.contains(missing)),
            "{words:?}"
        );
        assert!(words.iter().any(|words| words.contains("Story A1 was removed")), "{words:?}");
    }
    let kept = with(part("A1", "A", &["one", "two"]), json!({"verifyCommands": ["make a"]}));
    lawful(&[commanded], &[kept], &turn(Mode::Implement, "A"));
}

#[test]
fn nothing_disappears_from_a_review_or_a_rework_and_nothing_that_is_finished() {
    for (mode, own) in [(Mode::Review, awaiting("X", 0)), (Mode::ReviewFix, reworked("X", 1))] {
        for gone in [whole(), own.clone()] {
            let id = gone["id"].as_str().unwrap().to_owned();
            let before = [own.clone(), whole(), approved("B")];
            let mut now: Vec<_> = before.iter().filter(|story| story["id"] != *id).cloned().collect();
            now.push(part("N", &id, &["one", "two", "X works"]));
            undone(&before, &now, &turn(mode, "X"), &["may disappear only as a split", "N"]);
        }
    }
    let now = [story("A"), part("N", "B", &["B works"])];
    undone(&[story("A"), approved("B")], &now, &turn(Mode::Implement, "A"), &["it is finished", "N"]);
}

#[test]
fn a_split_into_more_parts_than_anybody_needs_is_undone() {
    let parts =
        |many: usize| -> Vec<Value> { (0..many).map(|at| part(&format!("A{at}"), "A", &["one", "two"])).collect() };
    lawful(&[whole()], &parts(100), &turn(Mode::Implement, "A"));
    let (stories, words, _) = after(&[whole()], &parts(101), &turn(Mode::Implement, "A"));
    assert_eq!((stories, words.len()), (vec![whole()], 102));
    assert!(words[0].contains("only as a split into at most 100 parts"), "{words:?}");
}

#[test]
fn a_vanished_story_is_put_back_in_its_place() {
    let before = [story("A"), story("B"), story("C"), approved("D")];
    for kept in [vec![], vec![1], vec![0, 2], vec![3], vec![0, 1, 2]] {
        let now: Vec<_> = kept.iter().map(|at| before[*at].clone()).collect();
        for mode in [Mode::Implement, Mode::ReviewFix] {
            let words =
                undone(&before, &now, &turn(mode, "A"), &vec!["a story may disappear only as a split"; 4 - kept.len()]);
            assert!(words.iter().all(|words| words.starts_with("Story ")), "{words:?}");
        }
    }
}

#[test]
fn a_renamed_story_is_put_back_under_its_name() {
    let now = [with(story("A9"), json!({"title": "Title of A", "reviewStatus": "needs_review"})), story("B")];
    let words = undone(
        &[story("A"), story("B")],
        &now,
        &turn(Mode::Implement, "A"),
        &["Story A was removed", "must not be renamed"],
    );
    assert!(words[1].contains("A9"));
    let lower = [with(story("A"), json!({"id": "a"})), story("B")];
    undone(&[story("A"), story("B")], &lower, &turn(Mode::Implement, "B"), &["Story A", "Story a"]);
}

#[test]
fn a_lawful_part_may_have_the_title_of_another_story_that_is_gone() {
    let twin = with(part("A1", "A", &["one", "two"]), json!({"title": "Title of B"}));
    let (stories, words, _) = after(&[story("B"), whole()], std::slice::from_ref(&twin), &turn(Mode::Implement, "A"));
    assert_eq!((stories, words.len()), (vec![story("B"), twin], 1));
}

#[test]
fn a_story_that_was_there_before_is_no_part() {
    // Otherwise an approved story could take over the criteria of one that nobody reviewed.
    let earlier = with(approved("P"), json!({"splitFrom": "A"}));
    let loaded = with(earlier.clone(), json!({"acceptanceCriteria": ["P works", "one", "two"]}));
    let (stories, words, _) = after(&[whole(), earlier], std::slice::from_ref(&loaded), &turn(Mode::Implement, "A"));
    assert_eq!((stories, words.len()), (vec![whole(), loaded], 1));
    let adopted = with(approved("P"), json!({"splitFrom": "A", "acceptanceCriteria": ["P works", "one", "two"]}));
    let (stories, words, _) =
        after(&[whole(), approved("P")], std::slice::from_ref(&adopted), &turn(Mode::Implement, "A"));
    assert_eq!((stories, words.len()), (vec![whole(), without(adopted, "splitFrom")], 2));
}

#[test]
fn those_that_waited_for_a_story_wait_for_all_its_parts() {
    let needs = |id: &str, on: &[&str]| with(story(id), json!({"dependsOn": on}));
    let before = [whole(), needs("B", &["A"]), needs("C", &["B", "A"]), needs("D", &["A"]), needs("E", &["B"])];
    let parts = [part("A1", "A", &["one"]), with(part("A2", "A", &["two"]), json!({"dependsOn": ["A1"]}))];
    let after_split = |b: &[&str], c: &[&str], d: &[&str]| {
        let now =
            [&parts[..], &[needs("B", b), needs("C", c), needs("D", d), needs("E", &["B"]), needs("N", b)]].concat();
        let (stories, words, _) = after(&before, &now, &turn(Mode::Implement, "A"));
        let depends: Vec<_> = stories.iter().map(|story| story["dependsOn"].to_string()).collect();
        (depends[2..].join(" "), words)
    };
    let all = r#"["A1","A2"] ["B","A1","A2"] ["A2","A1"] ["B"] ["A1","A2"]"#;
    assert_eq!(after_split(&["A"], &["B", "A"], &["A2"]), (all.to_owned(), vec![]));
    let dropped = r#"[] ["B","A1","A2"] ["A1","A2"] ["B"] []"#;
    assert_eq!(after_split(&[], &["B", "A1", "A2"], &["A1", "A2"]), (dropped.to_owned(), vec![]));
}

#[test]
fn a_part_does_not_wait_for_the_whole_nor_for_those_that_wait_for_it() {
    let needs = |id: &str, on: &[&str]| with(story(id), json!({"dependsOn": on}));
    let before = [whole(), needs("B", &["A"])];
    for on in [["A"], ["B"]] {
        let now = [with(part("A1", "A", &["one", "two"]), json!({"dependsOn": on})), needs("B", &["A"])];
        let (stories, words, _) = after(&before, &now, &turn(Mode::Implement, "A"));
        assert_eq!(stories, [part("A1", "A", &["one", "two"]), needs("B", &["A1"])]);
        assert_eq!(words.len(), 1, "{words:?}");
    }
}

#[test]
fn a_story_that_is_put_back_waits_for_the_parts_of_another() {
    let before = [whole(), with(approved("B"), json!({"dependsOn": ["A"]}))];
    let (stories, words, _) = after(&before, &[part("A1", "A", &["one", "two"])], &turn(Mode::Implement, "A"));
    assert_eq!(
        stories,
        [part("A1", "A", &["one", "two"]), with(approved("B"), json!({"dependsOn": ["A1"]}))]
            .as_slice()
            .iter()
            .rev()
            .cloned()
            .collect::<Vec<_>>()
    );
    assert_eq!(words.len(), 1, "{words:?}");
}
