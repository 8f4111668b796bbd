import { useEffect, useMemo, useState } from "preact/hooks";
import { ProblemNotice } from "../look/problem-notice.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { RecordEntry } from "./record-entry.tsx";
import { kindWords } from "./record-words.ts";
import { brokenLinks, filesOf, newerVersion, passes, type TimelineFilter, withoutBegun } from "./timeline-record.ts";
import type { LedgerCheck, TimelineStore } from "./timeline-store.ts";

export interface TimelinePanelProps {
  readonly store: TimelineStore;
  /** The session the app shows; empty: none. */
  readonly sessionId: string;
  readonly onOpenFile?: (path: string) => void;
}

const kinds = ["intent", "outcome", "refusal", "review", "applied", "undo", "session", "emergency", "purge"];

/** What the agent did and what people decided, from the ledger, newest first. */
export function TimelinePanel({ store, sessionId, onOpenFile }: TimelinePanelProps) {
  useEffect(() => void store.load(), [store]);
  const { records, hasOlder, loaded, busy, check, checking, problem } = store.state.value;
  const [filter, setFilter] = useState<TimelineFilter>({ kind: "", sessionId: "", path: "", text: "" });
  const [open, setOpen] = useState<number>();
  const broken = useMemo(() => brokenLinks(records), [records]);
  const files = useMemo(() => [...new Set(records.flatMap(filesOf))].toSorted(), [records]);
  const shown = useMemo(() => {
    const all = filter.kind === "intent" ? records : withoutBegun(records);
    return all.filter((record) => passes(record, filter)).toReversed();
  }, [records, filter]);
  return (
    <section class="timeline g-panel" aria-label="Timeline">
      <header class="timeline-head">
        <input
          class="g-field timeline-search"
          type="search"
          aria-label="Search in the records"
          placeholder="Search"
          value={filter.text}
          onInput={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
        />
        <select
          class="g-field"
          aria-label="Kind of record"
          value={filter.kind}
          onChange={(event) => setFilter({ ...filter, kind: event.currentTarget.value })}
        >
          <option value="">All kinds</option>
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {kindWords({ kind, end: "done" })}
            </option>
          ))}
        </select>
        <select
          class="g-field timeline-file"
          aria-label="File"
          value={filter.path}
          onChange={(event) => setFilter({ ...filter, path: event.currentTarget.value })}
        >
          <option value="">All files</option>
          {files.map((path) => (
            <option key={path} value={path}>
              {path}
            </option>
          ))}
        </select>
        {sessionId !== "" && (
          <label class="timeline-mine">
            <input
              type="checkbox"
              checked={filter.sessionId !== ""}
              onChange={(event) => setFilter({ ...filter, sessionId: event.currentTarget.checked ? sessionId : "" })}
            />
            <span>This session</span>
          </label>
        )}
        <button type="button" class="button button-quiet" disabled={busy} onClick={() => void store.load()}>
          Refresh
        </button>
        <button type="button" class="button button-quiet" disabled={checking} onClick={() => void store.verify()}>
          Verify
        </button>
      </header>
      <CheckState {...{ check, checking }} />
      {problem !== undefined && <ProblemNotice problem={problem} onDismiss={() => store.dismiss()} />}
      {loaded && records.length === 0 && <p class="empty">Nothing has been recorded yet.</p>}
      {records.length > 0 && shown.length === 0 && (
        <p class="empty">No record among the {records.length} loaded matches.</p>
      )}
      <ol class="records" aria-label="Records, newest first">
        {shown.map((record) => (
          <RecordEntry
            key={record.seq}
            record={record}
            open={open === record.seq}
            bad={broken.has(record.seq) || check?.firstBadSeq === record.seq}
            onOpen={(isOpen) => setOpen(isOpen ? record.seq : undefined)}
            onOpenFile={onOpenFile}
            versions={{ source: store.contents(record), newer: (path) => newerVersion(records, record, path) }}
          />
        ))}
      </ol>
      {hasOlder && (
        <button type="button" class="button button-quiet" disabled={busy} onClick={() => void store.older()}>
          {busy ? "Loading…" : "Older records"}
        </button>
      )}
    </section>
  );
}

function CheckState({ check, checking }: { readonly check: LedgerCheck | undefined; readonly checking: boolean }) {
  if (checking) return <p role="status">Checking signatures and chain…</p>;
  if (check === undefined) return <p class="g-quiet">Not verified yet.</p>;
  const isGood = check.status === "ok";
  return (
    <p class={isGood ? "g-notice g-notice-good" : "g-notice g-notice-bad"} role={isGood ? "status" : "alert"}>
      <strong>{isGood ? "Verified." : check.status.replaceAll("_", " ")}</strong> <VisibleText text={check.message} />
    </p>
  );
}
