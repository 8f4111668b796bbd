import { realpathSync } from "node:fs";
import { shellWords } from "@gennai/governance/command/shell-words";
import { endpointName, parseEndpoint } from "@gennai/governance/endpoint";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { EmergencyChange } from "@gennai/sessions/rules/emergency-change";
import { EmergencyHere } from "@gennai/sessions/rules/emergency-here";
import { PersonsLedger, type PersonsLedgerOptions } from "@gennai/store/ledger/persons-ledger";
import type { OfferContext } from "../../review/offered-changes.ts";
import { allowedAhead } from "../../review/persons-network-here.ts";
import { checkedSeconds, type TryFlags, tryStaged } from "../../review/try-staged.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { type Console, isTerminal } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { untilEnded } from "../../terminal/until-ended.ts";
import { version } from "../../terminal/version.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { AgentHome } from "./agent-home.ts";
import { agentProgram } from "./agent-program.ts";
import { installedHook } from "./guard-commands.ts";
import { type StartedAgent, startedAgentNamed } from "./started-agents.ts";

export interface GuardRunFlags extends TryFlags {
  /** True if the agent gets its logins without a question. */
  readonly login?: boolean;
}

/**
 * `gennai guard run`: starts another agent on a stage, shows what its session changed, and keeps what the person wants.
 * @returns the agent's own exit code, if it has one and every question could be asked
 */
export function guardRunCommand(words: readonly string[], flags: GuardRunFlags, console: Console): Promise<number> {
  const left = "Ended; nothing was kept, the workspace is as before.";
  return untilEnded(console, left, (place) => guarded(words, flags, { console, ...place }));
}

async function guarded(
  [name = "", ...args]: readonly string[],
  flags: GuardRunFlags,
  place: OfferContext,
): Promise<number> {
  const { console } = place;
  const seconds = checkedSeconds(flags);
  const agent = await startedAgentNamed(name, console);
  mayWorkAlone(agent, args);
  const workspace = realpathSync(await resolveWorkspace(flags.workspace, console));
  const stateDir = defaultStateDir(console.environment);
  await using controls = await openControls(stateDir, console);
  const hook = await installedHook(agent.id, flags, console);
  if (hook !== undefined) {
    throw new CliError(
      `${agent.id} is guarded by its hook here (${hook.path}), which finds no server in a run of its own.`,
      {
        next: [hook.remove, "or start the agent as usual: its hook asks about each call."],
      },
    );
  }
  const program = agentProgram(agent.program, console.environment, workspace);
  if (program === undefined) {
    throw new CliError(`${agent.program} was not found on the search path, outside of the workspace.`, {
      next: ["Install it as its makers say, so that a terminal finds it by that name."],
    });
  }
  const home = new AgentHome(agent, console.environment, [workspace, stateDir]);
  const { hosts, uncovered } = await agreed({ agent, logins: home.logins }, flags, place);
  const network = allowedAhead(hosts, "Its provider, or what its tools need, is let through in the next run by");
  const command = shellWords([program.path, ...args]);
  using stop = new StopAll(controls);
  const run = tryStaged(
    {
      command,
      seconds,
      network,
      workspace,
      ending: stop.signal,
      agent: {
        id: agent.id,
        home: home.forRun(program.shown, uncovered),
        logins: uncovered ? home.logins : [],
      },
    },
    flags,
    place,
  );
  try {
    return await run;
  } catch (error) {
    if (error === stop.signal.reason) {
      await stop.record(
        { stateDir, workspaceRoot: workspace, toolVersion: version, onWarning: warn(console) },
        {
          by: "guard run",
          agent: agent.id,
          title: command,
        },
      );
    }
    throw error;
  }
}

/** Throws `CliError` for an agent that would open its screen: there is no terminal in a run. */
function mayWorkAlone({ id, program, unattended }: StartedAgent, args: readonly string[]): void {
  if (unattended.length === 0 || args.some((word) => unattended.includes(word))) return;
  throw usageError(
    `${id} would open a screen, but a run has no terminal.`,
    `Give it its work: gennai guard run -- ${program} ${unattended[0] ?? ""} "…"`,
  );
}

/** Opens the emergency controls. Rejects with `CliError` if one of them keeps an agent from starting. */
async function openControls(stateDir: string, console: Console): Promise<EmergencyHere> {
  await using parts = new AsyncDisposableStack();
  const here = parts.use(await EmergencyHere.open(stateDir, { toolVersion: version, onWarning: warn(console) }));
  const { stopAll, readOnly } = here.report(0).state;
  if (stopAll || readOnly) {
    throw new CliError(`No agent is started: the emergency control ${stopAll ? "stop-all" : "read-only"} is on.`, {
      exitCode: exitCode.refused,
      next: ["gennai emergency status says who switched it on, and why."],
    });
  }
  parts.move();
  return here;
}

function warn({ errors }: Console): (text: string) => void {
  return (text) => void errors.write(`warning: ${terminalSafe(text)}\n`);
}

/** Hosts that it may reach, and whether it sees its logins: by options or one question. Rejects with `CliError` for a no. */
async function agreed(
  { agent, logins }: { readonly agent: StartedAgent; readonly logins: readonly string[] },
  { allow = [], login = false, ask = false }: GuardRunFlags,
  { console, lines, signal }: OfferContext,
): Promise<{ readonly hosts: readonly string[]; readonly uncovered: boolean }> {
  const { input, errors } = console;
  const ahead = allowedAhead(allow).allow?.map(endpointName) ?? [];
  if (agent.hosts.length === 0 && ahead.length === 0) {
    throw usageError(
      `${agent.id} speaks to the provider that you chose, so its host has to be named.`,
      "For instance --allow api.anthropic.com:443, or --allow 127.0.0.1:11434 for a model on this machine.",
    );
  }
  // A user who names hosts has another provider than the usual one.
  const open = ahead.length > 0 ? [] : agent.hosts.flatMap((text) => parseEndpoint(text) ?? []).map(endpointName);
  const covered = login ? [] : logins;
  const hosts = [...ahead, ...open];
  if (open.length === 0 && covered.length === 0) return { hosts, uncovered: login };
  const canAsk = ask || (isTerminal(input) && isTerminal(errors));
  if (!canAsk && open.length > 0) {
    throw new CliError(`${agent.id} needs ${open.join(", ")}, and nobody could be asked.`, {
      exitCode: exitCode.refused,
      next: [`Run it in a terminal, or let it through: ${open.map((one) => `--allow ${one}`).join(" ")} --login`],
    });
  }
  if (!canAsk) {
    errors.write(terminalSafe(`Hidden from ${agent.id}: ${covered.join(", ")}. --login gives it these.\n`));
    return { hosts, uncovered: false };
  }
  const has = logins.length === 0 ? "" : `, with its login (${logins.map(spelledOut).join(", ")})`;
  errors.write(
    terminalSafe(
      `${agent.id} is to reach ${hosts.join(", ")}${has}.\n` +
        "  It could send everything there that it sees of the workspace and of its own files.\n",
    ),
  );
  for (;;) {
    const said = (await lines().question("Let it? [yes, no] ", { signal }))?.trim().toLowerCase() ?? "no";
    if (/^y(?:es)?$/.test(said)) return { hosts, uncovered: true };
    if (/^(?:no?|)$/.test(said))
      throw new CliError(`${agent.id} was not started: you said no.`, { exitCode: exitCode.refused, next: [] });
    errors.write("Say one of: yes, no.\n");
  }
}

/** Aborts a signal when all work is stopped by an emergency control. */
class StopAll implements Disposable {
  readonly #controls: EmergencyHere;
  readonly #subscription: Disposable;
  readonly #stopping = new AbortController();
  #change: EmergencyChange | undefined;

  constructor(controls: EmergencyHere) {
    this.#controls = controls;
    this.#subscription = controls.onStopAll((change) => {
      this.#change ??= change;
      this.#stopping.abort(
        new CliError(
          `It was ended by the emergency control stop-all (${change.by}: ${change.reason}); nothing of it was kept, the workspace is as before.`,
          { exitCode: exitCode.refused, next: ["gennai emergency stop-all off --reason …"] },
        ),
      );
    });
  }

  /** Its reason is a `CliError`. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Records in the workspace's ledger that this control ended some work, and the control itself. Rejects with `StoreError`. */
  async record(options: PersonsLedgerOptions, work: Readonly<Record<string, string>>): Promise<void> {
    const change = this.#change;
    if (change === undefined) return;
    this.#controls.record(change, options.workspaceRoot);
    await using ledger = await PersonsLedger.open(options);
    await ledger.record("outcome", {
      ...work,
      ended: `the emergency control stop-all (${change.by}: ${change.reason})`,
    });
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }
}
