//! A run that was put away goes on as if it had been replayed, and is replayed where it cannot.

use std::sync::{Arc, Mutex};

use refrain_journal::{
    Fate, MemoryJournal, Restored,
    testing::{Chain, RawRecord},
};
use refrain_runtime::{
    Clock, Decided, Decision, Journal, Json, Origin, Report, ReportStatus, RunId, RunRequest, Runtime, RuntimeError,
    Settings, SourceSettings, SystemClock, Take,
};
use serde_json::{Value, json};

use crate::{
    fake::{Fake, Fakes, Seen},
    host::{notes, settings},
};

/// A clock that stands, so that two attempts can be compared.
struct Still(std::time::Instant);

impl Clock for Still {
    fn now_ms(&self) -> i64 {
        1_700_000_000_000
    }

    fn instant(&self) -> std::time::Instant {
        self.0
    }
}

/// A process over a journal that outlives it.
pub(crate) struct Process {
    pub(crate) runtime: Runtime,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

fn process(journal: &MemoryJournal, snapshot_every: u32) -> Process {
    let tools = vec![Fake::echo("get").safe(), Fake::echo("put"), Fake::hang("hangs").safe()];
    process_with(journal, tools, |settings| settings.snapshot_every = snapshot_every)
}

/// A process with these tools and settings.
pub(crate) fn process_with(journal: &MemoryJournal, tools: Vec<Fake>, change: impl FnOnce(&mut Settings)) -> Process {
    let seen = Arc::default();
    let mut settings = settings();
    settings.sources = vec![SourceSettings::new("fake", Fakes::source(tools, &seen))];
    change(&mut settings);
    let clock = Still(SystemClock.instant());
    Process { runtime: Runtime::with_journal(settings, Arc::new(journal.clone()), Arc::new(clock)), seen }
}

/// Starts a script and drops it once `tool` was called so often, as a killed process would. Returns the run and the journal as the next
/// process opens it.
pub(crate) async fn killed(
    journal: &MemoryJournal,
    first: Process,
    script: &str,
    tool: &str,
    times: usize,
) -> (RunId, MemoryJournal) {
    let (id, told) = tokio::sync::oneshot::channel();
    let id = Mutex::new(Some(id));
    let on_start = |run| id.lock().unwrap().take().unwrap().send(run).unwrap();
    let run = first.runtime.run(RunRequest::new(script, Origin::default()), &on_start);
    let out = async {
        while first.seen.lock().unwrap().count(tool) < times {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        report = run => panic!("it ended: {report:?}"),
        () = out => {}
    }
    (told.await.unwrap(), journal.reopen(Fate::Dead))
}

/// Scripts that ask twice, with something before, between and after.
const SCRIPTS: &[&str] = &[
    "const a = await ask('one?'); const b = await ask('two?'); return [a, b]",
    "text('begun'); console.log('so'); const list = [];
     for (let n = 0; n < 5; n++) list.push((await tools.fake.get({ n })).n);
     list.push(await ask('one?'), Math.random(), Date.now());
     text('between'); await tools.fake.put({ n: 9 }); list.push(await ask('two?')); store('k', list.length); return list",
    "const seen = new Map(); const both = [ask('one?'), ask('two?')].map((p, n) => p.then((v) => seen.set(n, v)));
     await Promise.all([1, 2, 3].map((n) => tools.fake.get({ n }))); await Promise.all(both); return [...seen]",
    "class E extends Error {} try { await ask('one?'); throw new E('own') } catch (e) { text(e.message, e instanceof E) }
     finally { await ask('two?') } const big = (await tools.fake.get({ rows: Array.from({ length: 3000 }, (_, n) => ({ n, s: 'x'.repeat(40) })) })).rows;
     return big.filter((row) => row.n % 1000 === 0).map((row) => row.n)",
    "async function* each() { for (let n = 0; n < 3; n++) yield (await tools.fake.get({ n })).n }
     const out = []; for await (const n of each()) out.push(n, await (n < 2 ? ask(`q${n}`) : n)); return out",
];

async fn begin(journal: &MemoryJournal, every: u32, script: &str) -> RunId {
    let request = RunRequest::new(script, Origin::default());
    let report = process(journal, every).runtime.run(request, &|_| {}).await.unwrap();
    assert_eq!(report.status, ReportStatus::Parked, "{report:?}");
    report.run_id.unwrap()
}

/// Answers what the run waits for first, in a new process.
async fn answer(journal: &MemoryJournal, every: u32, id: RunId, call: u32) -> Result<Report, RuntimeError> {
    let decision = Decision { call, what: Decided::Value(Json::from_value(&json!(call * 10))), by: None };
    process(journal, every).runtime.answer(id, Take::IfFree, decision).await
}

async fn put_away(journal: &MemoryJournal, id: RunId) -> Option<Vec<u8>> {
    match journal.snapshot(id).await.unwrap() {
        Restored::Fits { bytes, .. } => Some(bytes),
        Restored::None => None,
        Restored::Unfit { why } => panic!("{why}"),
    }
}

/// What a report says, without how long things took.
fn told(report: &Report) -> Value {
    let mut told = serde_json::to_value(report).unwrap();
    for call in told["calls"].as_array_mut().unwrap() {
        call["ms"] = json!(0);
    }
    told
}

#[tokio::test]
async fn from_where_it_was_put_away_and_from_its_journal_a_run_ends_alike_in_the_same_memory() {
    for script in SCRIPTS {
        let mut ends = Vec::new();
        let begun = MemoryJournal::new();
        let id = begin(&begun, 0, script).await;
        // How often it is put away beside its parks; whether what was put away is lost before each resume.
        for (every, is_lost) in [(0, false), (0, true), (1, false), (2, true)] {
            let mut journal = begun.copy();
            let mut memories = vec![put_away(&journal, id).await.unwrap()];
            let report = loop {
                journal = journal.reopen(Fate::Dead);
                if is_lost {
                    journal.edit_snapshot(id, Vec::clear);
                }
                let waiting = process(&journal, every).runtime.resume(id, Take::IfFree).await.unwrap().waiting;
                if is_lost {
                    journal.edit_snapshot(id, Vec::clear);
                }
                let report = answer(&journal, every, id, waiting[0].call.unwrap()).await.unwrap();
                assert!(notes(&report, "snapshot_not_used").is_empty(), "{:?}", report.notes);
                if report.status != ReportStatus::Parked {
                    break report;
                }
                memories.push(put_away(&journal, id).await.unwrap());
            };
            assert_eq!(report.status, ReportStatus::Completed, "{report:?}");
            assert_eq!(put_away(&journal, id).await, None, "what is over needs no memory");
            let parts = |bytes: &Vec<u8>| {
                let length = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
                (String::from_utf8(bytes[48..48 + length].to_vec()).unwrap(), bytes[48 + length..].to_vec())
            };
            ends.push((told(&report), memories.iter().map(parts).collect::<Vec<_>>()));
        }
        for end in &ends[1..] {
            assert_eq!(end.0, ends[0].0, "{script}");
            assert_eq!(end.1.len(), ends[0].1.len());
            for (one, other) in end.1.iter().zip(&ends[0].1) {
                assert_eq!(one.0, other.0, "{script}");
                assert!(one.1 == other.1, "the memory is another: {script}");
            }
        }
    }
}

#[tokio::test]
async fn what_came_before_it_is_not_read() {
    let journal = MemoryJournal::new();
    let script =
        "let s = 0; for (let n = 0; n < 20; n++) s += (await tools.fake.get({ n })).n; return s + (await ask('more?'))";
    let id = begin(&journal, 0, script).await;
    let spoil = |records: &mut Vec<RawRecord>| records[5].payload[3] ^= 1;
    journal.edit(id, Chain::Kept, spoil);
    assert!(matches!(journal.read(id).await, Err(refrain_journal::JournalError::Damaged { .. })));
    let report = answer(&journal, 0, id, 21).await.unwrap();
    assert_eq!(report.result.unwrap().as_str(), "400");
    assert_eq!(report.calls.len(), 21);
}

#[tokio::test]
async fn what_is_damaged_or_of_another_build_is_replayed_and_told() {
    type Change = fn(&mut Vec<u8>);
    let changes: [(Change, &str); 6] = [
        (|bytes| bytes[0] ^= 1, "another version"),
        (|bytes| bytes[100] ^= 1, "damaged"),
        (|bytes| bytes.truncate(60), "damaged"),
        (|bytes| *bytes.last_mut().unwrap() ^= 1, "damaged"),
        (|bytes| bytes[41] = 0xff, "damaged"),
        (|bytes| bytes.push(0), "damaged"),
    ];
    for (change, why) in changes {
        let journal = MemoryJournal::new();
        let id =
            begin(&journal, 0, "const n = (await tools.fake.get({ n: 1 })).n; return n + (await ask('more?'))").await;
        journal.edit_snapshot(id, change);
        let report = answer(&journal, 0, id, 2).await.unwrap();
        assert_eq!(report.result.as_ref().unwrap().as_str(), "21");
        let told = notes(&report, "snapshot_not_used");
        assert!(told.len() == 1 && told[0].message.contains(why), "{why}: {:?}", report.notes);
    }
}

#[tokio::test]
async fn a_run_that_was_killed_goes_on_from_the_last_time_it_was_put_away() {
    let journal = MemoryJournal::new();
    let script = "let s = 0; for (let n = 0; n < 25; n++) s += (await tools.fake.get({ n })).n;
        await Promise.race([tools.fake.hangs({}), tools.fake.get({ n: 99 }).then(() => tools.fake.hangs({ more: 1 }))]); return s";
    let (id, journal) = killed(&journal, process(&journal, 10), script, "hangs", 2).await;
    let Restored::Fits { last, after, .. } = journal.snapshot(id).await.unwrap() else { panic!("it was not put away") };
    // Two records for each result, of which twenty are in it.
    assert!(last.0 >= 40 && after.len() <= 20, "{last:?} {}", after.len());
    let second = process(&journal, 10);
    tokio::select! {
        report = second.runtime.resume(id, Take::IfFree) => panic!("it ended: {report:?}"),
        () = async { while second.seen.lock().unwrap().count("hangs") < 2 { tokio::time::sleep(std::time::Duration::from_millis(2)).await } } => {}
    }
    assert_eq!(second.seen.lock().unwrap().count("get"), 0, "no finished call is made again");
}

/// The crash table's row of a script that was changed where it is stored.
#[tokio::test]
async fn a_script_that_was_changed_in_the_store_parks_as_diverged_and_a_correction_completes_it() {
    let journal = MemoryJournal::new();
    let script =
        "let s = 0; for (let n = 1; n <= 18; n++) s += (await tools.fake.get({ n })).n; await ask('on?'); return s";
    let id = begin(&journal, 0, script).await;
    journal.edit(id, Chain::Made, |records| {
        let payload = String::from_utf8(records[0].payload.clone()).unwrap();
        let changed = payload.replace("get({ n })", "get({ n: n < 9 ? n : 0 })");
        assert_ne!(payload, changed);
        records[0].payload = changed.into_bytes();
    });
    let second = process(&journal, 0);
    let report = second.runtime.resume(id, Take::IfFree).await.unwrap();
    assert_eq!(report.status, ReportStatus::Parked);
    let waiting = &report.waiting[0];
    assert_eq!(waiting.kind, refrain_runtime::WaitingKind::Diverged);
    assert_eq!(
        (waiting.call, waiting.expected.as_deref(), waiting.actual.as_deref()),
        (Some(9), Some("fake.get({\"n\":9})"), Some("fake.get({\"n\":0})"))
    );
    assert_eq!(waiting.after.as_deref(), Some("call 8 was answered: fake.get({\"n\":8})"));
    assert_eq!(waiting.next, format!("refrain amend {id} FILE"));
    // To try again changes nothing, and writes nothing more.
    let records = journal.read(id).await.unwrap().len();
    assert_eq!(second.runtime.resume(id, Take::IfFree).await.unwrap().waiting, report.waiting);
    assert_eq!(journal.read(id).await.unwrap().len(), records);
    let request = refrain_runtime::AmendRequest {
        script: script.replace("await ask('on?'); ", ""),
        language: refrain_runtime::Language::default(),
        take: Take::IfFree,
        origin: Origin::default(),
    };
    let report = second.runtime.amend(id, request, &|_| {}).await.unwrap();
    assert_eq!(report.result.unwrap().as_str(), "171");
    assert_eq!(second.seen.lock().unwrap().calls.len(), 0, "none of the eighteen is made again");
}

#[tokio::test]
async fn a_run_that_diverged_can_be_made_to_fail() {
    let journal = MemoryJournal::new();
    let id = begin(&journal, 0, "const n = (await tools.fake.get({ n: 1 })).n; return n + (await ask('on?'))").await;
    journal.edit(id, Chain::Made, |records| {
        let payload = String::from_utf8(records[0].payload.clone()).unwrap();
        records[0].payload = payload.replace("get({ n: 1 })", "put({ n: 1 })").into_bytes();
    });
    let mut settings = settings();
    settings.on_divergence = refrain_runtime::OnDivergence::Fail;
    let seen = Arc::default();
    let tools = vec![Fake::echo("get").safe(), Fake::echo("put")];
    settings.sources = vec![SourceSettings::new("fake", Fakes::source(tools, &seen))];
    let runtime = Runtime::with_journal(settings, Arc::new(journal.clone()), Arc::new(SystemClock));
    let report = runtime.resume(id, Take::IfFree).await.unwrap();
    let error = report.error.unwrap();
    assert_eq!((report.status, error.kind), (ReportStatus::Failed, refrain_runtime::ErrorKind::Diverged));
    assert!(error.message.contains("expected fake.get({\"n\":1}), got fake.put({\"n\":1})"), "{}", error.message);
    assert!(seen.lock().unwrap().calls.is_empty());
    assert_eq!(runtime.resume(id, Take::IfFree).await.unwrap().status, ReportStatus::Failed, "and stays so");
}
