//! The environment, read once.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

/// The environment as it was at the start.
#[derive(Clone, Default)]
pub(crate) struct Variables(BTreeMap<OsString, OsString>);

impl Variables {
    /// Reads the environment of this process.
    pub(crate) fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// Returns a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Returns a variable as text; none when it is not set.
    ///
    /// # Errors
    ///
    /// What is wrong, when it is set and no UTF-8.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.to_str() {
            Some(text) => Ok(Some(text.to_owned())),
            None => Err(format!("the variable `{name}` is no UTF-8")),
        }
    }

    /// Returns the names that start with `prefix`, in order.
    pub(crate) fn starting_with(&self, prefix: &str) -> Vec<&str> {
        self.0.keys().filter_map(|name| name.to_str()).filter(|name| name.starts_with(prefix)).collect()
    }
}

impl FromIterator<(OsString, OsString)> for Variables {
    fn from_iter<T: IntoIterator<Item = (OsString, OsString)>>(variables: T) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// The environment is full of secrets, so only names are shown.
impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
