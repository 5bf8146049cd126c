//! The words of a catalog with the tools that have them.
//!
//! Made once per catalog. Everything that can be worked out before the query is known is: the weight of a word in a tool is
//! a number here, and a query only adds them up.

use std::{collections::HashMap, ops::Range};

use serde_json::Value;

use super::words;
use crate::{catalog::Catalog, tool::Tool};

/// Where a word can stand, how much that says, and how far a long text of its kind makes each of its words say less.
struct Field {
    weight: f32,
    /// From 0, lengths do not matter, to 1, twice the text says half as much a word.
    evening: f32,
}

/// Name, source, first sentence, the rest of the description, parameters.
const FIELDS: [Field; 5] = [
    Field { weight: 5.0, evening: 0.75 },
    Field { weight: 3.0, evening: 0.0 },
    Field { weight: 2.5, evening: 0.5 },
    Field { weight: 0.7, evening: 0.7 },
    Field { weight: 0.7, evening: 0.7 },
];
/// How soon it stops to matter that a word is there once more.
const SATURATION: f32 = 1.5;
/// A word that says about the same counts for this part.
const SYNONYM: f32 = 0.5;
/// A word that only begins the same counts for this part.
const PREFIX: f32 = 0.6;
/// A word that is one slip away counts for this part.
const TYPO: f32 = 0.6;
/// Words of one description that are looked at, and parameters of one tool.
const MOST_WORDS: usize = 400;
const MOST_PARAMETERS: usize = 100;
/// Words of a query that are looked at.
const MOST_ASKED: usize = 32;

/// The index of one catalog.
#[derive(Debug, Default)]
pub(crate) struct Index {
    vocabulary: Vocabulary,
    /// By stem: each tool that has it, with its weight there.
    postings: Vec<Vec<(u32, f32)>>,
    /// Every word as it is written, in order, with its stem.
    spellings: Vec<(String, u32)>,
    /// Tools by name and path, with nothing but letters and digits.
    names: HashMap<String, Vec<u32>>,
    tools: usize,
}

/// Words as numbers: those of one stem have one.
#[derive(Debug, Default)]
struct Vocabulary {
    stems: HashMap<String, u32>,
    spellings: HashMap<String, u32>,
}

impl Vocabulary {
    fn number(&mut self, word: String) -> u32 {
        if let Some(number) = self.spellings.get(&word) {
            return *number;
        }
        let next = u32::try_from(self.stems.len()).unwrap_or(u32::MAX);
        let number = *self.stems.entry(words::stem(&word)).or_insert(next);
        self.spellings.insert(word, number);
        number
    }
}

/// The tools that fit a query.
#[derive(Debug)]
pub(super) struct Ranked {
    /// Exact, score and tool, in no order.
    scored: Vec<(bool, f32, u32)>,
    pub(super) total: usize,
    pub(super) unmatched: Vec<String>,
}

impl Ranked {
    /// Returns the `limit` best after `skip`, best first.
    pub(super) fn best(&self, skip: usize, limit: usize) -> Vec<usize> {
        let mut order = self.scored.clone();
        order.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        order.into_iter().skip(skip).take(limit).map(|(_, _, tool)| tool as usize).collect()
    }
}

impl Index {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        let tools = catalog.tools();
        let mut vocabulary = Vocabulary::default();
        let mut number = |words: Vec<String>| words.into_iter().map(|word| vocabulary.number(word)).collect();
        let texts: Vec<[Vec<u32>; FIELDS.len()]> = tools.iter().map(|tool| fields(tool).map(&mut number)).collect();
        let average: [f32; FIELDS.len()] = std::array::from_fn(|field| {
            let sum: usize = texts.iter().map(|text| text[field].len()).sum();
            (sum as f32 / tools.len().max(1) as f32).max(1.0)
        });
        let mut postings = vec![Vec::new(); vocabulary.stems.len()];
        let mut names: HashMap<String, Vec<u32>> = HashMap::new();
        // The weight of each stem in the tool at hand, and which stems it has.
        let mut weights = vec![0.0_f32; vocabulary.stems.len()];
        let mut present: Vec<u32> = Vec::new();
        for (at, (tool, text)) in (0_u32..).zip(tools.iter().zip(&texts)) {
            for name in [tool.path(), tool.name.clone(), tool.ident.clone()] {
                let own = names.entry(folded(&name)).or_default();
                if own.last() != Some(&at) {
                    own.push(at);
                }
            }
            for (words, (Field { weight, evening }, average)) in text.iter().zip(FIELDS.iter().zip(average)) {
                let part = weight / (1.0 - evening + evening * words.len() as f32 / average);
                for &word in words {
                    if weights[word as usize] == 0.0 {
                        present.push(word);
                    }
                    weights[word as usize] += part;
                }
            }
            for word in present.drain(..) {
                let weight = std::mem::take(&mut weights[word as usize]);
                postings[word as usize].push((at, weight / (SATURATION + weight)));
            }
        }
        let mut spellings: Vec<(String, u32)> = std::mem::take(&mut vocabulary.spellings).into_iter().collect();
        spellings.sort_unstable();
        Self { vocabulary, postings, spellings, names, tools: tools.len() }
    }

    /// Scores the tools in `range` for a query.
    pub(super) fn rank(&self, query: &str, range: Range<usize>) -> Ranked {
        let all = words::split(query);
        let telling: Vec<&String> = all.iter().filter(|word| !words::is_stop(word)).collect();
        // A query of nothing but small words means them.
        let mut asked = if telling.is_empty() { all.iter().collect() } else { telling };
        asked.truncate(MOST_ASKED);
        let mut seen: Vec<String> = Vec::new();
        let mut unmatched = Vec::new();
        let mut scores = vec![0.0_f32; range.len()];
        // For each tool, how much of the query it has, by how rare its words are.
        let mut covered = vec![0.0_f32; range.len()];
        let mut whole = 0.0_f32;
        let mut own = vec![0.0_f32; range.len()];
        for word in asked {
            let stem = words::stem(word);
            if seen.contains(&stem) {
                continue;
            }
            seen.push(stem.clone());
            let meant = self.meant(word, &stem);
            if meant.is_empty() {
                unmatched.push(word.clone());
            }
            // A word that only resembles one that is there is no rarer than that one.
            let rarity = meant.first().map_or(0, |(stem, _)| self.postings[*stem as usize].len());
            let rarity = self.rarity(rarity);
            whole += rarity;
            own.fill(0.0);
            for (stem, part) in meant {
                for &(tool, weight) in &self.postings[stem as usize] {
                    let Some(at) = (tool as usize).checked_sub(range.start).filter(|at| *at < own.len()) else {
                        continue;
                    };
                    own[at] = own[at].max(weight * part);
                }
            }
            for (at, weight) in own.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                scores[at] += rarity * weight;
                covered[at] += rarity * weight.min(0.5) * 2.0;
            }
        }
        let name = folded(query);
        // The expression that calls it is its path behind `tools.`.
        let exact = self.names.get(&name).or_else(|| self.names.get(name.strip_prefix("tools")?));
        let exact = exact.map_or(&[][..], Vec::as_slice);
        let scored: Vec<(bool, f32, u32)> = range
            .enumerate()
            .filter_map(|(at, tool)| {
                let tool = u32::try_from(tool).ok()?;
                let exact = exact.binary_search(&tool).is_ok();
                let score = scores[at] * (0.5 + 0.5 * covered[at] / whole.max(f32::MIN_POSITIVE));
                (exact || score > 0.0).then_some((exact, score, tool))
            })
            .collect();
        Ranked { total: scored.len(), scored, unmatched }
    }

    /// Returns the stems that a word of a query stands for, with how much each counts.
    fn meant(&self, word: &str, stem: &str) -> Vec<(u32, f32)> {
        let known = |stem: &str| self.vocabulary.stems.get(stem).copied();
        let mut meant: Vec<(u32, f32)> = known(stem).map(|stem| (stem, 1.0)).into_iter().collect();
        meant.extend(words::same(stem).iter().filter_map(|stem| Some((known(stem)?, SYNONYM))));
        if !meant.is_empty() {
            return meant;
        }
        let letters = word.chars().count();
        if letters >= 3 {
            let start = self.spellings.partition_point(|(spelling, _)| spelling.as_str() < word);
            let begun = self.spellings[start..].iter().take_while(|(spelling, _)| spelling.starts_with(word));
            meant.extend(begun.map(|(_, stem)| (*stem, PREFIX)));
        }
        // In shorter words a slip is another word.
        if meant.is_empty() && letters >= 4 {
            let near = self.spellings.iter().filter(|(spelling, _)| words::one_slip(word, spelling));
            meant.extend(near.map(|(_, stem)| (*stem, TYPO)));
        }
        meant
    }

    /// Returns how much it says that a word is there which so many tools have.
    fn rarity(&self, tools: usize) -> f32 {
        // A little for a word that every tool has: it is still better than none.
        (1.0 + (self.tools as f32 - tools as f32 + 0.5) / (tools as f32 + 0.5)).ln().max(0.05)
    }
}

/// Returns the words of a tool by field.
fn fields(tool: &Tool) -> [Vec<String>; FIELDS.len()] {
    let (first, rest) = halves(&tool.description);
    let cut = |text: &str| {
        let mut words = words::split(text);
        words.retain(|word| !words::is_stop(word));
        words.truncate(MOST_WORDS);
        words
    };
    // In a name the small words are told from nothing else: `by_id`, `me`, `who_am_i`.
    let source = words::split(&tool.source);
    let mut name = words::split(&tool.name);
    // Servers that put their own name before each of their tools say nothing by it.
    if name.len() > source.len() && name.starts_with(&source) {
        name.drain(..source.len());
    }
    let keys = tool.input_schema.get("properties").and_then(Value::as_object);
    let parameters = keys.into_iter().flatten().take(MOST_PARAMETERS).flat_map(|(key, _)| words::split(key)).collect();
    [name, source, cut(first), cut(rest), parameters]
}

/// Returns the first sentence, or the first line, and the rest.
fn halves(description: &str) -> (&str, &str) {
    let text = description.trim();
    let end = [text.find(". "), text.find('\n')].into_iter().flatten().min().unwrap_or(text.len());
    text.split_at(end)
}

fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
