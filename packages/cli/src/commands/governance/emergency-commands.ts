import { userInfo } from "node:os";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectGovernance } from "@gennai/client/connection/connection";
import { setEmergencyControl } from "@gennai/client/governance/emergency";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { ExpectedError } from "@gennai/machine/expected-error";
import type { EmergencyControl, EmergencyRequest } from "@gennai/protocol/model/governance/emergency";
import { EmergencyHere, type EmergencyReport } from "@gennai/sessions/rules/emergency-here";
import { provenServers } from "../../connection/proven-servers.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { type Paint, paintFor } from "../../terminal/colours.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { utcTime } from "../../terminal/utc-time.ts";
import { version } from "../../terminal/version.ts";
import { type Said, said } from "../command-host.ts";
import { resolveWorkspace, type WorkspaceFlags } from "../options/resolve-workspace.ts";

export interface EmergencyFlags extends WorkspaceFlags {
  readonly reason?: string;
  readonly by?: string;
  readonly tool?: string;
}

/** Number of changes that are shown with the state. */
const shownChanges = 10;

/** `gennai emergency status` */
export async function emergencyStatusCommand(_flags: object, console: Console): Promise<Said> {
  await using controls = await openControls(console);
  return told(controls.report(shownChanges), console);
}

/**
 * Switches a control: through a running server, which reports what it stopped, else in the store, which later servers read. A
 * server that does not answer is skipped, since it reads the store as well.
 */
export async function emergencySwitchCommand(
  control: EmergencyControl,
  state: string,
  flags: EmergencyFlags,
  console: Console,
): Promise<Said> {
  if (state !== "on" && state !== "off") {
    throw usageError(
      `${control} takes on or off, not ${JSON.stringify(state)}.`,
      `gennai emergency ${control} on --reason "…"`,
    );
  }
  const enabled = state === "on";
  const reason = flags.reason?.trim() ?? "";
  if (!enabled && reason === "") {
    throw usageError("Say why it is lifted: it is recorded.", '--reason "…"');
  }
  const request = { control, enabled, tool: flags.tool ?? "", by: flags.by ?? userInfo().username, reason };
  const workspace = await resolveWorkspace(flags.workspace, console);
  await using controls = await openControls(console);
  const stopped = await switchOverServer(defaultStateDir(console.environment), request);
  if (stopped === undefined) await switchHere(controls, request, workspace);
  return told({ ...controls.report(1), ...(stopped === undefined ? {} : { stoppedTurnIds: stopped }) }, console);
}

async function switchHere(
  controls: EmergencyHere,
  request: Parameters<EmergencyHere["switch"]>[0],
  workspace: string,
): Promise<void> {
  try {
    if (await controls.switch(request, workspace)) return;
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code !== "invalid_argument") throw error;
    throw new CliError(error.message, {
      exitCode: exitCode.usage,
      next: error.hint === undefined ? [] : [error.hint],
      cause: error,
    });
  }
  throw new CliError("Somebody else switched this control on at the same moment, so it stays on.", {
    exitCode: exitCode.refused,
    next: ["gennai emergency status"],
  });
}

function openControls(console: Console): Promise<EmergencyHere> {
  return EmergencyHere.open(defaultStateDir(console.environment), {
    toolVersion: version,
    onWarning: (text) => void console.errors.write(`warning: ${text}\n`),
  });
}

function told(report: EmergencyTold, console: Console): Said {
  return said(report, `${describeEmergency(report, paintFor(console.output, console.environment))}\n`);
}

interface EmergencyTold extends EmergencyReport {
  /** Turns that the switch ended; absent if no server runs. */
  readonly stoppedTurnIds?: readonly string[];
}

/** The controls and their last changes, for a person. */
function describeEmergency({ state, changes, stoppedTurnIds }: EmergencyTold, paint: Paint): string {
  const line = (name: string, isOn: boolean, on: string, off: string): string =>
    `${name.padEnd(22)}${paint(isOn ? "red" : "green", isOn ? on : off)}`;
  return [
    line("read-only", state.readOnly, "on: nothing may be changed or run", "off"),
    line("disable-high-impact", state.disableHighImpact, "on: high risk is refused without a question", "off"),
    line("blocked", state.blockedTools.length > 0, terminalSafe(state.blockedTools.join(", ")), "nothing"),
    line("stop-all", state.stopAll, "on: no turn starts", "off"),
    ...(state.problem === undefined ? [] : [paint("red", `problem: ${terminalSafe(state.problem)}`)]),
    ...(stoppedTurnIds === undefined || stoppedTurnIds.length === 0
      ? []
      : [`Stopped: ${stoppedTurnIds.length === 1 ? "1 turn" : `${stoppedTurnIds.length} turns`}.`]),
    ...(changes.length === 0 ? [] : ["", "Last changes:"]),
    ...changes.map(
      ({ time, control, enabled, tool, by, via, reason, effective }) =>
        `  ${utcTime(time)}  ${control}${tool === "" ? "" : ` ${terminalSafe(tool)}`} ${enabled ? "on" : "off"}` +
        `${effective ? "" : " (refused: switched on by somebody else at the same moment)"}, by ${terminalSafe(by)} (${via}): ${terminalSafe(reason)}`,
    ),
  ].join("\n");
}

/** Milliseconds for a server to end what runs. */
const answerMs = 10_000;

/**
 * Switches a control through a server of this state directory, no matter which workspace it works in: they share the controls.
 * Resolves with the turns it ended; undefined when no server answers. Rejects when one refuses.
 */
async function switchOverServer(stateDir: string, request: EmergencyRequest): Promise<readonly string[] | undefined> {
  for await (const { url, token } of provenServers(stateDir, {})) {
    try {
      return await setEmergencyControl(connectGovernance({ baseUrl: url, token }), request, {
        signal: AbortSignal.timeout(answerMs),
      });
    } catch (error) {
      if (!isSilence(error)) throw error;
    }
  }
  return undefined;
}

/** The server did not answer at all, or is too old to know the call. */
function isSilence(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  const silent: readonly Code[] = [
    Code.Unavailable,
    Code.Unknown,
    Code.Canceled,
    Code.DeadlineExceeded,
    Code.Unimplemented,
  ];
  return silent.includes(error.code);
}
