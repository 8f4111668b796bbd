import {
  countDecisions,
  type Decided,
  decidableIds,
  decideMany,
  decideWhole,
  decisionFor,
  ownDecisions,
  type ReviewState,
  reviewToApply,
} from "@gennai/client/host/review-state";
import type { ReviewToApply } from "@gennai/client/host/window-requests";
import type { BlobSource } from "@gennai/client/review/change-content";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";
import { ApplyBar, type ApplyStep } from "./apply-bar.tsx";
import { ContentCache } from "./content-cache.ts";
import { hunkCounts } from "./diff-rows.ts";
import { type FileActions, FileSection } from "./file-section.tsx";
import type { HunkReference } from "./hunk-reference.ts";
import { objections, objectionTo } from "./objections.ts";
import { ReviewHead } from "./review-head.tsx";
import { commandOf, type ReviewCommand } from "./review-keys.ts";
import { OutcomeView, type ReviewOutcome } from "./review-outcome.tsx";
import { useHunkWalk } from "./use-hunk-walk.ts";
import { useIsWide } from "./use-is-wide.ts";

export interface ReviewPanelProps {
  readonly proposal: Proposal;
  readonly sessionId: string;
  /** The decisions so far, which the owner keeps over a reload (`reviewFromJson`). */
  readonly state: ReviewState;
  readonly onState: (state: ReviewState) => void;
  readonly blob: BlobSource;
  /** The result, after the review was applied; then the decisions are final. */
  readonly settled: ReviewOutcome | undefined;
  /** Carries the decisions out (`applyProposal`). Never rejects. */
  readonly apply: (review: ReviewToApply) => Promise<ReviewOutcome>;
  readonly onUndo?: (changeSetId: string) => Promise<void>;
  /** Sends a prompt. */
  readonly onAskAgain: (prompt: string) => void;
  readonly onOpenDiff?: (changeId: string) => void;
  readonly onShowAll?: () => void;
}

/** A proposal, hunk by hunk: nothing is written before the user has confirmed it twice. */
export function ReviewPanel(props: ReviewPanelProps) {
  const { proposal, state, onState, blob, settled } = props;
  const changes = useMemo(() => ownDecisions(proposal.changes), [proposal]);
  const root = useRef<HTMLElement>(null);
  const isWide = useIsWide(root);
  const cache = useMemo(() => new ContentCache(blob), [blob, proposal.proposalId]);
  useEffect(() => () => cache[Symbol.dispose](), [cache]);
  const walk = useHunkWalk(changes);
  const { current, goTo, neighbour } = walk;
  const [editing, setEditing] = useState<HunkReference>();
  const [step, setStep] = useState<ApplyStep>({ type: "deciding" });
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [outcome, setOutcome] = useState<ReviewOutcome>();
  const [help, setHelp] = useState(false);
  const ended = settled ?? outcome;
  const locked = ended !== undefined || step.type === "checking" || step.type === "applying";
  const counts = countDecisions(state, changes);
  const sideBySide = state.layout === "side-by-side" || (state.layout === "auto" && isWide);
  const keptChanges = changes.filter((change) =>
    decidableIds(change).some((hunkId) => {
      const type = decisionFor(state, change.id, hunkId)?.type;
      return type === "keep" || type === "edited";
    }),
  );

  const currentChange = changes.find(({ id }) => id === current?.changeId);
  const canKeep = (change: ProposedChange) => objectionTo(change) === "" && cache.of(change).peek().type === "loaded";

  const decideCurrent = (type: "keep" | "undo") => {
    if (currentChange === undefined || current === undefined || locked) return;
    if (type === "keep" && !canKeep(currentChange)) return;
    onState(decideWhole(state, proposal.changes, currentChange.id, [current.hunkId], { type }));
    goTo(neighbour(1));
  };
  const onCommand = (command: ReviewCommand) => {
    // A hunk that nobody looked at is not decided: the first key only goes to it.
    if (current === undefined && (command === "keep" || command === "undo" || command === "edit")) {
      return goTo(neighbour(1));
    }
    switch (command) {
      case "next":
        return goTo(neighbour(1));
      case "previous":
        return goTo(neighbour(-1));
      case "keep":
      case "undo":
        return decideCurrent(command);
      case "edit":
        if (!locked && currentChange !== undefined && currentChange.operation !== "delete" && canKeep(currentChange)) {
          setEditing(current);
        }
        return undefined;
      case "apply":
        if (!locked) setStep({ type: "confirming" });
        return undefined;
      case "help":
        return setHelp((shown) => !shown);
    }
  };
  useReviewKeys(onCommand);

  const handlers: FileActions = {
    expand: walk.expand,
    decide: (changeId, hunkIds, decision) => onState(decideWhole(state, proposal.changes, changeId, hunkIds, decision)),
    edit: (place) => {
      setEditing(place);
      if (place === undefined) walk.focusCurrent();
    },
    focus: walk.setCurrent,
    openDiff: props.onOpenDiff,
  };
  const newest = useRef(handlers);
  newest.current = handlers;
  const canOpenDiff = props.onOpenDiff !== undefined;
  const actions = useMemo<FileActions>(
    () => ({
      expand: (...given) => newest.current.expand(...given),
      decide: (...given) => newest.current.decide(...given),
      edit: (...given) => newest.current.edit(...given),
      focus: (...given) => newest.current.focus(...given),
      openDiff: canOpenDiff ? (...given) => newest.current.openDiff?.(...given) : undefined,
    }),
    [canOpenDiff],
  );

  const apply = async () => {
    setStep({ type: "checking" });
    setProblems([]);
    const found = await objections(keptChanges, state, cache);
    if (found === undefined) return;
    if (found.length > 0) {
      setProblems(found);
      setStep({ type: "deciding" });
      return;
    }
    setStep({ type: "applying" });
    setOutcome(await props.apply(reviewToApply(state, proposal, props.sessionId)));
    setStep({ type: "deciding" });
  };
  const decideAll = (decision: { readonly type: "keep" | "undo" }) => {
    const blocked = new Set(proposal.changes.filter((change) => objectionTo(change) !== "").map((change) => change.id));
    onState(decideMany(state, proposal.changes, decision, { blocked }));
  };

  return (
    <section ref={root} class="review g-panel" tabIndex={-1} aria-label="Review of proposed changes">
      <ReviewHead
        {...{ locked, help }}
        files={changes.length}
        hunks={walk.places.length}
        layout={state.layout}
        onLayout={(layout) => onState({ ...state, layout })}
        onDecideAll={decideAll}
        onHelp={setHelp}
        onShowAll={props.onShowAll}
      />
      {proposal.warnings.map((warning) => (
        <VisibleText in="p" class="g-notice" key={warning} text={warning} />
      ))}
      {ended !== undefined && (
        <OutcomeView
          outcome={ended}
          onUndo={props.onUndo}
          onAskAgain={props.onAskAgain}
          onBack={settled === undefined ? () => setOutcome(undefined) : undefined}
        />
      )}
      <div class="review-body">
        {changes.length > 1 && (
          <FileList
            {...{ changes }}
            decisions={state.decisions}
            currentId={current?.changeId}
            onSelect={(changeId) => goTo(walk.places.find((place) => place.changeId === changeId))}
          />
        )}
        <div class="review-files">
          {changes.map((change) => (
            <FileSection
              key={change.id}
              {...{ change, cache, sideBySide, locked, actions }}
              decided={state.decisions[change.id]}
              current={current?.changeId === change.id ? current : undefined}
              editing={editing?.changeId === change.id ? editing : undefined}
              expanded={walk.expanded.has(change.id)}
              eager={!walk.isMany}
              elementId={walk.fileElementId(change.id)}
            />
          ))}
        </div>
      </div>
      {ended === undefined && (
        <ApplyBar
          {...{ step, counts, problems }}
          files={keptChanges.length}
          note={state.note}
          onNote={(note) => onState({ ...state, note })}
          onStep={setStep}
          onApply={() => void apply()}
        />
      )}
    </section>
  );
}

/** Makes the keys work while the review is shown, unless the focused element uses them itself. */
function useReviewKeys(onCommand: (command: ReviewCommand) => void): void {
  const newest = useRef(onCommand);
  newest.current = onCommand;
  // Before anybody sees the review: a key pressed at once must not be lost.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const command = commandOf(event);
      if (command === undefined || event.defaultPrevented) return;
      event.preventDefault();
      newest.current(command);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

interface FileListProps {
  readonly changes: readonly ProposedChange[];
  readonly decisions: Decided["decisions"];
  readonly currentId: string | undefined;
  readonly onSelect: (changeId: string) => void;
}

/** The files of a proposal, and how much of each is decided. */
function FileList({ changes, decisions, currentId, onSelect }: FileListProps) {
  const counts = useMemo(() => new Map(changes.map((change) => [change.id, hunkCounts(change.hunks)])), [changes]);
  return (
    <nav class="file-list" aria-label="Files of the proposal">
      <ul>
        {changes.map((change) => {
          const { added = 0, removed = 0 } = counts.get(change.id) ?? {};
          const slash = change.path.lastIndexOf("/") + 1;
          const word = progressWord({ decisions }, change);
          return (
            <li key={change.id}>
              <button
                type="button"
                class={change.id === currentId ? "file-entry selected" : "file-entry"}
                aria-current={change.id === currentId ? "true" : undefined}
                title={change.path}
                onClick={() => onSelect(change.id)}
              >
                <span class={`file-dot file-dot-${word.replace(" ", "-")}`} aria-hidden="true" />
                <span class="file-name">
                  <VisibleText text={change.path.slice(slash)} />
                  <VisibleText in="span" class="file-directory" text={change.path.slice(0, slash)} />
                </span>
                <span class="file-counts">
                  <span class="file-added">+{added}</span> <span class="file-removed">−{removed}</span>
                </span>
                <span class="spoken">
                  , {word}
                  {change.conflict ? ", conflict" : ""}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function progressWord(state: Decided, change: ProposedChange): "not decided" | "partly" | "kept" | "refused" | "mixed" {
  const { total, kept, undone, open } = countDecisions(state, [change]);
  if (open === total) return "not decided";
  if (open > 0) return "partly";
  if (kept === total) return "kept";
  return undone === total ? "refused" : "mixed";
}
