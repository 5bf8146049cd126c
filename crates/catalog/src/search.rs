//! Finds tools by words.
//!
//! Words of the query are weighed by how rare they are, and by where they stand: a name counts more than a parameter, a
//! parameter more than a description. Exact names come first whatever else scores. Ties are broken by path, so the same
//! query over the same tools always gives the same list.
//!
//! Deliberately not here: synonyms and meaning. A query whose words appear nowhere finds nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{name, tool::Tool};

/// A tool that fits a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The path of the tool.
    pub path: String,
    /// The expression that reaches it.
    pub call: String,
    /// The call with its types on one line.
    pub signature: String,
    /// The first sentence of its description.
    pub summary: String,
}

const NAME: f64 = 4.0;
const SOURCE: f64 = 2.0;
const PARAMETER: f64 = 1.5;
const DESCRIPTION: f64 = 1.0;
/// A word that is only nearly the same counts for this part.
const TYPO: f64 = 0.5;
/// A word that only begins the same counts for this part.
const PREFIX: f64 = 0.7;

pub(crate) fn search(tools: &[Tool], query: &str, limit: usize) -> Vec<Hit> {
    let asked: BTreeSet<String> = words(query).into_iter().collect();
    let indexed: Vec<BTreeMap<String, f64>> = tools.iter().map(weights).collect();
    let mut frequency: BTreeMap<&str, usize> = BTreeMap::new();
    for weights in &indexed {
        for word in weights.keys() {
            *frequency.entry(word).or_default() += 1;
        }
    }
    let folded = query.trim().to_lowercase();
    let mut scored: Vec<(bool, f64, &Tool)> = tools
        .iter()
        .zip(&indexed)
        .filter_map(|(tool, weights)| {
            let exact = !folded.is_empty()
                && [tool.path(), tool.name.clone(), tool.ident.clone(), tool.call_expression()]
                    .iter()
                    .any(|name| name.to_lowercase() == folded);
            let score = asked.iter().map(|word| best(word, weights, &frequency, tools.len())).sum::<f64>();
            (exact || score > 0.0).then_some((exact, score, tool))
        })
        .collect();
    scored.sort_by(|a, b| {
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then_with(|| (&a.2.source, &a.2.name).cmp(&(&b.2.source, &b.2.name)))
    });
    scored
        .into_iter()
        .take(limit)
        .map(|(_, _, tool)| Hit {
            path: tool.path(),
            call: tool.call_expression(),
            signature: tool.signature(),
            summary: first_sentence(&tool.description),
        })
        .collect()
}

/// Returns what one word of the query brings to a tool: its best match there.
fn best(asked: &str, weights: &BTreeMap<String, f64>, frequency: &BTreeMap<&str, usize>, tools: usize) -> f64 {
    weights
        .iter()
        .filter_map(|(word, weight)| {
            let part = likeness(asked, word)?;
            // A word that only resembles one that is there is no rarer than that one.
            let df = frequency.get(asked).or_else(|| frequency.get(word.as_str())).copied().unwrap_or(1);
            // At least a little for a word that every tool has: it is still better than none.
            let idf = (1.0 + tools as f64 / df as f64).ln();
            Some(part * weight * idf)
        })
        .fold(0.0, f64::max)
}

fn likeness(asked: &str, word: &str) -> Option<f64> {
    if asked == word {
        return Some(1.0);
    }
    let (short, long) = if asked.len() < word.len() { (asked, word) } else { (word, asked) };
    if short.len() >= 3 && long.starts_with(short) {
        return Some(PREFIX);
    }
    // One slip in four letters or more: in shorter words a slip is another word.
    let tolerated = match short.chars().count() {
        0..4 => return None,
        4..8 => 1,
        _ => 2,
    };
    (strsim::damerau_levenshtein(asked, word) <= tolerated).then_some(TYPO)
}

fn weights(tool: &Tool) -> BTreeMap<String, f64> {
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    let mut add = |text: &str, weight: f64| {
        for word in words(text) {
            let entry = weights.entry(word).or_default();
            *entry = entry.max(weight);
        }
    };
    add(&tool.name, NAME);
    add(&tool.source, SOURCE);
    add(&tool.description, DESCRIPTION);
    if let Some(properties) = tool.input_schema.get("properties").and_then(Value::as_object) {
        for key in properties.keys() {
            add(key, PARAMETER);
        }
    }
    weights
}

/// Splits text into lower-case words, at camelCase too.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && lower) {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            lower = false;
        }
        if c.is_alphanumeric() {
            lower = c.is_lowercase() || c.is_numeric();
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns the first sentence, or what there is of it, on one line.
pub(crate) fn first_sentence(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let line: String = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    name::cut(&line[..end], 200)
}
