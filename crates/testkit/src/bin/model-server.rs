//! The scripted model server by hand: `model-server SCENARIO.json` prints its address and answers until
//! it is ended. Each request is printed as it comes. With `--toolless` behind it every request is answered by the
//! scenario, for a client that offers no tools.

use std::process::ExitCode;
use std::time::Duration;

use ralph_testkit::model_server::{ModelServer, Scenario};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: model-server SCENARIO.json [--toolless]");
        return ExitCode::from(2);
    };
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
    match text.and_then(|text| Scenario::parse(&text)) {
        Ok(scenario) => serve(&ModelServer::on_loopback(scenario)),
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::from(2)
        }
    }
}

fn serve(server: &ModelServer) -> ! {
    if std::env::args_os().nth(2).is_some_and(|flag| flag == "--toolless") {
        server.every_request_counts();
    }
    println!("{}", server.url());
    let mut shown = 0;
    loop {
        for request in server.requests().iter().skip(shown) {
            println!("{} {}", request.path, request.body);
            shown += 1;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
