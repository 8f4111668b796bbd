import { Writable } from "node:stream";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { openDiskWorkspace } from "@gennai/shell/open-disk-workspace";
import { branchTitle } from "../../client/agent-branch.ts";
import { answeredAhead } from "../../client/allowed-ahead.ts";
import { answerByPolicy } from "../../client/confirmation-answer.ts";
import { headlessEditor } from "../../client/headless-editor.ts";
import { KeptPrompts } from "../../client/kept-prompts.ts";
import { intentOf, intentTitle } from "../../client/session-intent.ts";
import { holdsFiles } from "../../connection/holds-files.ts";
import { turnServer } from "../../connection/server-choice.ts";
import { allowedAhead } from "../../review/persons-network-here.ts";
import { reviewProposals } from "../../review/review-proposal.ts";
import { usageError } from "../../terminal/cli-error.ts";
import { asTyped, type Console, isDrawable, isTerminal } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { Interrupts } from "../../terminal/interrupts.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { version } from "../../terminal/version.ts";
import { commandsMode } from "../options/option-values.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { RequestBranch } from "../run/request-branch.ts";
import { type RunFlags, sessionSettings } from "../run/run-options.ts";
import { sessionToResume } from "../run/session-to-resume.ts";
import { Conversation } from "./conversation.ts";
import type { DrawnFace, DrawnOptions } from "./drawn-face.ts";
import { sessionItems } from "./input/picker.ts";
import { PlainFace } from "./plain-face.ts";

/** `gennai`: a conversation in this directory, with a running server or one of its own. Throws `CliError` before it begins. */
export async function converse(flags: RunFlags, console: Console): Promise<ExitCode> {
  if (flags.json === true)
    throw usageError("--json needs a request.", 'For example: gennai run --json "list the files"');
  if (flags.image !== undefined)
    throw usageError("--image needs a request.", 'For example: gennai run --image page.png "what is wrong here?"');
  if (flags.worktree === true)
    throw usageError(
      "--worktree needs a request.",
      "To go on in a working tree, run there: gennai sessions worktrees lists them.",
    );
  const { mode, ...others } = flags;
  const isPlanning = mode === "plan";
  const settings = sessionSettings(isPlanning ? others : flags);
  const commands = commandsMode(flags);
  const { allow = [] } = allowedAhead(flags.allow);
  const workspace = await resolveWorkspace(flags.workspace, console);
  const stateDir = defaultStateDir(console.environment);
  const clientId = crypto.randomUUID();
  const ending = new AbortController();
  const { signal } = ending;
  await using parts = new AsyncDisposableStack();
  parts.defer(() => ending.abort());
  using interrupts = new Interrupts(undefined, { hangUp: isTerminal(console.input) });
  const isDrawn = flags.plain !== true && isDrawable(console);
  const face = isDrawn
    ? await drawnFace({ console, clientId, workspace, signal, prompts: new KeptPrompts(stateDir) })
    : new PlainFace(console, clientId, () => interrupts.interrupt());
  parts.use(face);
  // What a server of its own tells must not break what is drawn.
  const told = isDrawn ? { ...console, errors: linesTo((line) => face.note(line)) } : console;
  const held = holdsFiles(flags)
    ? await openDiskWorkspace({ root: workspace, stateDir, environment: console.environment })
    : undefined;
  const server = parts.use(
    await turnServer(
      flags,
      { workspace, stateDir, signal, model: settings, commands, isHeld: held !== undefined },
      told,
    ),
  );
  const answering = flags.yes === true ? "yes" : "ask";
  const editor = headlessEditor({
    workspace,
    stateDir,
    held,
    environment: console.environment,
    answered: (question) => answeredAhead(question, allow) ?? answerByPolicy(answering, question),
    person: face.person,
  });
  const isDecided = flags.yes === true || flags.keep !== undefined || flags.refuse !== undefined;
  const branch = new RequestBranch({ workspace, flags, isHeld: held !== undefined, asks: true });
  const conversation = new Conversation({
    server,
    face,
    signal,
    identity: { clientId, name: "gennai-cli", version, editor },
    settings: held === undefined ? { ...settings, workingDir: workspace } : settings,
    scenario: flags.scenario ?? "",
    isPlanning,
    thinking: flags.thinking !== false,
    prepare: async (request, mode, session) => {
      const place = { input: face.input, write: (text: string) => face.write(text), signal };
      const prepared = await branch.prepare(request, mode, { session, place });
      // What is drawn has it in its last line.
      if (prepared !== undefined && !isDrawn) face.note(branchTitle(prepared));
    },
    // What is drawn has a review of its own, unless the options decide.
    afterTurn: async ({ proposals }, session) => {
      if (isDrawn && !isDecided) return;
      const { input, paint } = face;
      const write = (text: string) => face.write(text);
      await reviewProposals(proposals, flags, {
        session,
        signal,
        input,
        paint,
        write,
        environment: console.environment,
      });
    },
  });
  parts.defer(() => conversation.close());
  const resumed = await resumedSession();
  if (resumed === "none") return exitCode.ok;
  const session = await conversation.open(resumed);
  const place = { governance: server.governance, sessionId: session.sessionId, signal };
  const intent = await intentOf(flags.intent, resumed === undefined, place);
  const { isolation, managed } = await server.governance.getGovernanceStatus(
    { sessionId: session.sessionId },
    { signal },
  );
  const managedBy = managed.map(({ name }) => name).join(", ");
  using _listening = interrupts.listen((name) => {
    if (name === "SIGINT" && conversation.isRunning) void conversation.stop().then(() => interrupts.forget());
    else {
      conversation.leave();
      // Who reads plain lines waits for the turn, which ends with the program that was told to end.
      if (conversation.isRunning) void conversation.stop();
    }
  });
  if (face instanceof PlainFace) {
    const under = intent === undefined ? "" : `, intent ${intentTitle(intent)}`;
    face.write(
      `Session ${session.sessionId} in ${terminalSafe(session.workingDir)}, ${conversation.mode} mode${under}. /help shows what can be typed.\n`,
    );
    if (managedBy !== "") face.write(`Managed by ${terminalSafe(managedBy)}: gennai policy show\n`);
    await face.converse(conversation, signal);
  } else {
    if (resumed === undefined) {
      const place = terminalSafe(session.workingDir);
      face.note(`Gennai ${version} in ${place}. /help: commands. !COMMAND: one of yours. Ctrl-D: leave.`);
    }
    if (intent !== undefined) face.note(`intent ${intentTitle(intent)}`);
    await face.converse(conversation, { isolation, managedBy });
  }
  // A server of its own ends with the conversation: what runs there ends in order.
  if (conversation.isRunning && server.isOwn) await conversation.stop();
  const wasUsed = conversation.view.cells.length > 0;
  const { sessionId } = conversation.session;
  await parts.disposeAsync();
  if (wasUsed) console.output.write(`${asTyped(`gennai --resume ${sessionId}`, console.environment)}\n`);
  return interrupts.ends ? exitCode.interrupted : exitCode.ok;

  async function resumedSession(): Promise<string | undefined> {
    if (flags.resume !== true) return sessionToResume(flags, server, workspace, signal);
    if (face instanceof PlainFace) throw usageError("Name the session: --resume ID", "`gennai sessions` lists them.");
    const sessions = await sessionItems(server.client, workspace, { signal });
    return (await face.pick("Go on with:", sessions)) ?? "none";
  }
}

/** Loads what draws, which nothing else needs. */
async function drawnFace(options: DrawnOptions): Promise<DrawnFace> {
  const { DrawnFace: Drawn } = await import("./drawn-face.ts");
  const face = new Drawn(options);
  await face.start();
  return face;
}

function linesTo(say: (line: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer | string, _encoding, done) {
      for (const line of String(chunk).split("\n")) if (line !== "") say(terminalSafe(line));
      done();
    },
  });
}
