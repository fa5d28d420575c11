//! What a file of a person may hold.

use super::*;

fn problems(text: &str) -> Vec<String> {
    words_of(&Plan::read(text.as_bytes()).expect_err("it must be refused"))
}

fn problem_of(stories: &[Value]) -> String {
    let problems = problems(&text(&file(stories)));
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].clone()
}

#[test]
fn a_plan_is_read_with_all_its_fields() {
    let story = with(
        approved("US-001"),
        json!({"priority": 2.5, "splitFrom": "US-000", "verifyCommands": ["make a"], "mine": [1]}),
    );
    let plan = plan(&[story, with(super::story("B"), json!({"dependsOn": ["US-001"]}))]);
    let first = plan.story("US-001").unwrap();
    assert_eq!((first.title.as_str(), first.priority, first.passes, first.count), ("Title of US-001", 2.5, true, 1));
    assert_eq!((first.status, first.split_from.as_deref()), (Some(ReviewStatus::Approved), Some("US-000")));
    assert_eq!(
        (first.verify_commands.as_slice(), plan.verify_commands()),
        (["make a".to_owned()].as_slice(), ["make test".to_owned()].as_slice())
    );
    assert_eq!((plan.project(), plan.branch(), plan.description()), ("p", Some("ralph/x"), "d"));
    assert_eq!(plan.stories()[1].depends_on, ["US-001"]);
    assert_eq!(plan.warnings(), []);
    let kept: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!((kept.text(), kept.stories()), (plan.text(), plan.stories()));
}

#[test]
fn a_plan_without_a_branch_is_a_warning_and_fields_with_a_default_may_be_absent() {
    let story = ["description", "notes", "dependsOn"].into_iter().fold(story("A"), without);
    let plan = read(&text(&without(without(file(&[story]), "branchName"), "verifyCommands")));
    assert_eq!(words_of(&plan.warnings()), ["tasks.json missing required top-level field: 'branchName'"]);
    assert_eq!((plan.story("A").unwrap().notes.as_str(), plan.verify_commands().len()), ("", 0));
}

#[test]
fn all_problems_are_named_with_story_and_field() {
    let broken = [
        without(story("A"), "title"),
        with(story("B"), json!({"reviewCount": -1, "priority": null, "passes": 1})),
        json!("no story"),
        without(story("x"), "id"),
        with(story("D"), json!({"acceptanceCriteria": ["ok", " "], "notes": 3, "dependsOn": ["nobody"]})),
        with(story("E"), json!({"dependsOn": ["nobody"], "splitFrom": "E", "verifyCommands": [""]})),
        with(story("F"), json!({"dependsOn": ["D", "nobody"], "splitFrom": "F"})),
    ];
    let found = problems(&text(&without(without(file(&broken), "description"), "project")));
    assert_eq!(
        found,
        [
            "tasks.json missing required top-level field: 'project'",
            "tasks.json missing required top-level field: 'description'",
            "Story A: missing required field 'title'",
            "Story B: field 'priority' has wrong type (expected int/float)",
            "Story B: field 'passes' has wrong type (expected bool)",
            "Story B: 'reviewCount' is -1, must be an integer from 0",
            "Story #3 must be a JSON object",
            "Story #4: missing required field 'id'",
            "Story D: 'acceptanceCriteria' must not hold an empty criterion",
            "Story D: field 'notes' has wrong type (expected str)",
            "Story E: 'verifyCommands' must not hold an empty command",
            "Story D: 'dependsOn' names 'nobody', which is not in the plan",
            "Story E: 'dependsOn' names 'nobody', which is not in the plan",
            "Story E: 'splitFrom' names the story itself",
            "Story F: 'dependsOn' names 'nobody', which is not in the plan",
            "Story F: 'splitFrom' names the story itself",
        ]
    );
}

#[test]
fn ids_are_short_plain_and_unique() {
    for id in ["a/b", "", "é", "🎉", "a b", "x\ny", &"a".repeat(65)] {
        let told = problem_of(&[with(story("A"), json!({"id": id}))]);
        assert_eq!(told, "Story #1: 'id' must be 1 to 64 of the characters A-Z a-z 0-9 . _ -");
    }
    read(&text(&file(&[story(&"a".repeat(64)), story("A.b_c-9")])));
    assert_eq!(problem_of(&[story("A"), story("B"), story("A")]), "Duplicate story ID: 'A'");
    assert_eq!(problem_of(&[with(story("A"), json!({"id": 7}))]), "Story #1: field 'id' has wrong type (expected str)");
}

#[test]
fn a_cycle_is_named_and_a_long_chain_is_none() {
    let needs = |id: &str, on: &[&str]| with(story(id), json!({"dependsOn": on}));
    let told = problem_of(&[needs("A", &[]), needs("B", &["A", "D"]), needs("C", &["B"]), needs("D", &["C"])]);
    assert_eq!(told, "Story B: 'dependsOn' is a cycle: B → D → C → B");
    assert_eq!(problem_of(&[needs("A", &["A"])]), "Story A: 'dependsOn' is a cycle: A → A");
    let ids: Vec<_> = (0..3000).map(|at| format!("S{at}")).collect();
    let chain: Vec<_> = ids.iter().zip(ids.iter().skip(1)).map(|(id, on)| needs(id, &[on])).collect();
    let two_knots = [needs("X", &["Y"]), needs("Y", &["X"]), needs("S2999", &[])];
    let found = problems(&text(&file(&[chain, two_knots.to_vec()].concat())));
    assert_eq!(found, ["Story X: 'dependsOn' is a cycle: X → Y → X"]);
}

#[test]
fn what_is_no_strict_json_is_refused_with_its_place() {
    let whole = text(&file(&[story("A")]));
    for (bad, why) in [
        ("", "is empty"),
        (" \n ", "is empty"),
        ("\u{feff}", "is empty"),
        ("[]", "must be a JSON object"),
        ("null", "must be a JSON object"),
        ("{\"a\": 1,}", "is not JSON: line 1, column 9: a comma before the closing bracket is not JSON"),
        ("{\n// hi\n}", "is not JSON: line 2, column 1: expected a key in double quotes"),
        ("{\"a\": // hi\n1}", "is not JSON: line 1, column 7: comments are not JSON"),
        ("{\"a\": 01}", "is not JSON: line 1, column 8: a number does not begin with 0"),
        ("{\"a\": \"\u{1}\"}", "is not JSON: line 1, column 8: a control character inside a string must be escaped"),
        ("{\"a\": \"\\ud800\"}", "is not JSON: line 1, column 15: invalid escape in a string"),
        ("{\"a\": \"x", "is not JSON: line 1, column 9: the file ends inside a string"),
        ("{\"a\": \"x\\", "is not JSON: line 1, column 10: the file ends inside a string"),
        ("{\"a\": nul}", "is not JSON: line 1, column 7: expected a value"),
        ("{\"a\" 1}", "is not JSON: line 1, column 6: expected a colon"),
        ("{} {}", "is not JSON: line 1, column 4: expected the end of the file"),
        (&"[".repeat(100_000), "is not JSON: line 1, column 129: nested too deep"),
        (whole.get(..whole.len() / 2).unwrap(), ""),
    ] {
        let told = problems(bad);
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("tasks.json is") || told[0].starts_with("tasks.json must"), "{told:?}");
        assert!(told[0].contains(why), "{told:?}");
    }
    assert_eq!(words_of(&Plan::read(b"{\"a\": \"\xff\"}").unwrap_err()), ["tasks.json is not UTF-8 (byte 7)"]);
    let large = vec![b' '; usize::try_from(MOST_BYTES).unwrap() + 1];
    assert!(words_of(&Plan::read(&large).unwrap_err())[0].contains("a plan has at most 16777216"));
}

#[test]
fn a_text_is_read_as_serde_reads_it() {
    let numbers = "[0, -0, 1.5, 1e3, 2E-2, 12345678901234567890, -7]";
    for json in
        [numbers, "{\"a\": {\"b\": [true, false, null, \"\\u00e9\\n\\\"\"]}, \"c\": {}}", "[[], {}, \"\"]", " \"x\" "]
    {
        let document = document::Document::parse(json).unwrap();
        let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(json).unwrap()).unwrap();
        assert!(document.root.same(&document::Document::parse(&pretty).unwrap().root), "{json}");
    }
    let differ = |one: &str, two: &str| {
        let (one, two) = (document::Document::parse(one).unwrap(), document::Document::parse(two).unwrap());
        assert!(!one.root.same(&two.root));
    };
    differ("1", "2");
    differ("[1]", "[1, 2]");
    differ("{\"a\": 1}", "{\"b\": 1}");
    differ("12345678901234567890", "12345678901234567891");
    differ("null", "false");
}

#[test]
fn doubled_keys_are_problems_however_they_are_spelt() {
    let good = text(&file(&[with(story("A"), json!({"mine": {"x": 1}}))]));
    for (from, to, told) in [
        ("\"project\": \"p\"", "\"project\": \"p\", \"proj\\u0065ct\": \"q\"", "tasks.json: 'project' stands twice"),
        ("\"notes\": \"\"", "\"notes\": \"\", \"notes\": \"x\"", "Story A: 'notes' stands twice"),
        ("\"x\": 1", "\"x\": 1, \"x\": 2", "Story A: 'mine' stands twice"),
        (
            "\"verifyCommands\": [",
            "\"extra\": {\"a\": 1, \"a\": 1}, \"verifyCommands\": [",
            "tasks.json: 'extra' stands twice",
        ),
    ] {
        assert_eq!(problems(&good.replacen(from, to, 1)), [told]);
    }
}

#[test]
fn review_fields_of_a_person_must_agree_unless_reviews_are_skipped() {
    let check = |fields: Value, rules| words_of(&plan(&[with(approved("A"), fields)]).broken_invariants(rules, None));
    for status in [json!(null), json!("needs_review"), json!("changes_requested")] {
        let shown = status.as_str().unwrap_or("null").to_owned();
        let found = check(json!({"reviewStatus": status, "reviewFeedback": "f"}), Rules::default());
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with(&format!("Story A has passes=true but reviewStatus is '{shown}', not 'approved'.")),
            "{found:?}"
        );
        assert!(check(json!({"reviewStatus": status}), skip()).is_empty());
    }
    assert_eq!(check(json!({}), Rules::default()).len(), 0);
    assert!(check(json!({"passes": false}), Rules::default())[0].contains("out of sync"));
    let asked = json!({"passes": false, "reviewStatus": "changes_requested", "reviewFeedback": " "});
    assert!(check(asked, Rules::default())[0].contains("feedback required"));
    assert_eq!(check(json!({"reviewCount": 6}), Rules::default()).len(), 0);
    let told = "Story A has reviewCount=7 which exceeds reviewCap+1 (6). Possible corruption.";
    assert_eq!(check(json!({"reviewCount": 7}), Rules::default()), [told]);
    let known = plan(&[with(approved("A"), json!({"reviewCount": 7}))]);
    assert_eq!(known.broken_invariants(Rules::default(), Some(&known)), []);
}

#[test]
fn a_part_of_a_story_that_is_still_there_is_worth_a_warning() {
    let plan = plan(&[story("A"), with(story("B"), json!({"splitFrom": "A"}))]);
    assert_eq!(words_of(&plan.warnings()), ["Story B: 'splitFrom' names 'A', which is still in the plan"]);
}
