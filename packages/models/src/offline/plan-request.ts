import type { ModelRequest } from "@gennai/agent/model";
import { scenarioPart } from "@gennai/agent/prompt/system-prompt";
import { planAnswerRule } from "@gennai/agent/scenarios/plan-scenario";
import { ChangeDraft } from "./change-draft.ts";
import { appendToFile, bullets, createFile, deleteFile, moveFile, replaceInFiles } from "./change-files.ts";
import { rememberLesson, requestScope, useIntent } from "./governed-steps.ts";
import { helpText, notUnderstoodText } from "./help-text.ts";
import { withIntent } from "./intent-handshake.ts";
import { addTodo, findText, listDirectory, runCommand, runInTerminal, showFile, showTodos } from "./look-and-run.ts";
import { parseRequest } from "./request/parse-request.ts";
import { describeStep, type Step } from "./request/request.ts";
import { isGlob } from "./rounds/find-files.ts";
import { type ToolReply, toolReply } from "./rounds/tool-replies.ts";
import { noReply, type StepReport, type ToolRequest, type ToolRound, type Work } from "./rounds/tool-round.ts";
import { failedEnvelope, isChange, splitVerification, writeEnvelope } from "./write-envelope.ts";

/** What the assistant says next: calls of tools, or its last word. */
export type PlannedAnswer =
  | { readonly type: "calls"; readonly thought: string; readonly calls: readonly ToolRequest[] }
  | { readonly type: "text"; readonly thought: string; readonly text: string };

/**
 * The next answer in a conversation. Stateless: the work for the latest user message is replayed from the beginning with the
 * results in the conversation, up to the first calls without one. Only the user's own text is a request: attachments, notes of
 * the server and tool results ask for nothing. Pure.
 */
export function planAnswer({
  messages,
  tools,
  system,
}: Pick<ModelRequest, "messages" | "tools"> & Partial<Pick<ModelRequest, "system">>): PlannedAnswer {
  const start = messages.findLastIndex((message) => message.role === "user");
  const request = messages[start];
  if (request?.role !== "user") return { type: "text", thought: "", text: helpText() };
  const planning = system !== undefined && scenarioPart(system).includes(planAnswerRule);
  const asked = planning ? splitVerification(request.text) : { request: request.text, verify: undefined };
  const parsed = parseRequest(asked.request);
  if (parsed.type !== "steps") {
    const [thought, text] =
      parsed.type === "help"
        ? ["The user asks what I understand.", helpText()]
        : ["This is not in my language.", notUnderstoodText(parsed.clause, parsed.advice)];
    return { type: "text", thought, text: planning ? failedEnvelope(text) : text };
  }
  const names = new Set(tools.map((tool) => tool.name));
  const work = planning
    ? writeEnvelope(parsed.steps, names, { id: `plan-${start + 1}`, verify: asked.verify })
    : withIntent(performSteps(parsed.steps, names), names);
  let next = work.next();
  for (const round of recordedRounds(messages.slice(start + 1))) {
    if (next.done === true || !sameCalls(next.value, round)) return { type: "text", thought: "", text: lostText };
    next = work.next(round.replies);
  }
  if (next.done === true) return { type: "text", thought: "That was all; summing up.", text: next.value };
  return { type: "calls", ...next.value };
}

const lostText =
  "I lost track: the conversation is not as I left it. I stop here; tool results above say what was done. Please ask again.";

function* performSteps(steps: readonly Step[], tools: ReadonlySet<string>): Work<string> {
  const draft = tools.has("Edit") || tools.has("Write") || !tools.has("ProposeChanges") ? undefined : new ChangeDraft();
  const texts: string[] = [];
  for (const [index, step] of steps.entries()) {
    const report = yield* performStep(step, tools, draft);
    if (report.text !== "") texts.push(report.text);
    if (report.ok) continue;
    const skipped = steps.slice(index + 1).map(describeStep);
    if (skipped.length > 0) texts.push(`Not attempted after that:\n${bullets(skipped)}`);
    break;
  }
  const proposal = draft === undefined ? undefined : yield* draft.propose();
  if (proposal !== undefined) texts.push(proposal.text);
  return texts.join("\n\n");
}

function* performStep(step: Step, tools: ReadonlySet<string>, draft: ChangeDraft | undefined): Work<StepReport> {
  const needed =
    draft !== undefined && isChange(step) ? ["Read", "Grep", "Glob", "ProposeChanges"] : neededTools[step.kind](step);
  const missing = needed.filter((name) => !tools.has(name));
  if (missing.length > 0) {
    const text = `I cannot ${describeStep(step)}: this scenario does not offer ${missing.join(", ")}. Choose another scenario, e.g. CODE.`;
    return { ok: false, text };
  }
  if (draft !== undefined && isChange(step)) return yield* draft.add(step);
  switch (step.kind) {
    case "replace":
      return yield* replaceInFiles(step);
    case "move":
      return yield* moveFile(step);
    case "create":
      return yield* createFile(step, { canLook: tools.has("Glob") });
    case "append":
      return yield* appendToFile(step);
    case "delete":
      return yield* deleteFile(step);
    case "find":
      return yield* findText(step);
    case "show":
      return yield* showFile(step);
    case "list":
      return yield* listDirectory(step);
    case "run":
      return yield* step.terminal ? runInTerminal(step) : runCommand(step);
    case "add-todo":
      return yield* addTodo(step);
    case "show-todos":
      return yield* showTodos();
    case "use-intent":
      return yield* useIntent(step, tools);
    case "request-scope":
      return yield* requestScope(step);
    case "remember":
      return yield* rememberLesson(step);
    case "say":
      return { ok: true, text: step.text };
  }
}

const neededTools: Readonly<Record<Step["kind"], (step: Step) => readonly string[]>> = {
  replace: (step) => ["Read", "Edit", ...(step.kind === "replace" && isGlob(step.glob) ? ["Grep", "Glob"] : [])],
  move: () => ["Read", "Move"],
  create: () => ["Write"],
  append: () => ["Read", "Edit", "Write"],
  delete: () => ["Read", "Delete"],
  find: () => ["Grep"],
  show: () => ["Read"],
  list: () => ["LS"],
  run: (step) => [step.kind === "run" && step.terminal ? "RunInTerminal" : "Bash"],
  "add-todo": () => ["TodoRead", "TodoWrite"],
  "show-todos": () => ["TodoRead"],
  // Says itself what it means when it is not offered.
  "use-intent": () => [],
  "request-scope": () => ["request_scope_expansion"],
  remember: () => ["record_lesson"],
  say: () => [],
};

interface RecordedRound {
  readonly names: readonly string[];
  readonly replies: readonly ToolReply[];
}

/** The answers with tool calls so far, each with what came back. */
function recordedRounds(messages: ModelRequest["messages"]): readonly RecordedRound[] {
  return messages.flatMap((message, index) => {
    if (message.role !== "assistant" || message.toolCalls.length === 0) return [];
    // Ids need only be unique within one answer: a reply belongs to the answer right before it.
    const end = messages.findIndex((later, at) => at > index && later.role === "assistant");
    const following = messages.slice(index + 1, end === -1 ? undefined : end);
    const replies = message.toolCalls.map((call) => {
      const reply = following.find((candidate) => candidate.role === "tool" && candidate.id === call.id);
      return reply?.role === "tool" ? toolReply(reply.output, reply.isError) : noReply;
    });
    return [{ names: message.toolCalls.map((call) => call.name), replies }];
  });
}

function sameCalls(planned: ToolRound, recorded: RecordedRound): boolean {
  return planned.calls.map((call) => call.name).join() === recorded.names.join();
}
