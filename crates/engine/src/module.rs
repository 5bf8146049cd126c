//! Puts a prepared memory back into the module, so that every instance starts with it.
//!
//! wasmtime maps the data of a module copy on write. A sandbox made from such a module shares the pages that it does not change with all
//! others, and costs neither the running of the prelude nor the copying of what it left.

use std::ops::Range;

use wasm_encoder::{ConstExpr, DataSection, MemorySection, MemoryType, RawSection};
use wasmparser::{BinaryReaderError, Parser, Payload};

const WASM_PAGE: usize = 65536;
/// Zeros between two data segments that are not worth a second segment.
const GAP: usize = 64;

/// The module with `image` as its initial memory. `image` is a whole number of WebAssembly's pages.
///
/// # Errors
///
/// When `module` is no module; ours is.
pub(crate) fn with_memory(module: &[u8], image: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut built = wasm_encoder::Module::new();
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::MemorySection(_) => {
                let mut memories = MemorySection::new();
                memories.memory(MemoryType {
                    minimum: image.len().div_ceil(WASM_PAGE) as u64,
                    maximum: None,
                    memory64: false,
                    shared: false,
                    page_size_log2: None,
                });
                built.section(&memories);
            }
            // All data is in the image. No instruction names a segment by its number.
            Payload::DataCountSection { .. } | Payload::DataSection(_) | Payload::CustomSection(_) => {}
            other => {
                if let Some((id, range)) = other.as_section() {
                    built.section(&RawSection { id, data: &module[range] });
                }
            }
        }
    }
    let mut data = DataSection::new();
    for range in filled(image) {
        data.active(0, &ConstExpr::i32_const(range.start as u32 as i32), image[range].iter().copied());
    }
    built.section(&data);
    Ok(built.finish())
}

/// The parts of `image` that are not zeros.
fn filled(image: &[u8]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for (start, line) in image.chunks(GAP).enumerate().map(|(index, line)| (index * GAP, line)) {
        if line.iter().all(|byte| *byte == 0) {
            continue;
        }
        let end = start + line.len();
        match parts.last_mut() {
            Some(part) if part.end == start => part.end = end,
            _ => parts.push(start..end),
        }
    }
    parts
}
