//! The boundary used wrongly.
