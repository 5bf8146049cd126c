//! The checksum of each record, chained to the one before.
//!
//! A link covers the previous link, the run, the number, the kind and the hash of the payload. Going through the
//! payload's hash lets the caller hash large payloads before the single writer has to wait for it, and a payload may
//! move into a blob of that hash without changing the chain.
//!
//! It finds damage and lost or swapped records. It is no seal: who can write the file can make a new chain.

use sha2::{Digest, Sha256};

use crate::payload::Encoded;
use crate::{JournalError, Record, RunId, Seq};

/// A link of the chain. Before record 0 it is all zeros.
pub(crate) type Link = [u8; 32];

/// A record with the hash of its payload, ready for a chain.
#[derive(Clone, Debug)]
pub(crate) struct Sealed {
    pub(crate) encoded: Encoded,
    hash: [u8; 32],
}

impl Sealed {
    pub(crate) fn new(encoded: Encoded) -> Self {
        let hash = Sha256::digest(&encoded.payload).into();
        Self { encoded, hash }
    }

    /// Returns the link of this record as number `seq` of `run`, after `previous`.
    pub(crate) fn link(&self, previous: &Link, run: RunId, seq: Seq) -> Link {
        link(previous, run, seq, self.encoded.kind, &self.hash)
    }
}

// Every part before the last has a fixed length, so no two records share an input.
fn link(previous: &Link, run: RunId, seq: Seq, kind: u16, payload: &[u8; 32]) -> Link {
    Sha256::new()
        .chain_update(previous)
        .chain_update(run.as_bytes())
        .chain_update(seq.0.to_be_bytes())
        .chain_update(kind.to_be_bytes())
        .chain_update(payload)
        .finalize()
        .into()
}

/// A record as a store gave it back: nothing about it is believed yet.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) seq: u64,
    pub(crate) kind: i64,
    pub(crate) payload: Vec<u8>,
    pub(crate) link: Vec<u8>,
}

/// Checks what was found of `run` against the chain and against its head, and reads it.
///
/// The order of the questions tells *newer* from *damaged*: only bytes that are as written can be newer.
pub(crate) fn verify(run: RunId, found: &[Found], count: u64, head: &Link) -> Result<Vec<Record>, JournalError> {
    verify_after(run, None, found, count, head)
}

/// As [`verify`], of what was found after the record of a number and a link. Of the run's first record, `found` is all there is.
pub(crate) fn verify_after(
    run: RunId,
    known: Option<(u64, Link)>,
    found: &[Found],
    count: u64,
    head: &Link,
) -> Result<Vec<Record>, JournalError> {
    let damaged = |seq: u64, what: &str| JournalError::Damaged { run, seq: Seq(seq), what: what.to_owned() };
    let (first, mut previous) = known.map_or((0, Link::default()), |(last, link)| (last.saturating_add(1), link));
    let mut records = Vec::with_capacity(found.len());
    for (seq, row) in (first..).zip(found) {
        if row.seq != seq {
            return Err(damaged(seq, "it is missing"));
        }
        let (record, here) = read(run, seq, &previous, row)?;
        records.push(record);
        previous = here;
    }
    let seen = first + records.len() as u64;
    if seen != count {
        return Err(damaged(seen.min(count), "the run's head counts another number of records"));
    }
    if previous != *head {
        return Err(damaged(seen.saturating_sub(1), "the run's head has another checksum"));
    }
    if seen == 0 {
        return Err(damaged(0, "it is missing"));
    }
    Ok(records)
}

/// Checks one record against the link before it and reads it. Returns its own link as well.
pub(crate) fn read(run: RunId, seq: u64, previous: &Link, row: &Found) -> Result<(Record, Link), JournalError> {
    let damaged = |what: &str| JournalError::Damaged { run, seq: Seq(seq), what: what.to_owned() };
    let kind = u16::try_from(row.kind).map_err(|_| damaged("its kind is out of range"))?;
    let here = link(previous, run, Seq(seq), kind, &Sha256::digest(&row.payload).into());
    if row.link != here {
        return Err(damaged("its checksum does not fit"));
    }
    let payload = str::from_utf8(&row.payload).map_err(|_| damaged("its payload is no text"))?;
    let record = Record::decode(kind, payload)
        .map_err(|what| JournalError::Newer { place: format!("record {seq} of run `{run}`"), what })?;
    if matches!(record, Record::Started(_)) != (seq == 0) {
        return Err(damaged("only record 0 is a start record"));
    }
    Ok((record, here))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_is_the_one_that_releases_wrote() {
        let run = RunId::from_parts(1, [2; 10]);
        let sealed = Sealed::new(Encoded { kind: 4, payload: "{}".to_owned() });
        let hex = |link: Link| link.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let first = sealed.link(&Link::default(), run, Seq(0));
        assert_eq!(hex(first), "e7f0dcb184974ab9959f1c7940f93a5b04caee3ad6d0144fece7ad5c01588871");
        assert_eq!(
            hex(sealed.link(&first, run, Seq(1))),
            "d47ec945715267a5fb640d19a3bae5f5a40b974040f760c36ca4bb6b2e105657"
        );
    }
}
