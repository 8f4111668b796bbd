import type { ReviewToApply } from "@gennai/client/home/repl-home";
import type { Proposal, ProposedChange } from "@gennai/client/review/proposal";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { ApplyBar, type ApplyStep } from "./apply-bar.tsx";
import { ContentCache } from "./content-cache.ts";
import { FileList } from "./file-list.tsx";
import { type FileActions, FileSection, type HunkPlace, hunkElementId, objectionTo } from "./file-section.tsx";
import { ReviewHead } from "./review-head.tsx";
import { commandOf } from "./review-keys.ts";
import { OutcomeView, type ReviewOutcome } from "./review-outcome.tsx";
import {
  countDecisions,
  decidableIds,
  decide,
  decideMany,
  decisionFor,
  type ReviewState,
  reviewToApply,
} from "./review-state.ts";
import { useIsWide } from "./use-is-wide.ts";
import type { BlobSource } from "./verified-content.ts";
import { VisibleText } from "./visible-text.tsx";

export interface ReviewPanelProps {
  readonly proposal: Proposal;
  readonly sessionId: string;
  /** The decisions so far, and where they go: keep them over a reload (`reviewFromJson`). */
  readonly state: ReviewState;
  readonly onState: (state: ReviewState) => void;
  readonly blob: BlobSource;
  /** What came of it, once something did; decisions then stand. */
  readonly settled: ReviewOutcome | undefined;
  /** Carries the decisions out (`applyProposal`). Never rejects. */
  readonly apply: (review: ReviewToApply) => Promise<ReviewOutcome>;
  readonly onUndo?: (changeSetId: string) => Promise<void>;
  /** Sends a prompt. */
  readonly onAskAgain: (prompt: string) => void;
  readonly onOpenDiff?: (changeId: string) => void;
}

/** From here on, hunks are drawn only where they are looked at, and files begin closed. */
const manyHunks = 60;

/** A proposal, hunk by hunk: nothing is written before the user says so twice. */
export function ReviewPanel(props: ReviewPanelProps) {
  const { proposal, state, onState, blob, settled } = props;
  const { changes } = proposal;
  const id = useId();
  const root = useRef<HTMLElement>(null);
  const isWide = useIsWide(root);
  const cache = useMemo(() => new ContentCache(blob), [blob, proposal.proposalId]);
  useEffect(() => () => cache[Symbol.dispose](), [cache]);
  const places = useMemo(() => placesOf(changes), [changes]);
  const isMany = places.length > manyHunks;
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(
    () =>
      new Set(isMany ? changes.slice(0, 1).map(({ id: change }) => change) : changes.map(({ id: change }) => change)),
  );
  const [current, setCurrent] = useState<HunkPlace>();
  const [editing, setEditing] = useState<HunkPlace>();
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

  const indexes = useMemo(() => new Map(changes.map((change, index) => [change.id, index])), [changes]);
  const fileElementId = (changeId: string) => `${id}-file-${indexes.get(changeId) ?? 0}`;
  const elementIdOf = ({ changeId, hunkId }: HunkPlace) => {
    const change = changes[indexes.get(changeId) ?? 0];
    return hunkElementId(fileElementId(changeId), change === undefined ? 0 : decidableIds(change).indexOf(hunkId));
  };
  const expand = (changeId: string, open: boolean) =>
    setExpanded((before) => {
      const after = new Set(before);
      if (open) after.add(changeId);
      else after.delete(changeId);
      return after;
    });
  const wanted = useRef<string>(undefined);
  // What is wanted may have to be drawn first, and its content fetched.
  useEffect(() => {
    const element = wanted.current === undefined ? null : document.getElementById(wanted.current);
    if (element === null) return;
    wanted.current = undefined;
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest" });
  });
  const goTo = (place: HunkPlace | undefined) => {
    if (place === undefined) return;
    expand(place.changeId, true);
    setCurrent(place);
    wanted.current = elementIdOf(place);
  };
  const neighbour = (distance: 1 | -1): HunkPlace | undefined => {
    const at = places.findIndex(({ changeId, hunkId }) => changeId === current?.changeId && hunkId === current.hunkId);
    if (at === -1) return distance === 1 ? places[0] : places.at(-1);
    return places[Math.max(0, Math.min(places.length - 1, at + distance))];
  };
  const changeOf = (place: HunkPlace | undefined) => changes.find((change) => change.id === place?.changeId);
  const isShown = (change: ProposedChange) => cache.of(change).peek().type === "loaded";

  const decideCurrent = (type: "keep" | "undo") => {
    const change = changeOf(current);
    if (change === undefined || current === undefined || locked) return;
    if (type === "keep" && (objectionTo(change) !== "" || !isShown(change))) return;
    onState(decide(state, change.id, [current.hunkId], { type }));
    goTo(neighbour(1));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const command = commandOf(event);
    if (command === undefined || event.defaultPrevented) return;
    event.preventDefault();
    // What was not looked at is not decided about: the first key goes there.
    if (current === undefined && (command === "keep" || command === "undo" || command === "edit")) {
      return goTo(neighbour(1));
    }
    const change = changeOf(current);
    switch (command) {
      case "next":
        return goTo(neighbour(1));
      case "previous":
        return goTo(neighbour(-1));
      case "keep":
      case "undo":
        return decideCurrent(command);
      case "edit":
        if (
          !locked &&
          change !== undefined &&
          change.operation !== "delete" &&
          objectionTo(change) === "" &&
          isShown(change)
        )
          setEditing(current);
        return undefined;
      case "apply":
        if (!locked) setStep({ type: "confirming" });
        return undefined;
      case "help":
        return setHelp((shown) => !shown);
    }
  };

  const onKey = useRef(onKeyDown);
  onKey.current = onKeyDown;
  // While the review is shown its keys work, wherever the focus is that wants none of them.
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey.current(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);

  const handlers: FileActions = {
    expand,
    decide: (changeId, hunkIds, decision) => onState(decide(state, changeId, hunkIds, decision)),
    edit: (place) => {
      setEditing(place);
      if (place === undefined && current !== undefined) wanted.current = elementIdOf(current);
    },
    focus: setCurrent,
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
    const blocked = new Set(changes.filter((change) => objectionTo(change) !== "").map((change) => change.id));
    onState(decideMany(state, changes, decision, { blocked }));
  };

  return (
    <section ref={root} class="review g-panel" tabIndex={-1} aria-label="Review of proposed changes">
      <ReviewHead
        {...{ locked, help }}
        files={changes.length}
        hunks={places.length}
        layout={state.layout}
        onLayout={(layout) => onState({ ...state, layout })}
        onDecideAll={decideAll}
        onHelp={setHelp}
      />
      {proposal.warnings.map((warning) => (
        <p class="g-notice" key={warning}>
          <VisibleText text={warning} />
        </p>
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
            onSelect={(changeId) => goTo(places.find((place) => place.changeId === changeId))}
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
              expanded={expanded.has(change.id)}
              eager={!isMany}
              elementId={fileElementId(change.id)}
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

function placesOf(changes: readonly ProposedChange[]): readonly HunkPlace[] {
  return changes.flatMap((change) => decidableIds(change).map((hunkId) => ({ changeId: change.id, hunkId })));
}

/** What stands against applying, one line a file; undefined when nobody waits for it any more. */
async function objections(
  changes: readonly ProposedChange[],
  state: ReviewState,
  cache: ContentCache,
): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  try {
    for (const change of changes) {
      const objection = objectionTo(change) || (await cache.objection(change, state));
      if (objection !== undefined && objection !== "") found.push(`${change.path}: ${objection}`);
    }
  } catch {
    return undefined;
  }
  return found;
}
