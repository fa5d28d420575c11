//! Everything lawful is kept with its formatting.

use super::*;

const HAND_WRITTEN: &str = "\u{feff}{ \"$schema\": \"x\",\r\n\t\"project\" : \"p\",\r\n\t\"branchName\": \"b\", \"description\": \"d\\u00e9\",\r\n\t\"verifyCommands\": [],\r\n\t\"userStories\": [\r\n\t\t{\"id\": \"A\", \"title\": \"T\", \"acceptanceCriteria\": [ \"a\" , \"b\" ],\r\n\t\t \"priority\": 1.0, \"passes\": false, \"reviewStatus\": null,\r\n\t\t \"reviewCount\": 0, \"reviewFeedback\": \"\", \"estimate\": {\"days\": 1e1} },\r\n\t\t{\"id\": \"B\", \"title\": \"U\", \"acceptanceCriteria\": [\"c\"], \"priority\": 2, \"passes\": false,\r\n\t\t \"reviewStatus\": null, \"reviewCount\": 0, \"reviewFeedback\": \"\"}\r\n\t]\r\n}";

fn repaired(before: &str, now: &str) -> Judgement {
    judged(&read(before), now, &turn(Mode::Implement, "A"), Rules::default())
}

#[test]
fn a_lawful_edit_leaves_every_byte_alone() {
    let now = HAND_WRITTEN.replacen("\"reviewStatus\": null", "\"reviewStatus\": \"needs_review\"", 1);
    let judgement = repaired(HAND_WRITTEN, &now);
    assert_eq!((judgement.plan.text(), judgement.rewrite, judgement.violations.len()), (now.as_str(), false, 0));
}

#[test]
fn an_undone_field_has_the_bytes_that_it_had_and_others_are_not_touched() {
    let lawful = HAND_WRITTEN.replacen("\"reviewStatus\": null", "\"reviewStatus\": \"needs_review\"", 1);
    for (from, to) in [
        ("\"passes\": false", "\"passes\": true"),
        ("[ \"a\" , \"b\" ]", "[\"a\"]"),
        ("\"title\": \"U\"", "\"title\": \"Better\""),
        ("\"d\\u00e9\"", "\"other\""),
        ("\"reviewCount\": 0, \"reviewFeedback\": \"\"}", "\"reviewCount\": 4, \"reviewFeedback\": \"\"}"),
    ] {
        let now = lawful.replacen(from, to, 1);
        assert_ne!(now, lawful);
        assert_eq!(repaired(HAND_WRITTEN, &now).plan.text(), lawful, "{to}");
    }
}

#[test]
fn a_field_that_was_removed_stands_in_its_place_again() {
    let cut = HAND_WRITTEN.replacen(" \"passes\": false,", "", 1).replacen("\"project\" : \"p\",\r\n\t", "", 1);
    let judgement = repaired(HAND_WRITTEN, &cut);
    let keys = |text: &str| -> Vec<String> {
        let file: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        file.as_object().unwrap().keys().chain(file["userStories"][0].as_object().unwrap().keys()).cloned().collect()
    };
    assert_eq!(keys(judgement.plan.text()), keys(HAND_WRITTEN));
    assert_eq!(judgement.violations.len(), 2);
}

#[test]
fn another_formatting_is_no_edit() {
    let file: Value = serde_json::from_str(HAND_WRITTEN.trim_start_matches('\u{feff}')).unwrap();
    for now in [serde_json::to_string(&file).unwrap(), text(&file), text(&file).replace('\n', "\r\n")] {
        for mode in [Mode::Implement, Mode::Review, Mode::ReviewFix] {
            let judgement = judged(&read(HAND_WRITTEN), &now, &turn(mode, "A"), Rules::default());
            assert_eq!((judgement.plan.text(), judgement.violations.len()), (now.as_str(), 0));
        }
    }
    let sorted = "{\"userStories\":[{\"reviewFeedback\":\"\",\"title\":\"U\",\"priority\":2.0,\"reviewCount\":0,\"reviewStatus\":null,\"passes\":false,\"acceptanceCriteria\":[\"c\"],\"id\":\"B\"},{\"estimate\":{\"days\":10},\"title\":\"T\",\"id\":\"A\",\"acceptanceCriteria\":[\"a\",\"b\"],\"priority\":1,\"passes\":false,\"reviewStatus\":null,\"reviewCount\":0,\"reviewFeedback\":\"\",\"notes\":\"\",\"dependsOn\":[]}],\"verifyCommands\":[],\"description\":\"d\u{e9}\",\"branchName\":\"b\",\"project\":\"p\",\"$schema\":\"x\"}";
    assert_eq!(repaired(HAND_WRITTEN, sorted).violations, []);
}

#[test]
fn a_story_that_is_put_back_stands_on_its_own_lines_with_the_line_ends_of_the_file() {
    let pretty = text(&file(&[story("A"), story("B"), story("C")]));
    for gone in ["A", "B", "C"] {
        let left: Vec<_> = ["A", "B", "C"].into_iter().filter(|id| *id != gone).map(story).collect();
        for crlf in [false, true] {
            let ends = |text: String| if crlf { text.replace('\n', "\r\n") } else { text };
            let now = ends(text(&file(&left)));
            assert_eq!(repaired(&pretty, &now).plan.text(), ends(pretty.clone()), "{gone}");
        }
    }
    assert_eq!(repaired(&text(&file(&[story("A")])), &text(&file(&[]))).plan.stories().len(), 1);
}

#[test]
fn what_is_dropped_takes_its_comma_along() {
    let pretty = text(&file(&[story("A"), story("B")]));
    let bad = with(story("N"), json!({"title": ""}));
    for at in 0..=2 {
        let mut stories = vec![story("A"), story("B")];
        stories.insert(at, bad.clone());
        stories.insert(at, json!(1));
        assert_eq!(repaired(&pretty, &text(&file(&stories))).plan.text(), pretty);
    }
    let mut odd = file(&[story("A"), with(story("B"), json!({"x": 1, "y": 2}))]);
    odd["userStories"][1]["id"] = json!("B");
    assert_eq!(repaired(&pretty, &text(&odd)).plan.text(), pretty);
}

#[test]
fn a_plan_of_ten_thousand_stories_is_judged_and_repaired() {
    let before: Vec<_> = (0..10_000)
        .map(|at| {
            with(
                story(&format!("S{at}")),
                json!({"dependsOn": if at == 0 { vec![] } else { vec![format!("S{}", at - 1)] }}),
            )
        })
        .collect();
    let now: Vec<_> = before.iter().map(|story| with(story.clone(), json!({"passes": true, "x": 1}))).collect();
    let plan = plan(&before);
    let judgement =
        judge(&plan, Seen::Bytes(text(&file(&now)).as_bytes()), &turn(Mode::Implement, "S5"), Rules::default());
    assert_eq!(judgement.violations.len(), 2 * 10_000 - 1);
    assert!(judgement.plan.stories().iter().all(|story| !story.passes));
    let gone =
        judge(&plan, Seen::Bytes(text(&file(&before[..1])).as_bytes()), &turn(Mode::Implement, "S5"), Rules::default());
    assert_eq!(gone.plan.stories().len(), 10_000);
}
