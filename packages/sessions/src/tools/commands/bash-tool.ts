import type { KeyContext } from "@gennai/egress/keys/login/key-context";
import { type KeyPlan, type UserKeys } from "@gennai/egress/keys/login/user-keys";
import { withAddresses } from "@gennai/egress/keys/login/with-addresses";
import { noLogins, ownLogins } from "@gennai/egress/keys/own-logins";
import { planPush } from "@gennai/egress/keys/plan-push";
import { planRead } from "@gennai/egress/keys/plan-read";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { startsNothing } from "@gennai/governance/command/only-reads";
import { quotedCommand } from "@gennai/governance/command/shell-words";
import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import type { Effect, WorkspacePath } from "@gennai/governance/effect";
import { gitReadCommand } from "@gennai/governance/network/git-read-command";
import { keyChain } from "@gennai/governance/network/key-chain";
import { pushCommandOf } from "@gennai/governance/network/push-command";
import { verbOf } from "@gennai/governance/programs/known-programs";
import type { BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { variablesNotPassed } from "@gennai/machine/process/command-environment";
import { type HeldDirectory, holdDirectory } from "@gennai/machine/process/run-command";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { StagedSurroundings } from "@gennai/shell/run/run-staged";
import { runShellCommand, type ShellSurroundings } from "@gennai/shell/shell-runner";
import type { Stages } from "@gennai/shell/stages/stages";
import type { BlobStore } from "@gennai/store/log/session-log";
import { z } from "zod";
import type { BackgroundRuns } from "../../background/background-runs.ts";
import type { SeenContents } from "../../session/state/seen-contents.ts";
import { pathName } from "../path-name.ts";
import { commandOperands } from "./command-operands.ts";
import { commandOutcome, jobNotes, maxTimeoutMs } from "./command-outcome.ts";
import { executeKeyed } from "./execute-keyed.ts";
import { executeStaged } from "./execute-staged.ts";
import { startBackground } from "./start-in-background.ts";

const defaultTimeoutMs = 120_000;

const parameters = z.strictObject({
  command: z
    .string()
    .min(1, "command must not be empty.")
    .max(30_000, "command is longer than 30,000 characters; write a script file and run that.")
    .refine((command) => !command.includes("\0"), "command must not hold a NUL character."),
  description: z.string().max(500).optional().describe("What it is for, in a few words."),
  timeout_ms: z
    .int()
    .min(1, "timeout_ms must be at least 1.")
    .max(maxTimeoutMs, "timeout_ms must be at most 600000.")
    .optional()
    .describe("Milliseconds until it is ended; 120000 by default."),
  cwd: z.string().min(1).optional().describe("Directory to run in; the workspace by default."),
  run_in_background: z.boolean().optional().describe("Answers at once with an id; the command goes on."),
});

type BashArguments = z.infer<typeof parameters>;

export interface BashPorts extends ShellSurroundings {
  /** Stores files' contents before a staged command, for undo. */
  readonly blobs: Pick<BlobStore, "put">;
  /** Stores their contents after it. */
  readonly seen?: Pick<SeenContents, "keep"> | undefined;
  readonly workspace: Workspace;
  /** The user's home directory, for `~` in commands. */
  readonly home: string;
  /** Staging of commands; without it, they run in the workspace. */
  readonly staging?: Staging | undefined;
}

/** Staging of commands: the stages, what is hidden, the session's layer, and where background commands run. */
export interface Staging
  extends Pick<
    StagedSurroundings,
    | "stages"
    | "zeroAccess"
    | "session"
    | "usersContents"
    | "isOwnBranch"
    | "isOwnTip"
    | "isOwnStash"
    | "proposal"
    | "unfinished"
  > {
  readonly background: BackgroundRuns;
  /** Ensures that secrets from git's history are masked in the output of commands. */
  learnSecrets(options: { readonly signal: AbortSignal }): Promise<void>;
  /** Logins that a user may make available for one run, and their masking; undefined if no user could. */
  readonly keys?: StagingKeys | undefined;
}

export interface StagingKeys {
  readonly user: UserKeys;
  /** By host: its address in the machine's own networks, as seen in this session. */
  readonly addresses: Map<string, string>;
  /** Masks a secret from now on. */
  learn(secret: string): void;
}

const plainDescription =
  "Runs a shell command without input and returns its output and exit code. " +
  "Processes it leaves in the background are ended with it.";

const keyDescription =
  "git over https, gh and package managers get the user's login after a yes; the run itself has only a placeholder. Each push, " +
  "publishing or other change waits until the user has agreed to exactly that. git over ssh: by itself or last in a chain of &&, " +
  "without pipes or variables; its pre-push hook runs before, without network and key.";

const stagedDescription =
  "It runs on a copy of the workspace; what it changed becomes true when it has ended, if rules or the user agree. " +
  "Deletes, git reset --hard and the like run too; the user is asked where their own uncommitted work would be lost. " +
  "While it leaves a merge, a rebase, conflicts, or HEAD on no branch or another of the user's, all changes stay in this session until that ends. " +
  "Hosts and ports that it wants are refused at first; after the user's yes it runs again by itself. " +
  "Notes in brackets at the end say what was not kept, and why; of a command that was ended, nothing is. " +
  "What git ignores (builds, dependencies) stays with this session: later commands see it, file tools and the user do not. " +
  "Servers and watchers: run_in_background. They see the workspace, and edits as they are saved (not those in node_modules); " +
  "what they write is never kept. Only later commands reach their ports, on localhost.";

const proposalDescription =
  "It runs on a copy of the workspace with all that you have staged, without network but what the user lets it reach. What it changes in files is staged as " +
  "well, and proposed at the end of your turn. Notes in brackets at the end say what was not, and why; of a command " +
  "that was ended, nothing is. What git ignores (builds, dependencies) stays with this session: later commands see it, file tools " +
  "and the user do not. Git's own data cannot be changed, and nothing runs in the background.";

const proposedKeyDescription =
  "git push gets the user's login after a yes, each time, as a command of its own: it sends what had been committed before, not what is staged.";

function withoutVariables(names: string | undefined): string {
  return names === undefined
    ? ""
    : ` ${names.split(" ").join(", ")}: exist and are not passed, because they look like logins.`;
}

/** Some give a command as a list of words, often of a shell that is to run one. */
function commandText(command: unknown): unknown {
  if (!Array.isArray(command) || !command.every((word) => typeof word === "string")) return command;
  const [shell = "", option = "", script, ...more] = command;
  if (
    script !== undefined &&
    more.length === 0 &&
    /^(?:\/(?:usr\/)?bin\/)?(?:ba|z)?sh$/.test(shell) &&
    /^-l?c$/.test(option)
  )
    return script;
  return command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quotedCommand([word]))).join(" ");
}

/** Some models run it as a command: `apply_patch <<'EOF'`. */
const patchProgram = /^\s*(?:cd\s+\S+\s*&&\s*)?apply_?patch\b[^\n]*(?:<<|\*\*\* Begin Patch)/;
const patchIsTool = new ToolFailure(
  "bad_arguments",
  "apply_patch is a tool here, and no program of the shell; nothing ran.",
  {
    hint: "Call the tool apply_patch with the patch as its input.",
    retryable: true,
  },
);

/** Runs a shell command on the server and captures its output. */
export function bashTool(ports: BashPorts): BuiltInTool<BashArguments> {
  const directories = new WeakMap<Effect, HeldDirectory | undefined>();
  const plans = new WeakMap<Effect, KeyPlan | ToolFailure>();
  return {
    name: "Bash",
    description: descriptionOf(ports.staging) + withoutVariables(ports.environment[variablesNotPassed]),
    parameters,
    otherNames: {
      cmd: "command",
      script: "command",
      timeout: "timeout_ms",
      workdir: "cwd",
      directory: "cwd",
      is_background: "run_in_background",
    },
    otherShape: ({ command, ...others }) => ({ ...others, command: commandText(command) }),
    access: "change",
    judged: true,

    async analyse(args, { signal }) {
      if (patchProgram.test(args.command)) throw patchIsTool;
      const cwd = await ports.workspace.resolve(args.cwd ?? ".");
      const { root } = ports.workspace;
      const command = analyseCommand(args.command, { cwd: cwd.absolute, home: ports.home, workspace: root });
      const { client } = ports.workspace;
      const staged = ports.staging !== undefined && (await canBeStaged(ports.staging.stages, cwd, root));
      const alone = staged && args.run_in_background !== true;
      const { keys: itsKeys, proposal } = ports.staging ?? {};
      const joined = alone && itsKeys !== undefined && proposal === undefined ? keyChain(args.command) : undefined;
      const chain = joined && (await goesBySsh(ports, joined.keys, { cwd, signal })) ? joined : undefined;
      const effect: Effect = {
        type: "exec",
        command,
        cwd,
        where: "server",
        ...(staged ? { staged } : {}),
        ...(chain === undefined ? {} : { behind: chain.keys }),
      };
      if (args.run_in_background === true && ports.staging?.proposal !== undefined) throw notInProposal;
      if (args.run_in_background === true && !staged) throw notInBackground(client !== undefined);
      if (client !== undefined && cwd.inside) await refuseNoDirectory(ports.workspace, cwd);
      // A directory that is only staged does not exist in the workspace.
      const { stages, session = "" } = ports.staging ?? {};
      const isApart = ports.staging?.proposal !== undefined || stages?.open.of(session) !== undefined;
      const isHeld = client === undefined && cwd.inside && !isApart;
      const directory = isHeld ? heldDirectory(cwd.absolute, pathName(cwd)) : undefined;
      directories.set(effect, directory);
      const plan = alone && chain === undefined ? await keyPlan(ports, args.command, { cwd, signal }) : undefined;
      if (plan !== undefined) plans.set(effect, plan);
      const { url, login } = plan === undefined || plan instanceof ToolFailure ? {} : plan;
      const used = url === undefined || login === undefined ? undefined : { url, login };
      const operands = command.readsOnly ? {} : await commandOperands(ports.workspace, command, directory);
      return {
        statement: `Run \`${args.command}\`${args.run_in_background === true ? " in the background" : ""}`,
        effects: used === undefined ? [effect] : [effect, { type: "net", ...used }],
        ...(command.readsOnly && used === undefined ? {} : { operands: { ...operands, ...used } }),
        ...(args.description === undefined ? {} : { claim: args.description }),
      };
    },

    async execute(args, analysis, context) {
      const { signal, onOutput } = context;
      const effect = analysis.effects.find((candidate) => candidate.type === "exec");
      if (effect === undefined || !directories.has(effect)) {
        throw new ToolFailure("not_analysed", "The call was not analysed by its own tool.");
      }
      const timeoutMs = args.timeout_ms ?? defaultTimeoutMs;
      const { client } = ports.workspace;
      if (client !== undefined) {
        const { text, readsOnly } = effect.command;
        const there = await client.run({ text, cwd: effect.cwd, timeoutMs, readsOnly }, { signal, onOutput });
        return commandOutcome(there.run, timeoutMs, there.notes);
      }
      if (effect.staged === true && ports.staging !== undefined) {
        const { staging, environment, limits = {} } = ports;
        const { background, learnSecrets, keys, ...where } = staging;
        await learnSecrets({ signal });
        const surroundings = { ...where, workspaceRoot: ports.workspace.root, environment, limits };
        if (args.run_in_background === true) {
          return startBackground(effect, analysis, surroundings, { background, ...context });
        }
        const { blobs, seen } = ports;
        const network = await background.openNetwork(surroundings).catch(() => undefined);
        const plan = plans.get(effect);
        if (plan instanceof ToolFailure) throw plan;
        const { command } = effect;
        // It sends what was committed: it sees the workspace itself, and its changes are dropped.
        const sends = staging.proposal !== undefined && sendsCommits(command);
        const all = { ...surroundings, network, blobs, seen };
        const place = sends ? { ...all, proposal: undefined, keepsNothing } : all;
        if (plan !== undefined && keys !== undefined) {
          return executeKeyed(effect, plan, timeoutMs, { ...place, keys }, context);
        }
        const logins = keys && {
          own: fetchesInVain(staging, command.text)
            ? noLogins
            : await ownLogins(command, keyPlace(ports, keys.user, { cwd: effect.cwd, signal })),
          learn: (secret: string) => keys.learn(secret),
        };
        return executeStaged(effect, timeoutMs, { ...place, ...(logins && { logins }) }, context);
      }
      const cwd = directories.get(effect) ?? heldDirectory(effect.cwd.absolute, pathName(effect.cwd));
      const { text, readsOnly } = effect.command;
      const command = { text, cwd, timeoutMs, readsOnly, startsNothing: startsNothing(effect.command) };
      const run = await runShellCommand(command, ports, { signal, onOutput });
      return commandOutcome(run, timeoutMs, jobNotes(text));
    },

    async verify(args, outcome) {
      if (args.run_in_background === true && outcome.failure === undefined) {
        return { state: "verified", evidence: "It runs in the background." };
      }
      if (outcome.exitCode === undefined) return { state: "failed", evidence: "The command did not end by itself." };
      const state = outcome.exitCode === 0 ? "verified" : "failed";
      return { state, evidence: `The command ended with exit code ${outcome.exitCode}.` };
    },
  };
}

function descriptionOf(staging: Staging | undefined): string {
  if (staging === undefined) return plainDescription;
  if (staging.proposal !== undefined) {
    return [
      plainDescription,
      proposalDescription,
      ...(staging.keys === undefined ? [] : [proposedKeyDescription]),
    ].join(" ");
  }
  return [plainDescription, stagedDescription, ...(staging.keys === undefined ? [] : [keyDescription])].join(" ");
}

const keepsNothing =
  "Proposal Mode leaves the workspace and git's data as they are; what was sent is what had been committed, without what is staged";

const notInProposal = new ToolFailure("background_unavailable", "Nothing runs in the background in Proposal Mode.", {
  failureClass: "tool_unavailable",
  hint: "Run it in the foreground, with an end.",
});

/** Proposed changes are not sent; earlier commits are not part of the proposal. */
const notPublished = new ToolFailure(
  "no_key",
  "In Proposal Mode nothing is published: a package would hold what the user has not kept yet.",
  {
    failureClass: "tool_unavailable",
    hint: "Let the user keep the proposal first. Then the user publishes, or asks for it outside Proposal Mode.",
  },
);

/** The user's ssh keys for a command of git, or why there are none; after the rules' verdict on the command. */
async function keyPlan(
  ports: BashPorts,
  text: string,
  place: { readonly cwd: WorkspacePath; readonly signal: AbortSignal },
): Promise<KeyPlan | ToolFailure | undefined> {
  const { staging } = ports;
  if (staging?.keys === undefined || fetchesInVain(staging, text)) return undefined;
  const { user, addresses } = staging.keys;
  const there = keyPlace(ports, user, place);
  const push = pushCommandOf(text);
  try {
    const plan = await (push === undefined ? planRead(text, there) : planPush(push, there));
    return plan && withAddresses(plan, addresses);
  } catch (error) {
    if (error instanceof ToolFailure) return error;
    throw error;
  }
}

/** True if one of these pushes needs the user's ssh keys. */
async function goesBySsh(
  ports: BashPorts,
  pushes: readonly string[],
  place: { readonly cwd: WorkspacePath; readonly signal: AbortSignal },
): Promise<boolean> {
  const plans = await Promise.all(pushes.map((text) => keyPlan(ports, text, place)));
  return plans.some((plan) => plan !== undefined);
}

function keyPlace(
  { workspace }: BashPorts,
  keys: UserKeys,
  { cwd, signal }: { readonly cwd: WorkspacePath; readonly signal: AbortSignal },
): KeyContext {
  return { directory: cwd.absolute, workspaceRoot: workspace.root, keys, signal };
}

/** True for a push that is a command of its own. Throws `ToolFailure` for what would send more than what was committed. */
function sendsCommits({ text, commands }: CommandAnalysis): boolean {
  const calls = commands.flatMap(({ name, words }) => verbOf(name, words) ?? []);
  if (calls.some(({ verb }) => verb.login === true && verb.deploys === true)) throw notPublished;
  if (!calls.some(({ program, name }) => program.logins?.includes("git") === true && name === "push")) return false;
  if (pushCommandOf(text) === undefined) throw notAlone;
  return true;
}

const notAlone = new ToolFailure("no_key", "In Proposal Mode git push has to be a command of its own.", {
  failureClass: "tool_unavailable",
  hint: "It sends what had been committed before, and nothing that is staged.",
});

/** In Proposal Mode, nothing that git fetches could be kept. */
function fetchesInVain({ proposal }: Staging, text: string): boolean {
  return proposal !== undefined && gitReadCommand(text) !== undefined;
}

function notInBackground(isHeldByClient: boolean): ToolFailure {
  const why = isHeldByClient ? "the files of this workspace are on another machine" : "commands are not staged here";
  return new ToolFailure("background_unavailable", `Nothing can run in the background: ${why}.`, {
    failureClass: "tool_unavailable",
    hint: "Run it in the foreground, with an end, or ask the user to start it.",
  });
}

/** Throws `ToolFailure` if the command cannot be staged although all must be, and where it would run outside of what is staged. */
async function canBeStaged(stages: Stages, cwd: WorkspacePath, root: string): Promise<boolean> {
  const support = await stages.support(root);
  if (cwd.inside && support.state === "staged") return true;
  if (support.state !== "staged" && stages.mode !== "staged") return false;
  const [reason, hint] =
    support.state === "staged"
      ? [`${pathName(cwd)} is outside of the workspace.`, "Run it in the workspace."]
      : [support.reason, support.advice];
  throw new ToolFailure("stage_unavailable", `The command did not run, because it cannot be staged: ${reason}`, {
    failureClass: "tool_unavailable",
    hint,
  });
}

function heldDirectory(path: string, name: string): HeldDirectory {
  try {
    return holdDirectory(path);
  } catch (error) {
    throw new ToolFailure("bad_directory", `The command cannot run in ${name}: it is not a directory.`, {
      cause: error,
    });
  }
}

/** The same if a client holds the files: it checks again, and runs nothing if the directory is gone. */
async function refuseNoDirectory(workspace: Workspace, cwd: WorkspacePath): Promise<void> {
  if ((await workspace.stat(cwd))?.kind === "directory") return;
  throw new ToolFailure("bad_directory", `The command cannot run in ${pathName(cwd)}: it is not a directory.`);
}
