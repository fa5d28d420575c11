use std::io::{Read, Write};

use super::*;

/// Asks over HTTP and gives all that comes back.
fn ask(server: &ModelServer, path: &str, body: &Value) -> String {
    let mut connection = TcpStream::connect(("127.0.0.1", server.network.port())).unwrap();
    let body = body.to_string();
    write!(connection, "POST {path} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

fn server(json: &str) -> ModelServer {
    ModelServer::on_loopback(Scenario::parse(json).unwrap())
}

/// A request of every protocol that offers a shell tool in the words of one of its clients, and the
/// call that it gets for `ls`.
fn protocols() -> [(&'static str, Value, &'static str); 5] {
    let schema = |key: &str, kind: &str, required: &[&str]| json!({ "properties": { key: { "type": kind } }, "required": required });
    [
        (
            "/v1/messages?beta=true",
            json!({ "tools": [{ "name": "Bash", "input_schema": schema("command", "string", &["command"]) }] }),
            r#""partial_json":"{\"command\":\"ls\"}""#,
        ),
        (
            "/v1/responses",
            json!({ "tools": [{ "type": "function", "name": "exec_command", "parameters": schema("cmd", "string", &["cmd"]) }] }),
            r#""arguments":"{\"cmd\":\"ls\"}""#,
        ),
        (
            "/v1/responses",
            json!({ "tools": [{ "type": "function", "name": "shell", "parameters": schema("command", "array", &["command"]) }] }),
            r#""arguments":"{\"command\":[\"bash\",\"-c\",\"ls\"]}""#,
        ),
        (
            "/v1/chat/completions",
            json!({ "tools": [{ "function": { "name": "bash", "parameters": schema("command", "string", &["command", "description"]) } }] }),
            r#""arguments":"{\"command\":\"ls\",\"description\":\"run a command\"}""#,
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({ "tools": [{ "functionDeclarations": [{ "name": "run_shell_command", "parametersJsonSchema": {} }] }] }),
            r#""functionCall":{"name":"run_shell_command","args":{"command":"ls"}}"#,
        ),
    ]
}

#[test]
fn every_protocol_has_the_command_in_the_terms_of_its_client() {
    for (path, mut body, call) in protocols() {
        body["stream"] = json!(true);
        let server = server(r#"[{"thinking": "hm", "text": "look", "shell": ["ls"]}, {"text": "done"}]"#);
        let first = ask(&server, path, &body);
        assert!(first.starts_with("HTTP/1.1 200 ") && first.ends_with("0\r\n\r\n"), "{path}: {first}");
        assert!([call, "hm", "look"].iter().all(|part| first.contains(part)), "{path}: {first}");
        // The last reply is repeated.
        assert!((0..2).all(|_| ask(&server, path, &body).contains("done")), "{path}");
        assert_eq!(server.turns().len(), 3);
        body["stream"] = json!(false);
        assert!(ask(&server, path, &body).contains("done"), "{path}: at once");
    }
}

#[test]
fn a_refusal_has_its_status_headers_and_body() {
    let server = server(r#"[{"status": 429, "headers": {"retry-after": "7"}, "body": {"error": "slowly"}}]"#);
    for (path, body, _) in protocols() {
        let answer = ask(&server, path, &body);
        assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
        assert!(answer.contains("\r\nretry-after: 7\r\n") && answer.ends_with(r#"{"error":"slowly"}"#), "{answer}");
    }
}

#[test]
fn a_dropped_stream_ends_in_its_middle() {
    for (path, mut body, _) in protocols() {
        body["stream"] = json!(true);
        let answer = ask(&server(r#"[{"text": "half", "close": "drop"}]"#), path, &body);
        assert!(answer.contains("data: ") && !answer.ends_with("0\r\n\r\n"), "{path}: {answer}");
    }
}

#[test]
fn what_is_asked_beside_the_conversation_uses_up_no_reply() {
    let server = server(r#"[{"text": "first"}, {"status": 401}]"#);
    let talk = json!({ "tools": [{ "name": "Bash" }] });
    assert!(ask(&server, "/v1/messages/count_tokens", &talk).contains("input_tokens"));
    assert!(ask(&server, "/v1/messages", &json!({})).contains("ok"), "no tools: a title or the like");
    assert!(ask(&server, "/v1/messages", &talk).contains("first"));
    assert!(ask(&server, "/v1/messages", &json!({})).starts_with("HTTP/1.1 401 "), "who is refused is refused");
    assert_eq!((server.requests().len(), server.turns().len()), (4, 1));
}

#[test]
fn a_scenario_with_a_misspelt_key_or_without_replies_is_refused() {
    for wrong in ["[]", r#"[{"txet": "x"}]"#, r#"[{"status": 401, "text": "x"}]"#, r#"[{"close": "slam"}]"#] {
        assert!(Scenario::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_request_is_searched_as_text_and_not_as_json() {
    let request = Request { path: String::new(), body: json!({ "a": [{ "b": "say \"x\"\nplease" }] }), scripted: true };
    assert!(request.has("\"x\"\nplease") && !request.has("b"));
}
