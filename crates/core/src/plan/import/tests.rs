#![allow(clippy::indexing_slicing, clippy::panic)]

use super::*;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

const OPTIONS: Options<'_> = Options { project: "shop", reopen: false };

fn imported(text: &str) -> (Imported, Value) {
    let imported = import(text.as_bytes(), &OPTIONS).unwrap_or_else(|error| panic!("{error}: {text}"));
    let plan = serde_json::from_str(&imported.tasks).unwrap_or_default();
    assert_valid(&plan);
    (imported, plan)
}

fn story<'a>(plan: &'a Value, id: &str) -> &'a Value {
    let stories = plan["userStories"].as_array().map(Vec::as_slice).unwrap_or_default();
    stories.iter().find(|story| story["id"] == id).unwrap_or_else(|| panic!("no {id} in {plan:#}"))
}

fn ids(plan: &Value) -> Vec<&str> {
    plan["userStories"].as_array().into_iter().flatten().filter_map(|story| story["id"].as_str()).collect()
}

/// The rules that a `tasks.json` of a person has to keep.
fn assert_valid(plan: &Value) {
    assert!(plan["project"].as_str().is_some_and(|name| !name.is_empty()), "{plan:#}");
    assert!(plan["description"].is_string());
    assert!(plan.get("branchName").is_none_or(Value::is_string));
    assert!(plan["verifyCommands"].as_array().is_some_and(|list| list.iter().all(Value::is_string)));
    let stories = plan["userStories"].as_array().map(Vec::as_slice).unwrap_or_default();
    assert!(!stories.is_empty());
    let mut ids = HashSet::new();
    for story in stories {
        let id = story["id"].as_str().unwrap_or_default();
        let safe = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        assert!((1..=64).contains(&id.len()) && id.bytes().all(safe), "{id:?}");
        assert!(ids.insert(id), "{id} twice");
        let title = story["title"].as_str().unwrap_or_default();
        assert!(!title.trim().is_empty() && !title.contains('\n') && title.chars().count() <= 120, "{title:?}");
        for name in ["description", "reviewFeedback", "notes"] {
            assert!(story[name].is_string(), "{story:#}");
        }
        let criteria = story["acceptanceCriteria"].as_array().map(Vec::as_slice).unwrap_or_default();
        assert!(!criteria.is_empty() && criteria.iter().all(|c| c.as_str().is_some_and(|c| !c.trim().is_empty())));
        assert!(story["priority"].as_u64().is_some_and(|priority| priority >= 1), "{story:#}");
        assert!(story["reviewCount"].as_u64().is_some_and(|count| count <= 5), "{story:#}");
        let (passes, status) = (&story["passes"], &story["reviewStatus"]);
        assert!(passes.is_boolean());
        assert!(
            status.is_null() || ["needs_review", "changes_requested", "approved"].iter().any(|known| status == known)
        );
        assert_eq!(*passes == true, *status == "approved", "{story:#}");
        assert_eq!(*status == "changes_requested", story["reviewFeedback"] != "", "{story:#}");
        assert!(*passes == false || story["notes"].as_str().is_some_and(|notes| notes.ends_with("imported as done")));
    }
    assert_no_cycle(stories, &ids);
}

fn assert_no_cycle(stories: &[Value], ids: &HashSet<&str>) {
    let depends: HashMap<&str, Vec<&str>> = stories
        .iter()
        .map(|story| {
            let on: Vec<&str> = story["dependsOn"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            assert!(on.iter().all(|on| ids.contains(on)), "{story:#}");
            (story["id"].as_str().unwrap_or_default(), on)
        })
        .collect();
    let mut placed: HashSet<&str> = HashSet::new();
    loop {
        let ready: Vec<&str> = depends
            .iter()
            .filter(|(id, on)| !placed.contains(*id) && on.iter().all(|on| placed.contains(on)))
            .map(|(id, _)| *id)
            .collect();
        if ready.is_empty() {
            break;
        }
        placed.extend(ready);
    }
    assert_eq!(placed.len(), depends.len(), "a circle: {depends:?}");
}

const PRD_JSON: &str = include_str!("../../../../../fuzz/seeds/import/prd.json");
const PLUGIN: &str = include_str!("../../../../../fuzz/seeds/import/plugin_tasks.json");
const ISSUES: &str = include_str!("../../../../../fuzz/seeds/import/issues.json");
const FIX_PLAN: &str = include_str!("../../../../../fuzz/seeds/import/fix_plan.md");
const HEADINGS: &str = include_str!("../../../../../fuzz/seeds/import/headings.md");
const SPEC_TASKS: &str = include_str!("../../../../../fuzz/seeds/import/spec_tasks.md");

#[test]
fn a_prd_json_keeps_its_stories_and_those_that_pass_are_done() {
    let (imported, plan) = imported(PRD_JSON);
    assert_eq!((imported.source, imported.stories, imported.done), (Source::PrdJson, 3, 1));
    assert_eq!(plan["project"], "Parcels");
    assert_eq!(plan["branchName"], "ralph/tracking");
    assert_eq!(plan["verifyCommands"], serde_json::json!(["npm run build", "npm test"]));
    assert_eq!(ids(&plan), ["US-001", "US-002", "US-003"]);
    let done = story(&plan, "US-001");
    assert_eq!(done["passes"], true);
    assert_eq!(done["reviewStatus"], "approved");
    assert_eq!(done["reviewCount"], 0);
    assert_eq!(done["notes"], "imported as done");
    assert_eq!(story(&plan, "US-002")["notes"], "uses the migration");
    assert_eq!(story(&plan, "US-003")["dependsOn"], serde_json::json!(["US-001", "US-002"]));
    assert_eq!(story(&plan, "US-003")["priority"], 7);
    assert_eq!(imported.unmapped, ["Fields that ralph keeps and does not use: estimate"]);
    assert_eq!(story(&plan, "US-002")["estimate"], "small");
}

#[test]
fn stories_that_are_done_can_be_opened_again() {
    for text in [PRD_JSON, PLUGIN, ISSUES, FIX_PLAN] {
        let again = import(text.as_bytes(), &Options { reopen: true, ..OPTIONS }).unwrap_or_else(|e| panic!("{e}"));
        assert!(again.done > 0);
        let plan: Value = serde_json::from_str(&again.tasks).unwrap_or_default();
        assert_valid(&plan);
        for story in plan["userStories"].as_array().into_iter().flatten() {
            assert_eq!(story["passes"], false);
            assert!(!again.tasks.contains("imported as done"));
        }
    }
}

#[test]
fn a_plan_of_the_plugin_keeps_its_reviews_and_needs_no_branch() {
    let (imported, plan) = imported(PLUGIN);
    assert_eq!(imported.source, Source::Plugin);
    assert_eq!(plan.get("branchName"), None);
    let done = story(&plan, "US-001");
    assert_eq!(
        (&done["passes"], &done["reviewStatus"], &done["reviewCount"]),
        (&true.into(), &"approved".into(), &0.into())
    );
    assert_eq!(done["notes"], "Built the table.\n[AUTO-APPROVED AT CAP] names are long\nimported as done");
    let asked = story(&plan, "US-002");
    assert_eq!((&asked["reviewStatus"], &asked["reviewCount"]), (&"changes_requested".into(), &2.into()));
    assert_eq!(asked["reviewFeedback"], "Handle an empty cart.");
    assert_eq!(story(&plan, "US-003")["reviewStatus"], "needs_review");
    assert_eq!(story(&plan, "US-004")["reviewStatus"], Value::Null);
    assert_eq!(imported.unmapped.len(), 1, "{:?}", imported.unmapped);
    // What a plan of ralph holds comes back as it was.
    let (again, _) = self::imported(&imported.tasks.replace("imported as done", "x"));
    assert_eq!(again.tasks.replace("x\\nimported as done", "imported as done"), imported.tasks);
}

#[test]
fn issues_become_stories_the_oldest_first() {
    let (imported, plan) = imported(ISSUES);
    assert_eq!((imported.source, imported.stories, imported.done), (Source::Issues, 3, 1));
    assert_eq!(ids(&plan), ["GH-7", "GH-9", "GH-12"]);
    let open = story(&plan, "GH-12");
    assert_eq!(open["title"], "Filter orders");
    assert_eq!(open["acceptanceCriteria"], serde_json::json!(["filter by day", "filter by state"]));
    assert_eq!(open["dependsOn"], serde_json::json!(["GH-7", "GH-9"]));
    assert_eq!(open["labels"], serde_json::json!(["enhancement"]));
    assert_eq!(open["priority"], 1, "its label says high");
    assert_eq!(story(&plan, "GH-7")["passes"], true);
    assert_eq!(
        story(&plan, "GH-9")["acceptanceCriteria"],
        serde_json::json!(["a click sorts", "a second one reverses"])
    );
    let told = imported.unmapped.join("\n");
    assert!(told.contains("closed without being done were left out: #5 Never mind"), "{told}");
    assert!(told.contains("GH-9 on #400"), "{told}");
    for text in [
        "[{\"number\":1,\"title\":\"a\"}][{\"number\":2,\"title\":\"b\"}]",
        "{\"number\":2,\"title\":\"b\"}\n{\"number\":1,\"title\":\"a\"}\n",
    ] {
        assert_eq!(ids(&self::imported(text).1), ["GH-1", "GH-2"], "pages and lines");
    }
    assert_eq!(ids(&self::imported("{\"number\":1,\"title\":\"a\"}").1), ["GH-1"], "a single one");
}

#[test]
fn a_list_of_boxes_becomes_stories_by_urgency() {
    let (imported, plan) = imported(FIX_PLAN);
    assert_eq!((imported.source, imported.stories, imported.done), (Source::CheckList, 6, 2));
    assert_eq!(plan["project"], "Fix plan of the shop");
    let titles: Vec<&str> =
        plan["userStories"].as_array().into_iter().flatten().filter_map(|story| story["title"].as_str()).collect();
    assert_eq!(
        titles,
        ["Sketch the cart", "Sum up the cart", "Empty cart", "Write `docs/api.md`", "Cart speed", "Begin the project"]
    );
    let cart = &plan["userStories"][1];
    assert_eq!(cart["acceptanceCriteria"], serde_json::json!(["taxes are added", "an empty cart costs 0"]));
    assert_eq!(cart["description"], "- see src/cart.rs\nIt is the same for guests.");
    let urgency: Vec<u64> =
        plan["userStories"].as_array().into_iter().flatten().filter_map(|story| story["priority"].as_u64()).collect();
    assert_eq!(urgency, [5, 2, 3, 4, 6, 1], "low, high, high, medium, low, critical");
    let told = imported.unmapped.join("\n");
    for expected in ["[~] Empty cart", "Boxes without text were left out: [ ]", "Text outside of tasks", "US-004"] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
}

#[test]
fn headings_of_tasks_become_stories_with_their_boxes_as_criteria() {
    let (imported, plan) = imported(HEADINGS);
    assert_eq!((imported.source, imported.stories, imported.done), (Source::Headings, 4, 2));
    assert_eq!(ids(&plan), ["Task-1", "Task-2", "US-014", "US-004"]);
    assert_eq!(story(&plan, "Task-1")["passes"], true, "all of its boxes are checked");
    let second = story(&plan, "Task-2");
    assert_eq!(second["title"], "Send mail");
    assert_eq!(second["acceptanceCriteria"], serde_json::json!(["Step 1: template", "Step 2: queue"]));
    assert_eq!(second["dependsOn"], serde_json::json!(["Task-1"]));
    assert!(
        second["description"]
            .as_str()
            .is_some_and(|text| text.contains("# not a heading") && text.contains("- [ ] no box"))
    );
    assert_eq!(story(&plan, "US-014")["acceptanceCriteria"], serde_json::json!(["bounces are logged"]));
    assert_eq!(story(&plan, "US-014")["passes"], true, "it says so");
    assert_eq!(story(&plan, "US-004")["title"], "Check by hand", "a box outside of all tasks is one too");
}

#[test]
fn numbered_tasks_keep_their_ids() {
    let (imported, plan) = imported(SPEC_TASKS);
    assert_eq!(imported.source, Source::CheckList);
    assert_eq!(ids(&plan), ["T001", "T002", "T010", "2.1", "3", "US-007"]);
    assert_eq!(story(&plan, "T002")["title"], "[P] Configure the linter");
    assert_eq!(story(&plan, "T010")["dependsOn"], serde_json::json!(["T001", "T002"]));
    assert_eq!(story(&plan, "T010")["title"], "Write the parser");
    assert_eq!(story(&plan, "2.1")["title"], "2.1 draw the flow");
    assert_eq!(story(&plan, "3")["title"], "Publish");
    assert_eq!(story(&plan, "US-007")["title"], "Grow");
}

#[test]
fn a_heading_is_a_task_if_it_says_so() {
    let text = "# Plan\n## Goals ✅\n- ✅ fast\n### 1. [ ] Set up\n**Why**: it is first\n### 2. [x] Build\n## Task 3: Ship ✅\n\
                - **Priority**: High\n- **Dependencies**: None\n### Step 1: pack\n### Step 2: send\n## 4. Review\n- [ ] by Kim\n\
                ## 5. Background\nProse.\n## Learn C#\n";
    let (imported, plan) = imported(text);
    assert_eq!((imported.source, imported.stories, imported.done), (Source::Headings, 4, 2));
    assert_eq!(ids(&plan), ["1", "2", "Task-3", "4"]);
    assert_eq!(story(&plan, "1")["description"], "**Why**: it is first");
    assert_eq!(story(&plan, "2")["passes"], true);
    let third = story(&plan, "Task-3");
    assert_eq!((&third["title"], &third["passes"], &third["priority"]), (&"Ship".into(), &true.into(), &1.into()));
    assert_eq!(third["description"], "- **Dependencies**: None\nStep 1: pack\nStep 2: send");
    assert_eq!(story(&plan, "4")["acceptanceCriteria"], serde_json::json!(["by Kim"]));
    let (_, plan) =
        self::imported("## Part A\n### Story 1: group\n#### Task 1.1: one\n#### Task 1.2: two\n## Step 9: no\n");
    assert_eq!(ids(&plan), ["Task-1.1", "Task-1.2"], "a group is no task, and steps are none beside tasks");
    let (_, plan) = self::imported("## Step 1: one\n## Step 2: two\nDepends on step 1.\n");
    assert_eq!(ids(&plan), ["Step-1", "Step-2"]);
    assert_eq!(story(&plan, "Step-2")["dependsOn"], serde_json::json!(["Step-1"]));
}

#[test]
fn words_that_look_like_ids_stay_in_titles() {
    for title in
        ["S3 bucket for logs", "OAuth2 login", "UTF-8 names", "Python 3 upgrade", "SHA-256 of files", "3 new endpoints"]
    {
        let (_, plan) = imported(&format!("- [ ] {title}\n"));
        assert_eq!(
            (&plan["userStories"][0]["id"], &plan["userStories"][0]["title"]),
            (&"US-001".into(), &title.into())
        );
    }
}

#[test]
fn ids_are_made_safe_and_unique_and_dependencies_follow() {
    let long = "x".repeat(100);
    let text = serde_json::json!([
        {"id": "a/b", "title": "one", "passes": false},
        {"id": "a-b", "title": "two", "dependsOn": ["a/b", "A/B", "a-b", "gone"]},
        {"id": "a/b", "title": "three"},
        {"id": "🎉", "title": "four", "dependsOn": ["🎉", "US-004"]},
        {"id": "US-004", "title": "five", "dependsOn": ["🎉"]},
        {"id": long, "title": "six"}, {"id": long, "title": "seven"},
        {"title": "eight", "dependsOn": ["nine's id"]}, {"id": "nine's id", "title": "nine", "dependsOn": ["US-008"]},
        {"id": 12, "title": "ten"}, {"id": "..", "title": "eleven"},
    ]);
    let (imported, plan) = imported(&text.to_string());
    let cut = "x".repeat(64);
    let shorter = format!("{}-2", "x".repeat(62));
    let expected = ["a-b-2", "a-b", "a-b-3", "US-004-2", "US-004", &cut, &shorter, "US-008", "nine-s-id", "12", ".."];
    assert_eq!(ids(&plan), expected);
    assert_eq!(story(&plan, "a-b")["dependsOn"], serde_json::json!(["a-b-2"]));
    assert_eq!(story(&plan, "US-004")["dependsOn"], serde_json::json!(["US-004-2"]));
    let told = imported.unmapped.join("\n");
    for expected in ["a/b is now a-b-2, a/b is now a-b-3,", "a-b on gone", "US-008 on nine-s-id"] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
}

#[test]
fn a_story_says_no_more_than_a_plan_allows() {
    let text = serde_json::json!({"stories": [
        {"id": "a", "title": "changes without feedback", "reviewStatus": "changes_requested", "reviewCount": 99},
        {"id": "b", "title": "approved and not done", "reviewStatus": "approved", "passes": false},
        {"id": "c", "title": "passed without a review", "passes": true, "reviewStatus": null},
        {"id": "d", "title": "odd", "reviewStatus": 7, "reviewCount": -1, "passes": "true", "notes": null},
        {"id": "e", "description": "Only a description.\nAnd more.", "steps": [{"text": "one"}, "two", 3, null, [], " "]},
        {"id": "f", "title": "word ".repeat(60), "status": "completed"},
        {"id": "g", "title": "a\nb\u{0}", "acceptanceCriteria": "just one", "splitFrom": "old"},
        {}, 7, null,
    ]});
    let (imported, plan) = imported(&text.to_string());
    assert_eq!(imported.stories, 7);
    assert_eq!(story(&plan, "a")["reviewStatus"], "needs_review");
    assert_eq!(story(&plan, "a")["reviewCount"], 5);
    assert_eq!(story(&plan, "b")["passes"], false);
    assert_eq!(story(&plan, "c")["passes"], true);
    assert_eq!(story(&plan, "d")["passes"], true);
    assert_eq!(story(&plan, "e")["title"], "Only a description.");
    assert_eq!(story(&plan, "e")["acceptanceCriteria"], serde_json::json!(["one", "two", "3"]));
    assert_eq!(story(&plan, "f")["passes"], true);
    assert!(story(&plan, "f")["description"].as_str().is_some_and(|text| text.starts_with("word word")));
    assert_eq!(story(&plan, "g")["title"], "a b");
    assert_eq!(story(&plan, "g")["acceptanceCriteria"], serde_json::json!(["just one"]));
    assert_eq!(story(&plan, "g").get("splitFrom"), None);
}

#[test]
fn priorities_in_words_become_an_order() {
    let text = serde_json::json!([
        {"title": "a", "priority": "low"}, {"title": "b", "priority": "Critical"}, {"title": "c"},
        {"title": "d", "priority": 0}, {"title": "e", "priority": {"odd": 1}},
    ]);
    let (_, plan) = imported(&text.to_string());
    let numbers: Vec<u64> =
        plan["userStories"].as_array().into_iter().flatten().filter_map(|story| story["priority"].as_u64()).collect();
    assert_eq!(numbers, [3, 1, 4, 2, 5]);
    assert_eq!(plan["userStories"][4]["importedPriority"], serde_json::json!({"odd": 1}));
}

#[test]
fn what_cannot_be_imported_says_why() {
    let error = |bytes: &[u8]| import(bytes, &OPTIONS).map(|imported| imported.tasks);
    assert_eq!(error(b"abc \xff"), Err(ImportError::NotText { at: 4 }));
    assert_eq!(error(&vec![b' '; LARGEST + 1]), Err(ImportError::TooLarge { bytes: LARGEST + 1 }));
    for text in ["", "\u{feff}", "# Title\n\nProse.\n", "[]", "{}", "{\"userStories\": []}", "{\"userStories\": [1]}"] {
        assert_eq!(error(text.as_bytes()), Err(ImportError::NoTasks), "{text}");
    }
    assert!(matches!(error(b"{\"a\": }"), Err(ImportError::Json { .. })));
    assert!(matches!(error("[".repeat(100_000).as_bytes()), Err(ImportError::Json { .. })), "no deep recursion");
    assert!(error(b"[badge](x)\n- [ ] a task\n").is_ok(), "Markdown may begin with a bracket");
}

#[test]
fn a_text_is_read_whatever_its_line_ends_comments_and_fences() {
    let text = "\u{feff}---\ntitle: x\n---\r\n# P\r\n<!-- - [ ] no -->\r\n```\n- [ ] no\n```\r\n* [X] yes\r\n\t* [ ] deep\r\n1) [ ] and\r\n";
    let (imported, plan) = imported(text);
    assert_eq!((imported.stories, imported.done), (2, 1));
    assert_eq!(plan["userStories"][0]["acceptanceCriteria"], serde_json::json!(["deep"]));
    let (_, plan) = self::imported("---\n\n- [ ] one\n\n---\n\n- [ ] two\n");
    assert_eq!(ids(&plan), ["US-001", "US-002"], "a line is no front matter");
}

#[test]
fn many_stories_with_one_id_and_long_chains_are_quick() {
    let stories: Vec<Value> = (0..5_000)
        .map(|number| serde_json::json!({"id": "same", "title": "t", "dependsOn": [format!("same-{}", number + 1)]}))
        .collect();
    let (imported, _) = imported_unchecked(&Value::Array(stories).to_string());
    assert_eq!(imported.stories, 5_000);
    let deep: String = (0..5_000).map(|number| format!("{}- [ ] task {number}\n", " ".repeat(number % 50))).collect();
    imported_unchecked(&deep);
}

fn imported_unchecked(text: &str) -> (Imported, ()) {
    (import(text.as_bytes(), &OPTIONS).unwrap_or_else(|error| panic!("{error}")), ())
}

/// Values that stand where they do not belong.
fn odd_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}|[a-c]|needs_review|approved|changes_requested|done|high".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec(("[a-c]|id|title|description", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

const FIELDS: &str = "id|title|description|acceptanceCriteria|priority|passes|reviewStatus|reviewCount|reviewFeedback|notes|dependsOn|verifyCommands|splitFrom|number|body|labels|state|status|odd";

proptest! {
    #[test]
    fn any_stories_become_a_valid_plan(
        stories in proptest::collection::vec(proptest::collection::vec((FIELDS, odd_value()), 1..8), 1..8),
        top in proptest::collection::vec(("project|branchName|description|verifyCommands|more", odd_value()), 0..4),
        reopen: bool,
    ) {
        let stories: Vec<Value> =
            stories.into_iter().map(|fields| Value::Object(fields.into_iter().collect())).collect();
        let mut plan: serde_json::Map<String, Value> = top.into_iter().collect();
        plan.insert("userStories".to_owned(), Value::Array(stories));
        if let Ok(imported) = import(Value::Object(plan).to_string().as_bytes(), &Options { reopen, ..OPTIONS }) {
            assert_valid(&serde_json::from_str(&imported.tasks).unwrap_or_default());
        }
    }

    #[test]
    fn any_text_becomes_a_valid_plan_or_an_error(
        lines in proptest::collection::vec("[ \t]{0,6}(- |\\* |1\\. |## |# |### Task 1: |> |```)?(\\[[ xX~?]?\\] )?(✅|US-001: |T001 |1\\.2 |depends on: )?\\PC{0,10}", 0..20),
    ) {
        if let Ok(imported) = import(lines.join("\n").as_bytes(), &OPTIONS) {
            assert_valid(&serde_json::from_str(&imported.tasks).unwrap_or_default());
        }
    }

    #[test]
    fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = import(&bytes, &OPTIONS);
    }
}

#[test]
fn mutated_files_of_every_tool_become_a_valid_plan_or_an_error() {
    ralph_testkit::fuzz("import", 1_000, |bytes| {
        if let Ok(imported) = import(bytes, &OPTIONS) {
            assert_valid(&serde_json::from_str(&imported.tasks).unwrap_or_default());
        }
    });
}
