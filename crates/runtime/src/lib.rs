//! One run from start to end: policy, budget, journal, replay
