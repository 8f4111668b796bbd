import type { AppliedFile } from "@gennai/protocol/model/proposal";
import { useState } from "preact/hooks";
import { Icon } from "../icons/icon.tsx";
import type {
  ChangeSetItem,
  ClientRequestItem,
  ConfirmationItem,
  PlanItem,
  ProposalItem,
  RequestState,
} from "../model/view-item.ts";
import { useChat } from "./chat-context.ts";
import { plural } from "./words.ts";

export function ClientRequestLine({ item }: { readonly item: ClientRequestItem }) {
  return (
    <div class={`line line-${item.state}`}>
      <Icon name={item.state === "open" ? "loading" : "file"} spin={item.state === "open"} />
      <span>{item.text}</span>
      <span class="quiet">{stateWords[item.state]}</span>
    </div>
  );
}

export function ConfirmationLine({ item }: { readonly item: ConfirmationItem }) {
  const { control } = useChat();
  const mine = item.answeredBy === control.home.launch.clientId ? "answered here" : "answered elsewhere";
  const state =
    item.state === "open" ? "waits for an answer below" : item.state === "answered" ? mine : stateWords[item.state];
  return (
    <div class={`line line-question line-${item.state}`}>
      <Icon name="question" />
      <span>{item.question.title}</span>
      <span class="quiet">{state}</span>
      {!item.genuine && <span class="badge badge-bad">does not fit its digest: cannot be allowed</span>}
    </div>
  );
}

export function ProposalCard({ item }: { readonly item: ProposalItem }) {
  const { control } = useChat();
  const { proposal, review, changeSetId } = item;
  const state =
    changeSetId !== undefined ? "applied" : review !== undefined ? reviewWords(review.hunks) : "waits for your review";
  return (
    <section class="card">
      <header class="card-head">
        <Icon name="diff" />
        <span class="card-title">Proposed: {plural(proposal.changes.length, "file")}</span>
        <span class="quiet">{state}</span>
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
        {proposal.changes.map((change) => {
          const lines = change.hunks.flatMap((hunk) => hunk.lines);
          return (
            <li key={change.id}>
              <OperationMark operation={change.operation} />
              <span class="file-path">{change.path}</span>
              <span class="tone-good">+{lines.filter((line) => line.startsWith("+")).length}</span>
              <span class="tone-bad">−{lines.filter((line) => line.startsWith("-")).length}</span>
              {change.conflict && <span class="badge badge-bad">conflict</span>}
            </li>
          );
        })}
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
  const undo = async () => {
    setBusy(true);
    await control.undoChangeSet(item.changeSetId);
    setBusy(false);
    setAsking(false);
  };
  const { runHomeCommand } = control.home;
  return (
    <section class="card">
      <header class="card-head">
        <Icon name={item.undone ? "discard" : "compare"} />
        <span class="card-title">
          {plural(item.files.length, "file")} {item.undone ? "taken back" : "changed"}
        </span>
        {runHomeCommand !== undefined && !item.undone && (
          <button type="button" class="link" onClick={() => void runHomeCommand("openScm")}>
            Source control
          </button>
        )}
        {!item.undone && !asking && (
          <button type="button" class="button button-quiet" onClick={() => setAsking(true)}>
            Undo
          </button>
        )}
        {asking && (
          <>
            <span class="quiet">Take all of it back?</span>
            <button type="button" class="button" disabled={busy} onClick={() => void undo()}>
              {busy ? "Taking back…" : "Yes, undo"}
            </button>
            <button type="button" class="button button-quiet" disabled={busy} onClick={() => setAsking(false)}>
              No
            </button>
          </>
        )}
      </header>
      <ul class="files">
        {item.files.map((file) => (
          <li key={file.path}>
            <OperationMark operation={file.operation} />
            <FilePath file={file} />
          </li>
        ))}
      </ul>
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

function FilePath({ file }: { readonly file: AppliedFile }) {
  const { openFile } = useChat().control.home;
  if (openFile === undefined || file.operation === "delete") return <span class="file-path">{file.path}</span>;
  return (
    <button type="button" class="link file-path" onClick={() => void openFile(file.path)}>
      {file.path}
    </button>
  );
}

const operationMarks = { create: ["A", "added"], update: ["M", "changed"], delete: ["D", "deleted"] } as const;

function OperationMark({ operation }: { readonly operation: keyof typeof operationMarks }) {
  const [letter, word] = operationMarks[operation];
  return (
    <span class={`operation operation-${operation}`} title={word}>
      <span aria-hidden="true">{letter}</span>
      <span class="spoken">{word}</span>
    </span>
  );
}

const stateWords: Record<RequestState, string> = {
  open: "waiting for the editor",
  answered: "answered",
  timeout: "nobody answered in time",
  cancelled: "no longer needed",
};

function reviewWords(hunks: readonly { readonly decision: "keep" | "undo" | "edited" }[]): string {
  const kept = hunks.filter(({ decision }) => decision !== "undo").length;
  return kept === 0 ? "nothing was kept" : `reviewed: ${kept} of ${plural(hunks.length, "part")} kept`;
}
