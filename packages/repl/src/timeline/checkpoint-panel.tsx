import { goesBackByForce, type Restored, skipReasons } from "@gennai/client/session/checkpoints";
import { type Checkpoint, notesOf, type SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import { plural } from "@gennai/protocol/plural";
import { useEffect, useState } from "preact/hooks";
import { ProblemNotice } from "../look/problem-notice.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import type { CheckpointStore } from "./checkpoint-store.ts";

export interface CheckpointPanelProps {
  readonly store: CheckpointStore;
  /** True while a turn runs: then nothing can be restored. */
  readonly running: boolean;
}

const maxNamed = 8;
const verbs = { create: "comes back", update: "as it was", delete: "goes" } as const;

/** The points to which a session's work on files can be taken back, newest first, and what restoring would do. */
export function CheckpointPanel({ store, running }: CheckpointPanelProps) {
  useEffect(() => void store.load(), [store]);
  const { list, preview, done, busy, problem } = store.state.value;
  return (
    <section class="checkpoints g-panel" aria-label="Checkpoints">
      <div class="g-row">
        <p class="g-quiet">Restoring undoes what this session changed since, by commands too.</p>
        <button type="button" class="button button-quiet" disabled={busy} onClick={() => void store.load()}>
          Refresh
        </button>
      </div>
      {problem !== undefined && <ProblemNotice problem={problem} onDismiss={() => store.dismiss()} />}
      {list !== undefined && list.problem !== "" && (
        <p class="g-notice g-notice-bad" role="status">
          What commands change cannot be undone now: <VisibleText text={list.problem} />
        </p>
      )}
      {done !== undefined && (
        <div class="g-notice g-notice-good" role="status">
          <p>{describeDone(done)}</p>
          <SkippedFiles skipped={done.skipped} />
        </div>
      )}
      {list?.checkpoints.length === 0 && <p class="empty">This session changed no file yet.</p>}
      <ol class="checkpoint-list">
        {list?.checkpoints.toReversed().map((checkpoint) => (
          <li key={checkpoint.checkpointId} class={`checkpoint checkpoint-${checkpoint.kind}`}>
            <CheckpointHead checkpoint={checkpoint} />
            {preview?.checkpointId === checkpoint.checkpointId ? (
              <Preview
                preview={preview}
                disabled={busy || running}
                onRestore={(force) => void store.restore(checkpoint.checkpointId, force)}
                onCancel={() => store.dismiss()}
              />
            ) : (
              <button
                type="button"
                class="button button-quiet"
                disabled={busy || running || !checkpoint.kept}
                aria-label={`Restore to before this… ${nameOf(checkpoint)}`}
                onClick={() => void store.preview(checkpoint.checkpointId)}
              >
                Restore to before this…
              </button>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function CheckpointHead({ checkpoint }: { readonly checkpoint: Checkpoint }) {
  const { time, title, files, moreFiles } = checkpoint;
  const more = Math.max(0, files.length - maxNamed) + moreFiles;
  return (
    <>
      <p>
        <strong>{nameOf(checkpoint)}</strong> <time dateTime={new Date(time).toISOString()}>{clock(time)}</time>{" "}
        {checkpoint.kind === "turn" && <VisibleText text={title} />}
        {notesOf(checkpoint).map((note) => (
          <span key={note} class="g-quiet">
            {" "}
            (<VisibleText text={note} />)
          </span>
        ))}
      </p>
      <ul class="checkpoint-files g-quiet">
        {files.slice(0, maxNamed).map(({ path, operation }) => (
          <li key={path}>
            {operation} <VisibleText text={path} />
          </li>
        ))}
        {more > 0 && <li>and {more} more</li>}
      </ul>
    </>
  );
}

function Preview(props: {
  readonly preview: Restored;
  readonly disabled: boolean;
  readonly onRestore: (force: readonly string[]) => void;
  readonly onCancel: () => void;
}) {
  const { preview, disabled, onRestore, onCancel } = props;
  const [force, setForce] = useState<ReadonlySet<string>>(new Set());
  const toggle = (path: string) => {
    const next = new Set(force);
    if (!next.delete(path)) next.add(path);
    setForce(next);
  };
  const forcible = preview.skipped.filter(goesBackByForce);
  const nothing = preview.files.length === 0 && force.size === 0;
  return (
    <div class="checkpoint-preview" role="group" aria-label="What restoring would do">
      {preview.files.length === 0 && preview.skipped.length === 0 && <p>All files are as they were then.</p>}
      <ul>
        {preview.files.map(({ path, operation }) => (
          <li key={path}>
            <VisibleText text={path} /> {verbs[operation]} <LineCounts lines={preview.lines.get(path)} />
          </li>
        ))}
      </ul>
      <SkippedFiles skipped={preview.skipped} chosen={force} onToggle={toggle} />
      {forcible.length > 1 && (
        <button
          type="button"
          class="button button-quiet"
          disabled={disabled || force.size === forcible.length}
          onClick={() => setForce(new Set(forcible.map(({ path }) => path)))}
        >
          Overwrite all of these
        </button>
      )}
      <div class="g-row">
        <button type="button" class="button" disabled={disabled || nothing} onClick={() => onRestore([...force])}>
          Restore {plural(preview.files.length + force.size, "file")}
        </button>
        <button type="button" class="button button-quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </div>
  );
}

function LineCounts({ lines }: { readonly lines: { readonly added: number; readonly removed: number } | undefined }) {
  if (lines === undefined) return null;
  return (
    <span class="checkpoint-lines">
      <span class="checkpoint-added">+{lines.added}</span> <span class="checkpoint-removed">−{lines.removed}</span>
      <span class="spoken"> lines</span>
    </span>
  );
}

function SkippedFiles(props: {
  readonly skipped: readonly SkippedFile[];
  readonly chosen?: ReadonlySet<string>;
  readonly onToggle?: (path: string) => void;
}) {
  const { skipped, chosen, onToggle } = props;
  if (skipped.length === 0) return null;
  return (
    <>
      <p>Left as they are:</p>
      <ul>
        {skipped.map((file) => (
          <li key={file.path}>
            <VisibleText text={file.path} /> <span class="g-quiet">({skipReasons[file.reason]})</span>
            {onToggle !== undefined && goesBackByForce(file) && (
              <label>
                <input type="checkbox" checked={chosen?.has(file.path) ?? false} onChange={() => onToggle(file.path)} />
                {" overwrite"}
              </label>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function nameOf({ kind, turnNumber, title }: Checkpoint): string {
  switch (kind) {
    case "turn":
      return `Turn ${turnNumber}`;
    case "command":
      return title === "" ? "Command" : title;
    case "restore":
      return "Restore";
  }
}

function describeDone({ files, skipped }: Restored): string {
  if (files.length > 0) return `Restored ${plural(files.length, "file")}.`;
  return skipped.length === 0 ? "All files were so already." : "Nothing was restored.";
}

function clock(time: number): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
}
