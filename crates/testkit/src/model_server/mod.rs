//! A model provider that says what a scenario tells it to, so that real agent programs can be run
//! without any provider.
//!
//! It speaks the four protocols that the programs speak: Anthropic Messages, OpenAI Responses, Chat
//! Completions and Gemini. It never judges a request: it keeps it, and answers with the next reply of the
//! scenario. `SCENARIOS.md` beside this crate describes the replies. What is asked beside the
//! conversation (a title, a count of tokens, a list of models) is answered too and uses up no reply.
//!
//! A test gives the server to `Invocation::with_model`: the run then sees no other network than its
//! own loopback, and this server on it.

// Indexing a JSON value never panics: what it lacks is null.
#![allow(clippy::indexing_slicing)]

mod anthropic;
mod chat;
mod gemini;
mod http;
mod network;
mod responses;
mod scenario;
mod tools;

use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use http::{Exchange, Frame};
pub(crate) use network::{Handover, Network};
pub use scenario::{Answer, Close, Refusal, Reply, Scenario, ToolCall};

/// A provider with a scenario. Copies share the scenario and the requests.
#[derive(Clone)]
pub struct ModelServer {
    state: Arc<Mutex<State>>,
    network: Network,
}

struct State {
    scenario: Scenario,
    requests: Vec<Request>,
    /// The client has no tools, so nothing tells its conversation from what it asks beside it.
    toolless: bool,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// The path, without what follows a question mark.
    pub path: String,
    /// The body; null if it was no JSON.
    pub body: Value,
    /// Whether it was answered by a reply of the scenario.
    pub scripted: bool,
}

/// How one protocol puts an answer: as a stream and at once.
struct Protocol {
    stream: fn(&Answer, &Value) -> Vec<Frame>,
    whole: fn(&Answer, &Value) -> Value,
}

const ANTHROPIC: Protocol = Protocol { stream: anthropic::stream, whole: anthropic::whole };
const RESPONSES: Protocol = Protocol { stream: responses::stream, whole: responses::whole };
const CHAT: Protocol = Protocol { stream: chat::stream, whole: chat::whole };
const GEMINI: Protocol = Protocol { stream: gemini::stream, whole: gemini::whole };

impl ModelServer {
    /// A server for runs that are cut off from every other network, where the kernel allows that; else
    /// one that listens on this machine's loopback.
    pub fn new(scenario: impl Into<Scenario>) -> ModelServer {
        if Network::own_is_allowed() {
            return ModelServer::with(scenario.into(), Network::Own);
        }
        ModelServer::on_loopback(scenario)
    }

    /// A server on this machine's loopback, for use by hand.
    pub fn on_loopback(scenario: impl Into<Scenario>) -> ModelServer {
        let (network, listener) = Network::shared();
        let server = ModelServer::with(scenario.into(), network);
        server.serve(listener);
        server
    }

    fn with(scenario: Scenario, network: Network) -> ModelServer {
        ModelServer { state: Arc::new(Mutex::new(State { scenario, requests: Vec::new(), toolless: false })), network }
    }

    /// Where a client finds it: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.network.port())
    }

    /// What it says from now on.
    pub fn scenario(&self, scenario: impl Into<Scenario>) {
        self.state.lock().unwrap().scenario = scenario.into();
    }

    /// Every request is one of the conversation: for a client that offers no tools.
    pub fn every_request_counts(&self) {
        self.state.lock().unwrap().toolless = true;
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }

    /// Requests of the conversation itself so far.
    pub fn turns(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.scripted).collect()
    }

    pub(crate) fn network(&self) -> Network {
        self.network
    }

    /// Answers whoever connects there, in threads of their own. They end with the test's process: a
    /// client that waits for a stalled answer is not to be woken by the end of the server.
    pub(crate) fn serve(&self, listener: TcpListener) {
        let server = self.clone();
        std::thread::spawn(move || {
            while let Ok((connection, _)) = listener.accept() {
                let server = server.clone();
                std::thread::spawn(move || server.answer(connection));
            }
        });
    }

    /// One request a connection: every answer says so, and clients open another.
    fn answer(&self, connection: TcpStream) {
        let Some((exchange, head)) = Exchange::receive(connection) else { return };
        let (path, query) = head.target.split_once('?').unwrap_or((&head.target, ""));
        let body: Value = serde_json::from_slice(&head.body).unwrap_or(Value::Null);
        let reply = protocol(path).map(|protocol| (protocol, self.next(path, &body)));
        if reply.is_none() {
            self.keep(path, &body, false);
        }
        // A client that went away needs no answer.
        let _ = match reply {
            None => exchange.whole(200, &[], &beside(path)),
            Some((_, Reply::Refusal(refusal))) => exchange.whole(refusal.status, &refusal.headers(), &refusal.body),
            Some((protocol, Reply::Answer(answer))) if wants_stream(path, query, &body) => {
                exchange.stream(&(protocol.stream)(&answer, &body), answer.close)
            }
            Some((protocol, Reply::Answer(answer))) => exchange.whole(200, &[], &(protocol.whole)(&answer, &body)),
        };
    }

    /// The next reply of the scenario. A request that offers no tools, or demands a certain one, is asked beside
    /// the conversation, for a title or a summary: it gets a word, or the refusal that would come next.
    fn next(&self, path: &str, body: &Value) -> Reply {
        let scripted = self.state.lock().unwrap().toolless || tools::is_open(body);
        self.keep(path, body, scripted);
        let scenario = &mut self.state.lock().unwrap().scenario;
        match (scripted, scenario.current()) {
            (true, _) => scenario.take(),
            (false, Reply::Refusal(refusal)) => Reply::Refusal(refusal.clone()),
            (false, Reply::Answer(_)) => Reply::text("ok"),
        }
    }

    fn keep(&self, path: &str, body: &Value, scripted: bool) {
        let request = Request { path: path.to_owned(), body: body.clone(), scripted };
        self.state.lock().unwrap().requests.push(request);
    }
}

impl Request {
    /// Whether the text stands somewhere in the request.
    pub fn has(&self, text: &str) -> bool {
        fn within(value: &Value, text: &str) -> bool {
            match value {
                Value::String(string) => string.contains(text),
                Value::Array(items) => items.iter().any(|item| within(item, text)),
                Value::Object(fields) => fields.values().any(|field| within(field, text)),
                _ => false,
            }
        }
        within(&self.body, text)
    }
}

fn protocol(path: &str) -> Option<Protocol> {
    let of = [
        ("/messages", ANTHROPIC),
        ("/responses", RESPONSES),
        ("/chat/completions", CHAT),
        (":generateContent", GEMINI),
        (":streamGenerateContent", GEMINI),
    ];
    of.into_iter().find(|(ending, _)| path.ends_with(ending)).map(|(_, protocol)| protocol)
}

fn wants_stream(path: &str, query: &str, body: &Value) -> bool {
    path.ends_with(":streamGenerateContent") || query.contains("alt=sse") || body["stream"] == true
}

/// What is asked beside conversations.
fn beside(path: &str) -> Value {
    match path.rsplit('/').next().unwrap_or_default() {
        "count_tokens" => json!({ "input_tokens": 1200 }),
        "models" => json!({ "object": "list", "data": [{ "id": "mock-model", "object": "model" }], "models": [] }),
        name if name.ends_with(":countTokens") => json!({ "totalTokens": 1200 }),
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests;
