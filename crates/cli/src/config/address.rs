//! What of a web address may be a secret: the login before its host, and everything behind a `?`.

/// Returns what may be a secret: the login, its password alone, the query.
pub(crate) fn secrets(url: &str) -> Vec<String> {
    let password = login(url).and_then(|login| login.split_once(':')).map(|(_, password)| password);
    [login(url), password, query(url)].into_iter().flatten().map(str::to_owned).collect()
}

/// Returns the address without them.
pub(crate) fn shown(url: &str) -> String {
    let mut shown = match query(url) {
        Some(query) => format!("{}***", &url[..url.len() - query.len()]),
        None => url.to_owned(),
    };
    if let (Some(login), Some((scheme, rest))) = (login(url), shown.split_once("://")) {
        shown = format!("{scheme}://***{}", &rest[login.len()..]);
    }
    shown
}

/// Returns the name and password before the host.
pub(crate) fn login(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    host.rsplit_once('@').map(|(login, _)| login)
}

fn query(url: &str) -> Option<&str> {
    url.split_once('?').map(|(_, query)| query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_and_queries_are_found_and_not_shown() {
        let check = |url: &str, expect: &str, hidden: &[&str]| {
            assert_eq!((shown(url).as_str(), secrets(url)), (expect, hidden.iter().map(|s| (*s).to_owned()).collect()));
        };
        check("https://h/mcp", "https://h/mcp", &[]);
        check("https://u:p@q@h:1/a@b?k=v", "https://***@h:1/a@b?***", &["u:p@q", "p@q", "k=v"]);
        check("https://token@h", "https://***@h", &["token"]);
        check("https://h?a@b", "https://h?***", &["a@b"]);
        check("no address", "no address", &[]);
    }
}
