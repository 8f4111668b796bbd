import { SessionAttempts } from "@gennai/client/attempts";
import { backgroundOutput, listBackgroundRuns, stopBackgroundRun } from "@gennai/client/background-runs";
import type { CommandResult, CommandView } from "@gennai/client/commands/command";
import { listIntents, selectIntent } from "@gennai/client/governance/intents";
import { describeModel, listModels } from "@gennai/client/host/model-choices";
import { type ReviewState, reviewToApply } from "@gennai/client/host/review-state";
import { listCheckpoints, restoreCheckpoint } from "@gennai/client/session/checkpoints";
import { SessionPlans } from "@gennai/client/session-plans";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import type { Attempt } from "@gennai/protocol/model/session/attempt";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { editHunk } from "../../review/review-at-terminal.ts";
import { ReviewView } from "../../review/review-view.ts";
import type { LentTerminal } from "../../screen/lent-terminal.ts";
import type { Paint } from "../../terminal/colours.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { describeActions, describeOutcome, describePlan, describeResults } from "../plan/plan-text.ts";
import { describeRestored } from "../sessions/undo-text.ts";
import type { Conversation } from "./conversation.ts";
import type { Face } from "./face.ts";
import type { PickerItem } from "./input/picker.ts";
import { sessionItems } from "./input/picker.ts";
import { type TextKey, TextView } from "./input/text-view.ts";

/** What views need of the terminal. */
export interface ViewPlace {
  readonly paint: Paint;
  write(text: string): void;
  note(text: string): void;
  /** undefined: none was chosen. */
  pick(title: string, items: readonly PickerItem[]): Promise<string | undefined>;
  /** Shows a text on the whole terminal; resolves with the key that was pressed, undefined for leaving. */
  read(text: string, keys: readonly TextKey[]): Promise<string | undefined>;
  /** undefined: nothing was decided. */
  review(proposal: Proposal): Promise<ReviewState | undefined>;
  /** Prints lines, or shows them in a pager. */
  page(text: string): void;
}

/** What views need, until the conversation ends. */
export type DrawnPlace = ViewPlace & { readonly signal: AbortSignal };

/** The place of views on a terminal that is drawn on. */
export function drawnPlace(
  face: Pick<ViewPlace, "paint" | "write" | "note" | "pick"> & Pick<Face, "input">,
  lent: LentTerminal,
  options: Pick<DrawnPlace, "page" | "signal"> & { readonly environment: NodeJS.ProcessEnv },
): DrawnPlace {
  const { environment, ...place } = options;
  const write = (text: string): void => face.write(text);
  return {
    ...place,
    write,
    paint: face.paint,
    note: (text) => face.note(text),
    pick: (title, items) => face.pick(title, items),
    read: (text, keys) => lent.onWhole((done) => new TextView(() => text, keys, face.paint, done)),
    review: (proposal) =>
      lent.onWhole((done) => {
        return new ReviewView(proposal, face.paint, {
          done,
          edit: (change, hunk) => editHunk(hunk, change.path, { input: face.input, write, environment }),
          refresh: () => lent.draw(),
        });
      }),
  };
}

type Shown = Extract<CommandResult, { readonly type: "show" }>;

/** The views of a conversation that is drawn. */
export const drawnViews: ReadonlySet<CommandView> = new Set([
  "attempts",
  "background",
  "checkpoints",
  "history",
  "intents",
  "models",
  "plan",
  "review",
  "sessions",
]);

/** Shows a view of the session, and does what is chosen there. Rejects as the server's calls do. */
export async function showView(result: Shown, conversation: Conversation, place: DrawnPlace): Promise<void> {
  switch (result.view) {
    case "review":
      return reviewProposals(conversation, place);
    case "models":
      return chooseModel(conversation, place);
    case "sessions":
      return chooseSession(conversation, place);
    case "intents":
      return chooseIntent(conversation, place);
    case "background":
      return chooseRun(conversation, place);
    case "attempts":
      return result.text === "" ? chooseAttempt(conversation, place) : beginAttempts(result, conversation, place);
    case "checkpoints":
      return chooseCheckpoint(conversation, place);
    case "plan":
      return choosePlan(conversation, place);
    case "history":
    case "rules":
      throw new Error(`A terminal cannot show the view ${result.view}.`);
  }
}

/** One proposal after the other, the newest first; what is kept is written by the server. */
async function reviewProposals(conversation: Conversation, place: DrawnPlace): Promise<void> {
  const { session, view } = conversation;
  const open = [...view.facts.peek().openProposals.values()].toReversed();
  if (open.length === 0) return place.note("Nothing is proposed.");
  for (const proposal of open) {
    const state = await place.review(proposal);
    if (state === undefined) return place.note("Nothing was decided; /review shows it again.");
    const review = { ...reviewToApply(state, proposal, session.sessionId), changes: proposal.changes };
    const { files } = await session.applyProposal(review, { signal: place.signal });
    if (files.length === 0) place.note("Nothing of it was kept.");
  }
}

async function chooseModel(conversation: Conversation, { pick, note, signal }: DrawnPlace): Promise<void> {
  const providers = await listModels(conversation.session.client, undefined, { signal });
  const rows = providers.flatMap(({ backend, baseUrl, models, hasKey, needsKey }) =>
    models.map((choice) => ({
      backend,
      baseUrl,
      model: choice.model,
      words: describeModel(choice),
      isReady: hasKey || !needsKey,
    })),
  );
  const ready = rows.filter(({ isReady }) => isReady);
  if (ready.length === 0) return note("No model can be reached here; docs/guides/add-a-model.md says how to add one.");
  const chosen = await pick(
    "Model:",
    ready.map(({ backend, model, words }, index) => ({
      value: String(index),
      label: model,
      description: `${backend} · ${words}`,
    })),
  );
  const row = ready[Number(chosen ?? -1)];
  if (row === undefined) return;
  const { backend, baseUrl, model } = row;
  await conversation.changeSettings({ backend, model, ...(baseUrl === "" ? {} : { baseUrl }) });
  note(`The model is ${terminalSafe(model)} from now on.`);
}

async function chooseSession(conversation: Conversation, { pick, note, signal }: DrawnPlace): Promise<void> {
  const { client, workingDir, sessionId: here } = conversation.session;
  const sessions = (await sessionItems(client, workingDir, { signal })).filter(({ value }) => value !== here);
  if (sessions.length === 0) return note("There is no other session here.");
  const chosen = await pick("Go on with:", sessions);
  if (chosen !== undefined) await conversation.open(chosen);
}

async function chooseIntent(conversation: Conversation, { pick, note, signal }: DrawnPlace): Promise<void> {
  const { session, governance } = conversation;
  const { intents, warnings, active } = await listIntents(governance, session.sessionId, { signal });
  for (const warning of warnings) note(terminalSafe(warning));
  if (intents.length === 0) return note("No intents here: .orchestration/active_intents.yaml holds none.");
  const chosen = await pick(
    "Intent:",
    intents.map(({ id, name, status, selectable }) => ({
      value: id,
      label: `${id === active?.id ? "▸ " : ""}${id} ${name}`,
      description: selectable ? status : `${status || "no status"}, not selectable`,
    })),
  );
  if (chosen === undefined) return;
  const { id, name } = await selectIntent(governance, session.sessionId, chosen, { signal });
  note(`Intent ${terminalSafe(`${id} ${name}`)}`);
}

async function chooseRun(conversation: Conversation, { pick, note, page, signal }: DrawnPlace): Promise<void> {
  const { client, sessionId } = conversation.session;
  const runs = await listBackgroundRuns(client, sessionId, { signal });
  if (runs.length === 0) return note("Nothing runs in the background.");
  const runId = await pick(
    "In the background:",
    runs.map(({ id, command, isRunning, end, ports }) => ({
      value: id,
      label: command,
      description: [
        isRunning ? "runs" : end,
        ...ports.map(({ port, localPort }) => `:${port} at 127.0.0.1:${localPort}`),
      ].join(" "),
    })),
  );
  if (runId === undefined) return;
  const isRunning = runs.some((run) => run.id === runId && run.isRunning);
  const what = await pick("What do you want to do with it?", [
    { value: "read", label: "Show its output" },
    ...(isRunning ? [{ value: "stop", label: "Stop it" }] : []),
  ]);
  if (what === "stop")
    return note(`Stopped: ${(await stopBackgroundRun(client, { sessionId, runId }, { signal })).end}`);
  if (what !== "read") return;
  let output = "";
  for await (const text of backgroundOutput(client, { sessionId, runId }, { follow: false, signal })) output += text;
  page(terminalSafe(output) || "It printed nothing so far.");
}

async function beginAttempts(
  { text, count }: Shown,
  conversation: Conversation,
  { note, signal }: DrawnPlace,
): Promise<void> {
  const { client, sessionId } = conversation.session;
  await new SessionAttempts(client, sessionId).start({ id: crypto.randomUUID(), text, count }, { signal });
  note(`${count} attempts begin, each on a copy. /attempts shows them.`);
}

async function chooseAttempt(conversation: Conversation, place: DrawnPlace): Promise<void> {
  const { pick, note, signal } = place;
  const { client, sessionId } = conversation.session;
  const attempts = new SessionAttempts(client, sessionId);
  const sets = await attempts.list({ signal });
  const rows = sets.flatMap((set) => set.attempts.map((attempt) => ({ set, attempt })));
  if (rows.length === 0) return note("There are no attempts: /attempts 3 PROMPT begins some.");
  const chosen = await pick(
    "Attempt to take:",
    rows.map(({ set, attempt }, index) => ({
      value: String(index),
      label: `${set.suggested === attempt.number ? "▸ " : ""}${attempt.number} ${set.prompt}`,
      description: attemptWords(attempt),
    })),
  );
  const row = rows[Number(chosen ?? -1)];
  if (row === undefined) return;
  if (row.set.isRunning) return note("They still run; wait until they have ended.");
  await attempts.take(row.set.id, row.attempt.number, { signal });
  note("It is proposed now: /review decides.");
}

function attemptWords({ phase, outcome, check, addedLines, removedLines }: Attempt): string {
  const how = phase === "ended" ? (outcome ?? "ended") : phase;
  return `${how}, check ${check.replace("_", " ")}, +${addedLines} -${removedLines}`;
}

async function chooseCheckpoint(
  conversation: Conversation,
  { pick, write, note, read, signal }: DrawnPlace,
): Promise<void> {
  const { client, sessionId } = conversation.session;
  const { checkpoints, problem } = await listCheckpoints(client, sessionId, { signal });
  if (problem !== "") note(`What commands change cannot be undone now: ${terminalSafe(problem)}`);
  const kept = checkpoints.filter((checkpoint) => checkpoint.kept).toReversed();
  if (kept.length === 0) return note("Nothing to undo: this session changed no file.");
  const checkpointId = await pick(
    "Back to before:",
    kept.map(({ checkpointId: value, kind, turnNumber, title, time, files, moreFiles }) => ({
      value,
      label: `${kind === "turn" ? `turn ${turnNumber}` : "  call"}  ${title}`,
      description: `${new Date(time).toISOString().slice(0, 16).replace("T", " ")}, ${files.length + moreFiles} files`,
    })),
  );
  if (checkpointId === undefined) return;
  const wanted = { sessionId, checkpointId };
  const planned = await restoreCheckpoint(client, { ...wanted, dryRun: true }, { signal });
  const sure = await read(describeRestored(planned, { dryRun: true }), [{ key: "y", words: "undo it" }]);
  if (sure !== "y") return;
  write(describeRestored(await restoreCheckpoint(client, wanted, { signal }), { dryRun: false }));
}

async function choosePlan(conversation: Conversation, place: DrawnPlace): Promise<void> {
  const { session, plans: client } = conversation;
  const plans = await new SessionPlans(client, session.sessionId).list({ signal: place.signal });
  if (plans.length === 0) return conversation.startPlanning();
  const chosen =
    plans.length === 1
      ? plans[0]?.planId
      : await place.pick(
          "Plan:",
          plans.map(({ planId, title, state }) => ({ value: planId, label: title, description: state })),
        );
  const plan = plans.find(({ planId }) => planId === chosen);
  if (plan !== undefined) await decidePlan(plan, conversation, place);
}

/** Shows a plan with all that it would do, and approves, runs or verifies exactly that. */
export async function decidePlan(draft: Plan, conversation: Conversation, place: DrawnPlace): Promise<void> {
  const { paint, read, write, note, signal } = place;
  const plans = new SessionPlans(conversation.plans, conversation.session.sessionId);
  const { plan, actions } =
    draft.state === "draft" || draft.state === "preview" || draft.state === "awaiting_approval"
      ? await plans.preview(draft.planId, { signal })
      : { plan: draft, actions: [] };
  const text = describePlan(plan, paint) + describeActions(actions, paint);
  const isOpen = plan.state === "awaiting_approval";
  const chosen = await read(text, isOpen ? [{ key: "a", words: "approve and run exactly this" }] : []);
  if (chosen !== "a")
    return note(isOpen ? "The plan was not approved; /plan shows it again." : `The plan is ${plan.state}.`);
  const { approvalToken } = await plans.approve(plan.planId, plan.digest, { signal });
  const run = await plans.execute(plan.planId, plan.digest, approvalToken, { signal });
  if (!run.executed) return write(describePlan(run, paint) + describeOutcome(run, paint));
  const { plan: end, results } = await plans.verify(plan.planId, plan.digest, approvalToken, { signal });
  // What went well was shown while it ran.
  const told = end.verified ? "" : describePlan(end, paint) + describeResults(results, paint);
  write(told + describeOutcome(end, paint));
}
