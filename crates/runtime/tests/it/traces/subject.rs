//! A script whose traces are held against the one in which nothing was cut.

use std::collections::HashMap;

use refrain_journal::{Outcome, Record};

use super::{
    compared::compare,
    generator::{Generated, script},
    place::{Cuts, Place},
    tools::Fates,
    world::{Trace, World, asked},
};

/// What a number of traces had in it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) traces: u64,
    pub(crate) kills: u64,
    pub(crate) parks: u64,
    /// Traces whose journal was compared record by record.
    pub(crate) whole: u64,
    /// Traces in which the script was told that a call was interrupted.
    pub(crate) interrupted: u64,
    /// Traces in which a call failed for the moment and was made again.
    pub(crate) retried: u64,
}

/// A script with what it does when nothing is cut.
pub(crate) struct Subject<'w> {
    world: &'w World,
    script: Generated,
    /// Without a cut, by what became of interrupted calls.
    calm: HashMap<Fates, Trace>,
    pub(crate) writes: u64,
}

impl<'w> Subject<'w> {
    /// Runs a script of a seed without a cut.
    pub(crate) async fn new(world: &'w World, seed: u64, number: u64) -> Self {
        let script = script(seed, number);
        let none = Cuts::default();
        let calm = world.trace(&Place { script: &script, cuts: &none }, &none, &Fates::new()).await;
        let writes = calm.writes;
        Self { world, script, calm: HashMap::from([(Fates::new(), calm)]), writes }
    }

    /// Runs it with these cuts and compares.
    ///
    /// A script that is told that a call was interrupted may take another way. What it is compared with is then a run without a cut
    /// in which just those calls reject with just that, so that no cut leads to a call that no calm run makes.
    ///
    /// # Panics
    ///
    /// When a rule is broken.
    pub(crate) async fn cut(&mut self, cuts: &Cuts, tally: &mut Tally) {
        let place = Place { script: &self.script, cuts };
        let trace = self.world.trace(&place, cuts, &Fates::new()).await;
        let fates = interrupted(&trace.records);
        if !self.calm.contains_key(&fates) {
            let twin = self.world.trace(&place, &Cuts::default(), &fates).await;
            self.world.recover().await;
            self.calm.insert(fates.clone(), twin);
        }
        compare(&trace, &self.calm[&fates], &place);
        tally.traces += 1;
        tally.kills += trace.kills;
        tally.parks += trace.parks;
        tally.whole += u64::from(self.script.is_sequential);
        tally.interrupted += u64::from(!fates.is_empty());
        tally.retried += u64::from(trace.records.iter().any(|record| matches!(record, Record::Attempted(_))));
    }
}

/// The calls of which the script was told that nobody knows what became of them, with what it was told.
fn interrupted(records: &[Record]) -> Fates {
    let asked = asked(records);
    let told = records.iter().filter_map(|record| match record {
        Record::Answered(answered) => match &answered.outcome {
            Outcome::Failure(failure) if failure.code == "interrupted" => {
                Some((asked[&answered.call].clone(), failure.message.clone()))
            }
            Outcome::Value(_) | Outcome::Blob { .. } | Outcome::Failure(_) => None,
        },
        _ => None,
    });
    told.collect()
}
