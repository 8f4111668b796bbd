import { ownDecisions } from "@gennai/client/host/review-state";
import { stateWords } from "@gennai/client/view/answer-words";
import type { ChangeSetItem, ClientRequestItem, PlanItem, ProposalItem } from "@gennai/client/view/items/view-item";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import { renamedFiles } from "@gennai/protocol/whole-moves";
import { useState } from "preact/hooks";
import { ChangedFiles } from "../../changes/changed-files.tsx";
import { LineCounts } from "../../changes/line-counts.tsx";
import { OperationMark } from "../../changes/operation-mark.tsx";
import { CopyButton } from "../../look/copy-button.tsx";
import { Icon } from "../../look/icon.tsx";
import { RenamedFrom } from "../../look/renamed-from.tsx";
import { VisibleText } from "../../look/visible-text.tsx";
import { hunkCounts } from "../../review/diff-rows.ts";
import { useChat } from "../chat-context.ts";

export function ClientRequestLine({ item }: { readonly item: ClientRequestItem }) {
  return (
    <div class={`line line-${item.state}`}>
      <Icon name={item.state === "open" ? "loading" : "file"} spin={item.state === "open"} />
      <span>{item.text}</span>
      <span class="quiet">{stateWords[item.state]}</span>
    </div>
  );
}

export function ProposalCard({ item }: { readonly item: ProposalItem }) {
  const { control } = useChat();
  const { proposal, review } = item;
  const changes = ownDecisions(proposal.changes);
  return (
    <section class="card">
      <header class="card-head">
        <Icon name="diff" />
        <span class="card-title">Proposed: {plural(changes.length, "file")}</span>
        <span class="quiet">{proposalWords(item)}</span>
        <button
          type="button"
          class={review === undefined ? "button" : "button button-quiet"}
          onClick={() => {
            control.reviewed.value = proposal.proposalId;
            control.panel.value = "review";
          }}
        >
          {review === undefined ? "Review" : "Look again"}
        </button>
      </header>
      <ul class="files">
        {changes.map((change) => (
          <li key={change.id}>
            <OperationMark operation={change.movedFrom === undefined ? change.operation : "rename"} />
            <span class="file-path">{change.path}</span>
            {change.movedFrom !== undefined && <RenamedFrom path={change.movedFrom} />}
            <LineCounts {...hunkCounts(change.hunks)} />
            {change.conflict && <span class="badge badge-bad">conflict</span>}
          </li>
        ))}
      </ul>
      {proposal.warnings.map((warning) => (
        <p key={warning} class="tone-warn">
          {warning}
        </p>
      ))}
    </section>
  );
}

export function ChangeSetCard({ item }: { readonly item: ChangeSetItem }) {
  const { control } = useChat();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [stays, setStays] = useState<readonly string[]>([]);
  const count = item.files.length - renamedFiles(item.files).size;
  const hasRest = stays.length === 0 || stays.length < item.files.length;
  const ask = async () => {
    setStays(await control.sessions.staysInUndo(item.changeSetId));
    setAsking(true);
  };
  const undo = async () => {
    setBusy(true);
    await control.sessions.undoChangeSet(item.changeSetId, stays.length > 0);
    setBusy(false);
    setAsking(false);
  };
  return (
    <section class="card">
      <header class="card-head">
        <Icon name={item.undone ? "discard" : "compare"} />
        <span class="card-title">
          {count === 0 ? "Directories" : plural(count, "file")} {item.undone ? "undone" : "changed"}
        </span>
        {!item.undone && !asking && (
          <button type="button" class="button button-quiet" onClick={() => void ask()}>
            Undo
          </button>
        )}
        {asking && (
          <>
            <span class="quiet">{stays.length === 0 ? "Undo all of it?" : hasRest && "Undo the rest?"}</span>
            {hasRest && (
              <button type="button" class="button" disabled={busy} onClick={() => void undo()}>
                {busy ? "Undoing…" : "Yes, undo"}
              </button>
            )}
            <button type="button" class="button button-quiet" disabled={busy} onClick={() => setAsking(false)}>
              {hasRest ? "No" : "Close"}
            </button>
          </>
        )}
      </header>
      {asking &&
        stays.map((line) => (
          <p key={line} class="tone-warn">
            Stays as it is: <VisibleText text={line} />
          </p>
        ))}
      <ChangedFiles files={item.files} id={`set:${item.changeSetId}`} open={false} />
      {!item.undone && <WrittenWhere branch={item.branch} files={item.files} />}
    </section>
  );
}

export function PlanCard({ item }: { readonly item: PlanItem }) {
  const { control } = useChat();
  return (
    <section class="card">
      <header class="card-head">
        <Icon name="list" />
        <span class="card-title">Plan: {item.title === "" ? item.planId : item.title}</span>
        <span class="badge">{item.state.replaceAll("_", " ")}</span>
        <button
          type="button"
          class="button button-quiet"
          onClick={() => {
            control.panel.value = "plan";
          }}
        >
          Open
        </button>
      </header>
      {item.text !== "" && <p class="quiet">{item.text}</p>}
    </section>
  );
}

function proposalWords({ review, changeSetId, undone }: ProposalItem): string {
  if (undone) return "undone";
  if (review === undefined) return changeSetId === undefined ? "waits for your review" : "applied";
  const { hunks } = review;
  const kept = hunks.filter(({ decision }) => decision !== "undo").length;
  if (kept === 0) return "nothing was kept";
  const which = kept === hunks.length ? "" : `${kept} of ${plural(hunks.length, "hunk")} `;
  return `${which}${changeSetId === undefined ? "kept" : "applied"}`;
}

/** On which branch changes were written, and where a person can look at them next. */
function WrittenWhere({ branch, files }: { readonly branch: string; readonly files: readonly AppliedFile[] }) {
  const { runHostCommand } = useChat().control.host;
  const command = files.some(({ operation }) => operation === "create") ? "git status" : "git diff";
  return (
    <p class="written-where">
      {branch !== "" && (
        <>
          On <code>{branch}</code>.{" "}
        </>
      )}
      {runHostCommand !== undefined ? (
        <>
          To keep it, commit it in{" "}
          <button type="button" class="link" onClick={() => void runHostCommand("openScm")}>
            Source Control
          </button>
          .
        </>
      ) : (
        branch !== "" && (
          <>
            To look at it in a terminal: <code>{command}</code> <CopyButton text={command} label={`Copy ${command}`} />
          </>
        )
      )}
    </p>
  );
}
