# The two commands of the README, and what stands behind them. `make help` lists them.
.PHONY: help demo test lint setup measure

help: ## list these commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile

demo: setup ## build, then run examples/churn.ts on this repository
	cargo build
	cargo run -q --bin refrain -- run examples/churn.ts

test: ## install what the tests need, then run every test
	@scripts/setup test
	cargo test --workspace --no-fail-fast

lint: ## formatting, clippy and documentation, warnings denied
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

setup: ## install what a build needs and this machine lacks
	@scripts/setup

measure: ## print start-up times, and what the engine costs (builds in release mode)
	cargo build
	scripts/measure
	cargo run -q --release -p refrain-engine --example measure
	cargo run -q --release -p refrain-engine --example crowd
	cargo run -q --release -p refrain-engine --example stopping
	cargo run -q --release -p refrain-runtime --example preflight
	cargo run -q --release -p refrain-runtime --example durable
	cargo run -q --release -p refrain-runtime --example beside
