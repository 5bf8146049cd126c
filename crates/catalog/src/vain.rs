//! Settings of tools that do nothing as they stand.
//!
//! Most need the whole catalog to be seen: `reconcile` names a tool, perhaps of another source. They are for the person who
//! wrote the settings; no model is told.

use crate::{
    catalog::Catalog,
    error::Unresolved,
    tool::{Replay, Tool},
};

impl Catalog {
    /// Returns the tool that tells what became of a call of `tool`, where its `reconcile` names one.
    ///
    /// # Errors
    ///
    /// Why that one is not asked, with the fix: nobody has that name, its source is down, it is the tool itself, or a call of
    /// it may not be repeated, and so may do what it should only look at.
    pub fn reconciler_of(&self, tool: &Tool) -> Option<Result<&Tool, String>> {
        let named = tool.reconcile.as_deref()?;
        Some(self.reconciler(tool, named).map_err(|why| match why {
            Vain::Down(message) => format!("its `reconcile` names `{named}`, which cannot be asked: {message}"),
            Vain::Setting(message) => message,
        }))
    }

    /// Returns what is to be said of settings of `tool` that have no effect. What cannot be told while a source is down is
    /// left out.
    #[must_use]
    pub fn vain_settings(&self, tool: &Tool) -> Vec<String> {
        let retry = (tool.retry.is_some() && tool.replay == Replay::Unsafe).then(|| {
            "its `retry` has no effect, since a call may not be repeated; say `replay = \"safe\"` or `\"keyed\"`"
                .to_owned()
        });
        let reconcile = tool.reconcile.as_deref().and_then(|named| match self.reconciler(tool, named) {
            Err(Vain::Setting(message)) => Some(message),
            Ok(_) | Err(Vain::Down(_)) => None,
        });
        retry.into_iter().chain(reconcile).collect()
    }

    fn reconciler(&self, tool: &Tool, named: &str) -> Result<&Tool, Vain> {
        let setting = |message: String| Err(Vain::Setting(message));
        match self.find(named) {
            Err(Unresolved::SourceDown { message }) => Err(Vain::Down(message)),
            Err(Unresolved::Unknown { message }) => setting(format!("its `reconcile` has no effect: {message}")),
            Ok(found) if (&found.source, &found.name) == (&tool.source, &tool.name) => setting(
                "its `reconcile` has no effect, since it names the tool itself; name one that only looks".to_owned(),
            ),
            Ok(found) if found.replay != Replay::Safe => setting(format!(
                "its `reconcile` has no effect, since `{}` is not declared safe to repeat; if it only looks, say \
                 `replay = \"safe\"` there",
                found.path()
            )),
            Ok(found) => Ok(found),
        }
    }
}

/// Why a named tool is not asked.
enum Vain {
    /// Its source is down, which may pass.
    Down(String),
    /// The settings are wrong.
    Setting(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalog::{SourceStatus, Status},
        tool::Retry,
    };

    #[test]
    fn a_setting_without_effect_is_told_with_the_way_out() {
        let mut look = Tool::new("shop", "look");
        look.replay = Replay::Safe;
        let down = SourceStatus {
            name: "away".into(),
            r#type: "mcp".into(),
            status: Status::Connecting,
            reason: None,
            since_ms: 0,
            tools: 0,
        };
        let catalog = Catalog::new(vec![look, Tool::new("shop", "buy"), Tool::new("shop", "sell")], vec![down]);
        let of = |named: &str| {
            let mut tool = Tool::new("shop", "buy");
            tool.reconcile = Some(named.into());
            let found = catalog.reconciler_of(&tool).unwrap().map(Tool::path);
            (catalog.vain_settings(&tool), found)
        };
        assert_eq!(of("shop.look"), (vec![], Ok("shop.look".to_owned())));
        let told = |named: &str, start: &str| {
            let (notes, found) = of(named);
            assert!(notes.len() == 1 && notes[0].starts_with(start), "{named}: {notes:?}");
            assert_eq!(found, Err(notes[0].clone()));
        };
        told("shop.lok", "its `reconcile` has no effect: unknown tool `shop.lok`; did you mean `look`?");
        told("ship.look", "its `reconcile` has no effect: no source `ship`");
        told("shop.buy", "its `reconcile` has no effect, since it names the tool itself");
        told("shop.sell", "its `reconcile` has no effect, since `shop.sell` is not declared safe to repeat");
        // What may be right as soon as the source answers is no fault of the settings, and nobody is asked meanwhile.
        let (notes, found) = of("away.look");
        assert_eq!(notes, Vec::<String>::new());
        assert!(found.unwrap_err().contains("source `away` is down"));

        let mut tool = Tool::new("shop", "buy");
        tool.retry = Some(Retry { attempts: 3, backoff_ms: 1 });
        let said =
            "its `retry` has no effect, since a call may not be repeated; say `replay = \"safe\"` or `\"keyed\"`";
        assert_eq!(catalog.vain_settings(&tool), [said]);
        tool.replay = Replay::Keyed;
        assert_eq!(catalog.vain_settings(&tool), [""; 0]);
    }
}
