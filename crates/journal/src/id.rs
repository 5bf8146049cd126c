//! Names of things in the journal: runs, record numbers, blobs.
//!
//! Random bits come in from outside, so that whoever makes a run decides where they come from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::JournalError;

/// The id of a run: a UUIDv7, so ids sort by the time their run was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(Uuid);

impl RunId {
    /// Makes an id from the time in milliseconds since the epoch and random bytes. A time before the epoch counts as 0.
    pub fn from_parts(ms: i64, random: [u8; 10]) -> Self {
        let ms = u64::try_from(ms).unwrap_or(0);
        Self(uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid())
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for RunId {
    type Err = JournalError;

    fn from_str(text: &str) -> Result<Self, JournalError> {
        // `Uuid` alone would also take braces and `urn:uuid:`, and an id should have one spelling.
        match Uuid::try_parse(text) {
            Ok(id) if text.len() == 36 => Ok(Self(id)),
            _ => Err(JournalError::BadId { text: crate::list::cut(text, 80) }),
        }
    }
}

/// The number of a record in its run, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The SHA-256 of a blob, and its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobHash([u8; 32]);

impl BlobHash {
    /// Returns the name of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the hash itself.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobHash({self})")
    }
}

impl FromStr for BlobHash {
    type Err = JournalError;

    fn from_str(text: &str) -> Result<Self, JournalError> {
        let bad = || JournalError::BadId { text: crate::list::cut(text, 80) };
        // `from_str_radix` takes a sign, so the digits are checked first.
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(bad());
        }
        let mut hash = [0; 32];
        for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| bad())?;
        }
        Ok(Self(hash))
    }
}

impl Serialize for BlobHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BlobHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling_and_sorts_by_time() {
        let early = RunId::from_parts(1_700_000_000_000, [0xff; 10]);
        let late = RunId::from_parts(1_700_000_000_001, [0; 10]);
        assert_eq!(early.to_string(), "018bcfe5-6800-7fff-bfff-ffffffffffff");
        assert!(early < late && early.to_string() < late.to_string());
        assert_eq!(early.to_string().parse::<RunId>().unwrap(), early);
        for bad in ["", "018bcfe5", "{018bcfe5-6800-7fff-bfff-ffffffffffff}", "018bcfe568007fffbfffffffffffffff"] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_hash_reads_what_it_prints_and_nothing_else() {
        let hash = BlobHash::of(b"abc");
        assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hash.to_string().parse::<BlobHash>().unwrap(), hash);
        for bad in [String::new(), "é".repeat(32), "+f".repeat(32), "0".repeat(63)] {
            assert!(bad.parse::<BlobHash>().is_err(), "{bad}");
        }
    }
}
