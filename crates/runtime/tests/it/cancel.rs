//! A run that is cancelled: what waits rejects, the clean-up runs, and nothing else does.

use std::time::Duration;

use refrain_runtime::{Origin, Report, ReportStatus, RunId, RunRequest, Take};
use tokio::sync::oneshot;

use crate::{
    fake::Fake,
    host::{Host, notes, statuses},
};

fn host(cleanup: Duration) -> Host {
    let cleans_up = |mut fake: Fake| {
        fake.tool.cleanup = true;
        fake
    };
    let undo = [cleans_up(Fake::echo("undo")), cleans_up(Fake::hang("undoes"))];
    let tools = [Fake::hang("hangs"), Fake::echo("put")].into_iter().chain(undo).collect();
    Host::with([("fake", tools)], |settings| settings.cleanup = cleanup)
}

/// Starts a script and drops it once its first write is out, as a killed process would.
async fn stopped(host: &Host, script: &str) -> RunId {
    let (told, id) = oneshot::channel();
    let told = std::sync::Mutex::new(Some(told));
    let on_start = |id| {
        let told = told.lock().unwrap().take();
        told.unwrap().send(id).unwrap();
    };
    let before = host.seen().count("hangs");
    let run = host.runtime.run(RunRequest::new(script, Origin::default()), &on_start);
    let out = async {
        while host.seen().count("hangs") == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        report = run => panic!("it ended: {report:?}"),
        () = out => {}
    }
    id.await.unwrap()
}

async fn cancel(host: &Host, id: RunId) -> Report {
    host.runtime.cancel(id, Take::IfFree, Some("too slow".into())).await.unwrap()
}

fn told(report: &Report) -> &str {
    &notes(report, "cancelled")[0].message
}

#[tokio::test]
async fn a_cancelled_run_cleans_up_with_what_is_meant_for_it_and_nothing_else() {
    let host = host(Duration::from_secs(60));
    let script = "await tools.fake.put({ n: 1 });
        try { await tools.fake.hangs({}) } catch (e) { text(e.code) } finally {
            await tools.fake.undo({ n: 1 });
            for (const call of [() => tools.fake.put({ n: 2 }), () => sleep(60_000)]) try { await call() } catch (e) { text(e.code) }
        }
        return 'as if nothing had been'";
    let id = stopped(&host, script).await;
    let report = cancel(&host, id).await;
    assert_eq!((report.status, &report.error, &report.result), (ReportStatus::Cancelled, &None, &None));
    assert_eq!(report.text, "cancelled\ncancelled\ncancelled");
    assert_eq!(told(&report), "the run was cancelled: too slow");
    assert_eq!(
        statuses(&report),
        ["fake.put ok", "fake.hangs interrupted", "fake.undo ok", "fake.put refused", "sleep refused"]
    );
    let seen = host.seen();
    assert_eq!([seen.count("put"), seen.count("hangs"), seen.count("undo")], [1, 1, 1]);
}

#[tokio::test]
async fn what_was_cancelled_stays_so_and_answers_with_its_report() {
    let host = host(Duration::from_secs(60));
    let id = stopped(&host, "await tools.fake.hangs({})").await;
    let report = cancel(&host, id).await;
    for again in [cancel(&host, id).await, host.runtime.resume(id, Take::IfFree).await.unwrap()] {
        assert_eq!((again.status, told(&again)), (ReportStatus::Cancelled, told(&report)));
    }
    let done = host.run("return 1").await;
    assert_eq!(cancel(&host, done.run_id.unwrap()).await.status, ReportStatus::Completed);
}

#[tokio::test]
async fn a_clean_up_that_was_cut_short_goes_on_under_the_mark_that_is_there() {
    let host = host(Duration::from_millis(100));
    let script = "try { await tools.fake.hangs({}) } finally { await tools.fake.undoes({}) }";
    let id = stopped(&host, script).await;
    let in_clean_up = async {
        while host.seen().count("undoes") < 1 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        report = cancel(&host, id) => panic!("it ended: {report:?}"),
        () = in_clean_up => {}
    }
    assert_eq!(cancel(&host, id).await.status, ReportStatus::Cancelled);
    let detail = host.runtime.show(id).await.unwrap();
    assert_eq!(detail.journal.iter().filter(|record| record.kind == "cancelling").count(), 1);
}

#[tokio::test]
async fn a_clean_up_that_does_not_end_is_stopped() {
    let host = host(Duration::from_millis(100));
    for endless in ["for (;;);", "await new Promise(() => setInterval(() => {}, 1))", "await tools.fake.undoes({})"] {
        let id =
            stopped(&host, &format!("try {{ await tools.fake.hangs({{}}) }} finally {{ text('begun'); {endless} }}"))
                .await;
        let report = cancel(&host, id).await;
        assert_eq!((report.status, report.text.as_str()), (ReportStatus::Cancelled, "begun"), "{endless}");
    }
    // A script that computes when it is cancelled has nothing to clean up.
    let id = stopped(&host, "tools.fake.hangs({}).catch(() => {}); await sleep(0); for (;;);").await;
    assert!(told(&cancel(&host, id).await).ends_with("its clean-up did not end within `cleanup_ms`, and was stopped"));
}
