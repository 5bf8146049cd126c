//! A waiting sandbox as bytes: the pages of its memory that differ from the template, and the counters beside it.
//!
//! A snapshot is a cache. The journal alone rebuilds the same state, so whatever is wrong with one (damaged, cut, of another
//! build) is an error that the caller answers by replaying.

use sha2::{Digest, Sha256};

use crate::{Engine, Limits, Sandbox};

/// The unit of comparison, in bytes. Most of what a run changes in the template are reference counts, a few bytes here and there, so
/// pages of the machine would be mostly the template again.
pub(crate) const PAGE: usize = 512;
/// The guest's stack lies below everything else (build.rs) and is empty between two turns, so it is no part of the state.
pub(crate) const STACK_BYTES: usize = 1 << 20;

const MAGIC: &[u8; 4] = b"RFSN";
/// Raised when the layout below changes. A reader knows only its own.
const VERSION: u32 = 1;
/// Magic, version, fingerprint, memory size, fuel used, calls made, output bytes, number of pages.
const HEADER: usize = 4 + 4 + 32 + 8 + 8 + 4 + 8 + 4;
const CHECKSUM: usize = 32;
/// Level 1: a parked run is written once and mostly read never.
const COMPRESSION: i32 = 1;

/// Why a snapshot cannot be used. The journal can.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Another version of the engine wrote it.
    #[error("the snapshot belongs to another build of the engine")]
    Foreign,
    /// The bytes are not what was written.
    #[error("the snapshot is damaged: {0}")]
    Damaged(&'static str),
    /// It needs more memory than the limits allow.
    #[error("the snapshot needs {needed} bytes of memory, the limit is {limit}")]
    TooLarge {
        /// Bytes the memory had.
        needed: usize,
        /// Bytes that [`Limits`] allow.
        limit: usize,
    },
}

/// A waiting sandbox, put away.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    fingerprint: [u8; 32],
    memory_bytes: usize,
    fuel_used: u64,
    calls_made: u32,
    output_bytes: u64,
    /// Ascending page numbers, and the pages one after another.
    pages: Vec<u32>,
    data: Vec<u8>,
}

impl Snapshot {
    pub(crate) fn take(engine: &Engine, memory: &[u8], fuel_used: u64, calls_made: u32, output_bytes: u64) -> Self {
        let image = engine.image();
        let zeros = [0; PAGE];
        let mut pages = Vec::new();
        let mut data = Vec::new();
        for start in (STACK_BYTES..memory.len()).step_by(PAGE) {
            let page = &memory[start..start + PAGE];
            let before = image.get(start..start + PAGE).unwrap_or(&zeros);
            if page != before {
                pages.push((start / PAGE) as u32);
                data.extend_from_slice(page);
            }
        }
        Self {
            fingerprint: *engine.fingerprint_bytes(),
            memory_bytes: memory.len(),
            fuel_used,
            calls_made,
            output_bytes,
            pages,
            data,
        }
    }

    /// Bytes of the pages that differ from the template, before compression.
    pub fn raw_bytes(&self) -> usize {
        self.data.len()
    }

    /// The stored form: a header, the page numbers, the pages compressed with zstd, and a SHA-256 over all of it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.pages.len() * 4 + self.data.len() / 4);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.fingerprint);
        bytes.extend_from_slice(&(self.memory_bytes as u64).to_le_bytes());
        bytes.extend_from_slice(&self.fuel_used.to_le_bytes());
        bytes.extend_from_slice(&self.calls_made.to_le_bytes());
        bytes.extend_from_slice(&self.output_bytes.to_le_bytes());
        bytes.extend_from_slice(&(self.pages.len() as u32).to_le_bytes());
        for page in &self.pages {
            bytes.extend_from_slice(&page.to_le_bytes());
        }
        let packed = zstd::bulk::compress(&self.data, COMPRESSION)
            .expect("compressing from memory into memory fails only when memory does");
        bytes.extend_from_slice(&packed);
        let checksum = Sha256::digest(&bytes);
        bytes.extend_from_slice(&checksum);
        bytes
    }

    /// Reads the stored form.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::Foreign`] for another build, [`SnapshotError::Damaged`] for anything else that is not as written. No
    /// bytes, however made, harm the host: what passes the checksum is still checked before it is used.
    pub fn from_bytes(engine: &Engine, bytes: &[u8]) -> Result<Self, SnapshotError> {
        use SnapshotError::{Damaged, Foreign};
        if bytes.len() < HEADER + CHECKSUM || !bytes.starts_with(MAGIC) {
            return Err(Damaged("it is cut, or no snapshot"));
        }
        let (body, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if Sha256::digest(body).as_slice() != checksum {
            return Err(Damaged("its checksum does not match"));
        }
        let mut rest = &body[4..];
        let version = u32::from_le_bytes(take(&mut rest)?);
        let fingerprint: [u8; 32] = take(&mut rest)?;
        if version != VERSION || fingerprint != *engine.fingerprint_bytes() {
            return Err(Foreign);
        }
        let memory_bytes = u64::from_le_bytes(take(&mut rest)?);
        let fuel_used = u64::from_le_bytes(take(&mut rest)?);
        let calls_made = u32::from_le_bytes(take(&mut rest)?);
        let output_bytes = u64::from_le_bytes(take(&mut rest)?);
        let count = u32::from_le_bytes(take(&mut rest)?) as usize;
        // A guest has at most 4 GiB, in pages of 64 KiB.
        if memory_bytes > 1 << 32 || memory_bytes % 65536 != 0 {
            return Err(Damaged("its memory size is impossible"));
        }
        let memory_bytes = memory_bytes as usize;
        let mut pages = Vec::new();
        for _ in 0..count {
            let page = u32::from_le_bytes(take(&mut rest)?);
            let inside = (page as usize + 1) * PAGE <= memory_bytes && page as usize >= STACK_BYTES / PAGE;
            if !inside || pages.last().is_some_and(|last| *last >= page) {
                return Err(Damaged("its pages are out of order or out of range"));
            }
            pages.push(page);
        }
        let data = zstd::bulk::decompress(rest, count * PAGE).map_err(|_| Damaged("its pages cannot be unpacked"))?;
        if data.len() != count * PAGE {
            return Err(Damaged("its pages are incomplete"));
        }
        Ok(Self { fingerprint, memory_bytes, fuel_used, calls_made, output_bytes, pages, data })
    }

    /// Brings the sandbox back, as it was when it was saved.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::TooLarge`] when `limits` allow less memory than it had; [`SnapshotError::Foreign`] for another engine.
    pub fn restore(&self, engine: &Engine, limits: Limits) -> Result<Sandbox, SnapshotError> {
        if self.fingerprint != *engine.fingerprint_bytes() {
            return Err(SnapshotError::Foreign);
        }
        if self.memory_bytes > limits.memory_bytes {
            return Err(SnapshotError::TooLarge { needed: self.memory_bytes, limit: limits.memory_bytes });
        }
        let mut sandbox =
            engine.sandbox(limits).map_err(|_| SnapshotError::Damaged("no sandbox could be made for it"))?;
        sandbox.overwrite(self).map_err(|_| SnapshotError::Damaged("its memory could not be made"))?;
        Ok(sandbox)
    }

    pub(crate) fn write_to(&self, memory: &mut [u8]) {
        for (page, bytes) in self.pages.iter().zip(self.data.chunks_exact(PAGE)) {
            let start = *page as usize * PAGE;
            memory[start..start + PAGE].copy_from_slice(bytes);
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    pub(crate) fn fuel_used(&self) -> u64 {
        self.fuel_used
    }

    pub(crate) fn calls_made(&self) -> u32 {
        self.calls_made
    }

    pub(crate) fn output_bytes(&self) -> u64 {
        self.output_bytes
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("pages", &self.pages.len()).finish_non_exhaustive()
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], SnapshotError> {
    match rest.split_first_chunk::<N>() {
        Some((bytes, after)) => {
            *rest = after;
            Ok(*bytes)
        }
        None => Err(SnapshotError::Damaged("it is cut")),
    }
}
