//! What `[serve]` says of clients that come by HTTP.

use refrain_server::{HttpSettings, Scope, Token};

use super::{document::Table, secret::Secrets};

/// Keys that are read here.
pub(crate) const KEYS: &[&str] = &["tokens", "hosts", "origins"];
const TOKEN: &[&str] = &["token", "scopes"];
/// Shorter ones can be guessed.
const LEAST_BYTES: usize = 16;

/// Reads who may come in. What is wrong goes to the faults of the file.
pub(crate) fn read(root: &Table<'_>, secrets: &Secrets<'_>) -> HttpSettings {
    let Some(serve) = root.table("serve") else { return HttpSettings::default() };
    HttpSettings {
        tokens: serve.rows("tokens").iter().filter_map(|table| token(table, secrets)).collect(),
        hosts: serve.texts("hosts").unwrap_or_default(),
        origins: origins(&serve),
    }
}

fn origins(serve: &Table<'_>) -> Vec<String> {
    let all = serve.texts("origins").unwrap_or_default();
    for origin in all.iter().filter(|origin| !origin.starts_with("https://") && !origin.starts_with("http://")) {
        serve.fault("origins", format!("has `{origin}`; write it as a browser does, `https://app.example.com`"));
    }
    // The library takes one without a port for any port.
    let with_port = |origin: String| {
        let (scheme, rest) = origin.split_once("://").unwrap_or(("https", &origin));
        let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port == "*" || port.parse::<u16>().is_ok());
        match (has_port, scheme) {
            (true, _) => origin,
            (false, "http") => format!("{origin}:80"),
            (false, _) => format!("{origin}:443"),
        }
    };
    all.into_iter().map(with_port).collect()
}

fn token(table: &Table<'_>, secrets: &Secrets<'_>) -> Option<Token> {
    table.known(TOKEN, &[]);
    if !table.has("token") {
        table.fault("", "has no `token`; write a reference such as `token = \"env:REFRAIN_TOKEN\"`");
    }
    let secret = secrets.token(&table.text("token")?, table.folder());
    let secret = secret.map_err(|why| table.fault("token", format!("cannot be read: {why}"))).ok()?;
    if let Some(secret) = secret.as_ref().filter(|secret| secret.len() < LEAST_BYTES) {
        let told = format!("has {} characters and can be guessed; take {LEAST_BYTES} or more", secret.len());
        table.fault("token", told);
    }
    let named = table.texts("scopes").unwrap_or_else(|| vec!["run".to_owned()]);
    let mut scopes = Vec::new();
    for name in named {
        match name.as_str() {
            "run" => scopes.push(Scope::Run),
            "approve" => scopes.push(Scope::Approve),
            "admin" => scopes.push(Scope::Admin),
            other => table.fault("scopes", format!("has `{other}`; there are `run`, `approve`, `admin`")),
        }
    }
    Some(Token { secret: secret?, scopes })
}
