//! Finds tools by words.
//!
//! A query is split into words and each is looked up in an index of the catalog, which is made once. Words weigh by how rare
//! they are and by the field they stand in, lengths are evened out per field (BM25F), and a tool that has more of the query
//! comes before one that has a single word of it often. Exact names come first whatever else scores. Ties are broken by
//! path, so the same query over the same tools always gives the same list.
//!
//! A word that no tool has stands for those that it begins, else for those that are one slip away. One that resembles
//! nothing is told, so that a model can say it otherwise instead of trusting a wrong neighbour.
//!
//! Deliberately not here: meaning. Beyond a small table of verbs and short forms, a query whose words appear nowhere finds
//! nothing. Scripts without spaces between words are found by whole runs of letters.

mod index;
mod words;

use serde::{Deserialize, Serialize};

use crate::{catalog::Catalog, name};
pub(crate) use index::Index;

/// A tool that fits a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The path of the tool.
    pub path: String,
    /// The source of the tool.
    pub source: String,
    /// The server's own spelling.
    pub name: String,
    /// The expression that reaches it.
    pub call: String,
    /// The call with its types on one line.
    pub signature: String,
    /// The first sentence of its description.
    pub summary: String,
}

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// What the tool should do, or its name.
    pub words: &'a str,
    /// How many hits at most.
    pub limit: usize,
    /// How many hits to leave out: those of the pages before.
    pub skip: usize,
    /// The source whose tools alone count, by its name or its identifier.
    pub namespace: Option<&'a str>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The hits of this page, best first.
    pub hits: Vec<Hit>,
    /// How many fit altogether.
    pub total: usize,
    /// Words of the query, as they were written, that no tool has or resembles.
    pub unmatched: Vec<String>,
    /// Said where the namespace does not exist, with the nearest.
    pub no_namespace: Option<String>,
}

impl Found {
    /// Returns how many hits to skip for the next page, if there is one.
    #[must_use]
    pub fn next(&self, query: &Query) -> Option<usize> {
        let seen = query.skip.saturating_add(self.hits.len());
        (!self.hits.is_empty() && seen < self.total).then_some(seen)
    }

    /// Returns what a reader should know beside the hits: that there are none, or that words were of no use.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        if let Some(told) = &self.no_namespace {
            return Some(told.clone());
        }
        let words: Vec<String> = self.unmatched.iter().map(|word| format!("`{word}`")).collect();
        match (words.is_empty(), self.total) {
            (true, 0) => Some("no tool fits; try other words".to_owned()),
            (true, _) => None,
            (false, 0) => Some(format!("no tool fits: nothing matches {}; try other words", words.join(", "))),
            (false, _) => Some(format!("nothing matches {}", words.join(", "))),
        }
    }
}

impl Catalog {
    /// Returns the tools that fit a query.
    #[must_use]
    pub fn find_tools(&self, query: &Query) -> Found {
        let range = match query.namespace {
            None => 0..self.tools().len(),
            Some(namespace) => match self.namespace(namespace) {
                Ok(range) => range,
                Err(told) => return Found { no_namespace: Some(told), ..Found::default() },
            },
        };
        let ranked = self.index().rank(query.words, range);
        let page = ranked.best(query.skip, query.limit);
        let hits = page
            .into_iter()
            .map(|at| {
                let tool = &self.tools()[at];
                Hit {
                    path: tool.path(),
                    source: tool.source.clone(),
                    name: tool.name.clone(),
                    call: tool.call_expression(),
                    signature: tool.signature(),
                    summary: first_sentence(&tool.description),
                }
            })
            .collect();
        Found { hits, total: ranked.total, unmatched: ranked.unmatched, no_namespace: None }
    }

    /// Returns the tools that fit `words`, best first.
    #[must_use]
    pub fn search(&self, words: &str, limit: usize) -> Vec<Hit> {
        self.find_tools(&Query { words, limit, skip: 0, namespace: None }).hits
    }
}

/// Returns the first sentence, or what there is of it, on one line.
pub(crate) fn first_sentence(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let line: String = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    name::cut(&line[..end], 200)
}
